// The table over HTTP. Left out, or different:
// - options: arguments are refused before any I/O, so the driver makes no difference.
// - extreme ttls: the timers are the core's, and a ttl of 20 ms is no more than an HTTP request on a busy
//   machine.
// - processes: those that exit while a node hangs. A request of `fetch` keeps Node alive until it is
//   answered or aborted, and one that sets keys is aborted only when the keys have expired.
// - error replies: a REST server's clients are tokens, not users; the rows with PUBLISH forbidden run as the
//   default user and show nothing here.
// - contention: with a ttl of 20 s, as one row allows four rounds in a row no more than a third of a ttl.
// - cycles: 2,000 instead of 100,000, by 4 workers instead of 64, each request having a connection of its
//   own, and with a ttl of 10 s.
import { upstash } from "./harness/upstash.ts";
import { aborting } from "./rows/aborting.ts";
import { brokenNodes } from "./rows/broken-nodes.ts";
import { closing } from "./rows/closing.ts";
import { connections } from "./rows/connections.ts";
import { contention } from "./rows/contention.ts";
import { cycles } from "./rows/cycles.ts";
import { errorReplies } from "./rows/error-replies.ts";
import { expiredLeases } from "./rows/expired-leases.ts";
import { extensions } from "./rows/extensions.ts";
import { hungNodes } from "./rows/hung-nodes.ts";
import { killedNodes } from "./rows/killed-nodes.ts";
import { lostKeys } from "./rows/lost-keys.ts";
import { processes } from "./rows/processes.ts";
import { replyOrder } from "./rows/reply-order.ts";
import { scriptsAndRestarts } from "./rows/scripts-and-restarts.ts";
import { stragglers } from "./rows/stragglers.ts";

const harness = upstash(1_500);

aborting(harness);
brokenNodes(harness);
closing(harness);
connections(harness);
contention(upstash(20_000));
cycles(upstash(10_000), 2_000, 4);
errorReplies(harness);
expiredLeases(harness);
extensions(harness);
hungNodes(harness);
killedNodes(harness);
lostKeys(harness);
processes(harness, false);
replyOrder(harness);
scriptsAndRestarts(harness);
stragglers(harness);
