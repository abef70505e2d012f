import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Persistence,
  pollUntil,
  processState,
  type RealServer,
  type ServerOptions,
  type ServerPool,
  startServers,
} from "../src/index.ts";
import { launchLocalProcess } from "../src/local-process.ts";
import { startAll } from "../src/start-servers.ts";

const pools: ServerPool[] = [];

async function start(count: number, options?: ServerOptions): Promise<RealServer[]> {
  const pool = await startServers(count, options);
  pools.push(pool);
  return [...pool.servers];
}

async function startOne(options?: ServerOptions): Promise<RealServer> {
  const [server] = await start(1, options);
  return server!;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()));
});

describe("servers", () => {
  it("answer, each with keys of its own, on ports of this machine only", async () => {
    const [one, two] = await start(2);
    expect(await one!.command("SET", "key", "välue")).toBe("OK");
    expect(await one!.command("GET", "key")).toBe("välue");
    expect(await two!.command("GET", "key")).toBeNull();
    expect([one!.name, two!.name]).toEqual(["node-1", "node-2"]);
    expect(one!.url).toBe(`redis://127.0.0.1:${one!.port}`);
    expect([one!.port, two!.port]).not.toContain(6379);
  });

  it("reply with errors that name the fact", async () => {
    const server = await startOne();
    await server.command("RPUSH", "list", "item");
    await expect(server.command("GET", "list")).rejects.toThrow(/^WRONGTYPE/);
    expect(await server.command("LRANGE", "list", "0", "-1")).toEqual(["item"]);
  });

  it("ask for the password they were given", async () => {
    const server = await startOne({ password: "s3cret" });
    expect(await server.command("PING")).toBe("PONG");
    expect(server.url).toBe(`redis://:s3cret@127.0.0.1:${server.port}`);
    await server.command("ACL", "SETUSER", "guest", "on", ">guest", "+ping");
    expect(await server.command("ACL", "WHOAMI")).toBe("default");
  });

  it("take the server's own options", async () => {
    const server = await startOne({ args: ["--maxmemory", "12mb"] });
    expect(await server.command("CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", "12582912"]);
  });

  it("do not start with a wrong option", async () => {
    await expect(startServers(2, { args: ["--no-such-option", "1"] })).rejects.toThrow();
  });

  it("lose their keys on flush", async () => {
    const server = await startOne();
    await server.command("SET", "key", "value");
    await server.flush();
    expect(await server.command("DBSIZE")).toBe(0);
  });
});

describe("a hung server", () => {
  it("answers nothing while its neighbour does, and executes late what it was sent", async () => {
    const [hung, healthy] = await start(2);
    await hung!.hang();
    await expect(hung!.command("SET", "late", "1")).rejects.toThrow(
      `no reply to SET from 127.0.0.1:${hung!.port} within 2000 ms`,
    );
    expect(await healthy!.command("PING")).toBe("PONG");
    expect(hung!.alive).toBe(true);
    await hung!.resume();
    expect(await hung!.command("PING")).toBe("PONG");
    await pollUntil("the late SET is done", () => hung!.command("GET", "late"));
  });

  it("can be killed and started again", async () => {
    const server = await startOne();
    await server.hang();
    await server.kill();
    expect(server.alive).toBe(false);
    await server.restart();
    expect(await server.command("PING")).toBe("PONG");
  });
});

describe("a killed server", () => {
  it("refuses connections and cannot hang", async () => {
    const server = await startOne();
    await server.kill();
    await server.kill();
    await expect(server.command("PING")).rejects.toThrow(/ECONNREFUSED/);
    await expect(server.hang()).rejects.toThrow("has ended");
  });
});

describe("a server that is a local process", () => {
  const startLocal = (options: ServerOptions) => startAll(1, options, launchLocalProcess);

  it("tells the server's own words where it does not start", async () => {
    await expect(startLocal({ args: ["--no-such-option", "1"] })).rejects.toThrow(
      /ended at once.*(Bad directive|no-such-option)/s,
    );
  });

  it("notices that its process ended by itself", async () => {
    const pool = await startLocal({});
    pools.push(pool);
    const [server] = pool.servers;
    await expect(server!.command("SHUTDOWN", "NOSAVE")).rejects.toThrow(/closed|ECONNRESET/);
    await pollUntil("the server is gone", () => !server!.alive);
  });

  it("takes another port when somebody took the first meanwhile", async () => {
    const ports: number[] = [];
    const pool = await startAll(1, {}, async (settings) => {
      ports.push(settings.port);
      if (ports.length > 1) return launchLocalProcess(settings);
      const thief = createServer().listen(settings.port, "127.0.0.1");
      await once(thief, "listening");
      return launchLocalProcess(settings).finally(() => thief.close());
    });
    pools.push(pool);
    expect(ports).toHaveLength(2);
    expect(pool.servers[0]!.port).toBe(ports[1]);
    expect(await pool.servers[0]!.command("PING")).toBe("PONG");
  });
});

describe("restart", () => {
  const cases: { before: Persistence; after: Persistence; kept: string[] }[] = [
    { before: "none", after: "none", kept: [] },
    { before: "rdb", after: "rdb", kept: ["saved"] },
    { before: "aof-everysec", after: "aof-everysec", kept: ["saved", "unsaved"] },
    { before: "aof-always", after: "aof-always", kept: ["saved", "unsaved"] },
    { before: "aof-always", after: "aof-everysec", kept: ["saved", "unsaved"] },
    { before: "none", after: "aof-always", kept: [] },
    { before: "rdb", after: "none", kept: [] },
  ];

  it.each(cases)("from $before to $after keeps $kept, on the same port", async (row) => {
    const server = await startOne({ persistence: row.before });
    const { port } = server;
    await server.command("SET", "saved", "1");
    await server.command("SAVE");
    await server.command("SET", "unsaved", "1");
    await server.restart({ persistence: row.after });
    expect(server.port).toBe(port);
    const keys = (await server.command("KEYS", "*")) as string[];
    expect(keys.sort()).toEqual(row.kept);
  });

  it("makes a server durable that was not", async () => {
    const server = await startOne();
    await server.restart({ persistence: "aof-always" });
    await server.command("SET", "key", "value");
    await server.restart();
    expect(await server.command("GET", "key")).toBe("value");
  });
});

describe("stop", () => {
  it("ends every server, also hung and killed ones, and can be called twice", async () => {
    const pool = await startServers(3);
    const [hung, killed] = pool.servers;
    const pids = pool.servers.flatMap((server) => server.pid ?? []);
    await hung!.hang();
    await killed!.kill();
    await pool.stop();
    await pool.stop();
    expect(pids.map(processState)).toEqual(pids.map(() => "gone"));
    for (const server of pool.servers) {
      await expect(server.command("PING")).rejects.toThrow(/ECONNREFUSED/);
    }
  });
});
