import { conformanceCases, lockScenarios, silenceCases } from "@redlatch/testing/conformance";

/** Most of a scenario is waiting. All of them at once would make each other late. */
const AT_ONCE = 6;

/**
 * Runs all cases on the first of the nodes, then the scenarios over all of them, some side by side.
 *
 * With `casesOnly`, no scenarios and no silence: for a cluster, of which only a part could be silenced.
 *
 * @param connect - Makes `{ node, close }` of what is told about one server.
 */
export async function play(connect, { servers, context, casesOnly }) {
  const connections = await Promise.all(servers.map((server) => connect(server)));
  const nodes = connections.map(({ node }) => node);
  const results = [];
  const note = async ({ name }, run) => {
    const startedMs = performance.now();
    let fault;
    try {
      await run();
    } catch (error) {
      fault = String(error?.stack ?? error);
    }
    results.push({ name, tookMs: Math.round(performance.now() - startedMs), fault });
  };
  const send = (node, ...command) => {
    const { signal } = new AbortController();
    return node.send(command, { key: command[1], signal });
  };
  await Promise.all(nodes.map((node) => send(node, "EXISTS", "connected")));
  const [node] = nodes;
  const silence = (ms) => send(node, "CLIENT", "PAUSE", String(ms));
  for (const one of casesOnly ? conformanceCases : [...conformanceCases, ...silenceCases]) {
    await note(one, () => one.run(node, { silence }));
  }
  const scenarios = casesOnly ? [] : lockScenarios;
  const runScenario = (one) => note(one, () => one.run(nodes, context));
  // Load of its own, which would make the others late.
  const many = scenarios.filter(({ name }) => name.startsWith("many cycles"));
  const others = scenarios.filter((one) => !many.includes(one));
  const inLine = async () => {
    for (let one = others.shift(); one; one = others.shift()) await runScenario(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, inLine));
  for (const one of many) await runScenario(one);
  await Promise.all(connections.map(({ close }) => close()));
  return results;
}
