import { ioredis } from "./harness/ioredis.ts";
import { errorReplies } from "./rows/error-replies.ts";

errorReplies(ioredis(10_000));
