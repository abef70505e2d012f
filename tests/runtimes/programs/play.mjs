import { conformanceCases, lockScenarios, silenceCases } from "@redlatch/testing/conformance";

/**
 * Runs all cases on the first of the nodes, then the scenarios over all of them, side by side.
 *
 * @param connect - Makes `{ node, close }` of what is told about one server.
 */
export async function play(connect, { servers, context }) {
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
  for (const one of [...conformanceCases, ...silenceCases]) {
    await note(one, () => one.run(node, { silence }));
  }
  const runScenario = (one) => note(one, () => one.run(nodes, context));
  // Load of its own, which would make the others late.
  const many = lockScenarios.filter(({ name }) => name.startsWith("many cycles"));
  await Promise.all(lockScenarios.filter((one) => !many.includes(one)).map(runScenario));
  for (const one of many) await runScenario(one);
  await Promise.all(connections.map(({ close }) => close()));
  return results;
}
