import { type Command, InvalidArgumentError } from "commander";
import { runDemo } from "../demo/demo.ts";
import { embeddedNodes } from "../demo/embedded-nodes.ts";
import { planOf } from "../demo/plan.ts";
import { proofHolds, proofText } from "../demo/proof.ts";
import { realNodes } from "../demo/real-nodes.ts";
import { parseRedisUrls } from "../demo/redis-urls.ts";
import { viewFor } from "../demo/view.ts";
import type { Terminal } from "../terminal.ts";

interface DemoOptions {
  readonly nodes?: readonly string[];
  readonly workers: number;
  readonly seconds: number;
}

const HELP = `
Workers race for one lock; each reads a counter, pauses, and writes it back plus one: the classic
lost update. Meanwhile one node is killed and another one hangs, and both come back. At the end the
counter is compared with the number of updates, and the same race is run again without the lock.

Each worker has a Redlock object of its own (and connections of its own with --nodes), but all workers
live in this one process, and so does the counter. What holds them apart is only the lock.

With --nodes your servers are not touched: to "kill" or "hang" one, a switch in front of this demo's
own clients refuses its commands or withholds them. The only key used is the demo's own,
lock:redlatch-demo:<random>, and it is gone at the end.

Exit code: 0 if the proof holds, 1 if not or on an error, 2 for wrong usage, 130 after Ctrl-C.

Examples:
  redlatch demo
  redlatch demo --workers 8 --seconds 30
  redlatch demo --nodes redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3`;

/** `redlatch demo`: the main job, to be seen in twenty seconds. */
export function demoCommand(
  command: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  command
    .summary("watch workers race for a lock while nodes fail, and see that nothing is lost")
    .description("Watch workers race for one lock while nodes fail, and see that nothing is lost.")
    .option(
      "--nodes <urls>",
      "real Redis servers, redis:// or rediss://, separated by commas (default: five embedded nodes)",
      parseRedisUrls,
    )
    .option("--workers <count>", "how many workers race, 2 to 50", integer(2, 50), 4)
    .option("--seconds <count>", "how long it takes, 6 to 3600", integer(6, 3600), 18)
    .addHelpText("after", HELP)
    .action(async (options: DemoOptions) => finish(await demo(options, terminal)));
}

async function demo(options: DemoOptions, { stdout, interrupted }: Terminal): Promise<number> {
  const plan = planOf(options);
  const nodes = options.nodes ? realNodes(options.nodes) : embeddedNodes();
  const view = viewFor(stdout, plan, nodes);
  try {
    const proof = await runDemo(plan, nodes, view, interrupted);
    view.close();
    stdout.write(proofText(proof, view.colors));
    return proofHolds(proof) ? 0 : 1;
  } finally {
    view.close();
    nodes.close();
  }
}

const integer =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
