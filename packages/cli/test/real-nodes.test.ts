import { type ServerPool, startServers } from "@redlatch/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../src/program.ts";
import { captureTerminal } from "./capture.ts";

let pool: ServerPool;
let args: string[];

beforeAll(async () => {
  pool = await startServers(5, { password: "s3cret" });
  args = ["demo", "--seconds", "6", "--nodes", pool.servers.map(({ url }) => url).join(",")];
});
afterAll(() => pool?.stop());

const keys = () => Promise.all(pool.servers.map((server) => server.command("KEYS", "*")));

describe("redlatch demo on real servers", () => {
  it("plays the faults in front of them and touches no key but its own", async () => {
    for (const server of pool.servers) await server.command("SET", "lock:somebody", "else");
    const terminal = captureTerminal();
    expect(await run(args, terminal)).toBe(0);
    const text = terminal.text();
    expect(text).toContain("PROVED");
    expect(text).toContain("your servers are not touched");
    expect(text).toMatch(/127\.0\.0\.1:\d+ is "killed" by its switch: 4 of 5 answer, quorum 3/);
    expect(text).toMatch(/127\.0\.0\.1:\d+ hangs behind its switch: 3 of 5 answer, quorum 3/);
    expect(text).toMatch(/127\.0\.0\.1:\d+ up worker-\d [\d,]+ ms/);
    expect(text).not.toContain("s3cret");
    expect(await keys()).toEqual(pool.servers.map(() => ["lock:somebody"]));
  });

  it("finds no proof, and exits with 1, where the lock's keys are deleted behind its back", async () => {
    const terminal = captureTerminal();
    const flushing = setInterval(() => {
      for (const server of pool.servers) server.flush().catch(() => {});
    }, 50);
    try {
      expect(await run(args, terminal)).toBe(1);
    } finally {
      clearInterval(flushing);
    }
    expect(terminal.out.text).toMatch(/BROKEN: \d+ updates were lost under the lock/);
  });

  it("tells of a server that dies by itself, and goes on with the others", async () => {
    const [first] = pool.servers;
    await first!.kill();
    const terminal = captureTerminal();
    expect(await run(args, terminal)).toBe(0);
    expect(terminal.out.text).toContain(`127.0.0.1:${first!.port} gives no answer`);
    expect(terminal.out.text).toContain("PROVED");
    expect(terminal.out.text).not.toContain("2 of 5 answer");
  });
});
