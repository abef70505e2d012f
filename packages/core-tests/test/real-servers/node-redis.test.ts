// The table over node-redis. Left out, or different:
// - options: arguments are refused before any I/O, so the driver makes no difference.
// - contention: with a ttl of 10 s, as one row allows four rounds in a row no more than half a ttl.
// - stragglers: with a ttl of 10 s, as one row delays all requests by four time limits of a node, those of
//   the driver's handshake after a lost connection, too.
// - cycles: 2,000 instead of 100,000, with a ttl of 10 s.
import { nodeRedis } from "./harness/node-redis.ts";
import { aborting } from "./rows/aborting.ts";
import { brokenNodes } from "./rows/broken-nodes.ts";
import { closing } from "./rows/closing.ts";
import { connections } from "./rows/connections.ts";
import { contention } from "./rows/contention.ts";
import { cycles } from "./rows/cycles.ts";
import { errorReplies } from "./rows/error-replies.ts";
import { expiredLeases } from "./rows/expired-leases.ts";
import { extensions } from "./rows/extensions.ts";
import { extremeTtls } from "./rows/extreme-ttls.ts";
import { hungNodes } from "./rows/hung-nodes.ts";
import { killedNodes } from "./rows/killed-nodes.ts";
import { lostKeys } from "./rows/lost-keys.ts";
import { processes } from "./rows/processes.ts";
import { replyOrder } from "./rows/reply-order.ts";
import { scriptsAndRestarts } from "./rows/scripts-and-restarts.ts";
import { stragglers } from "./rows/stragglers.ts";

const harness = nodeRedis(1_500);

aborting(harness);
brokenNodes(harness);
closing(harness);
connections(harness);
contention(nodeRedis(10_000));
cycles(nodeRedis(10_000), 2_000);
errorReplies(harness);
expiredLeases(harness);
extensions(harness);
extremeTtls(harness);
hungNodes(harness);
killedNodes(harness);
lostKeys(harness);
processes(harness);
replyOrder(harness);
scriptsAndRestarts(harness);
stragglers(nodeRedis(10_000));
