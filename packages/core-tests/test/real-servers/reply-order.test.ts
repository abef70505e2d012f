import { ioredis } from "./harness/ioredis.ts";
import { replyOrder } from "./rows/reply-order.ts";

replyOrder(ioredis(10_000));
