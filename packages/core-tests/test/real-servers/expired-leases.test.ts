import { ioredis } from "./harness/ioredis.ts";
import { expiredLeases } from "./rows/expired-leases.ts";

expiredLeases(ioredis(10_000));
