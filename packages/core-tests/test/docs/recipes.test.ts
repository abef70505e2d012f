import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import { Redlock, ResourceHeldError } from "@redlatch/core";
import { ioredisNode } from "@redlatch/ioredis";
import {
  pollUntil,
  type RestServer,
  restServer,
  type ServerPool,
  startServers,
} from "@redlatch/testkit";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runBlock } from "./run-block.ts";

let pool: ServerPool;
let databases: RestServer[];
/** Somebody else, who takes locks too. */
let others: Redis[];
let other: Redlock;

beforeAll(async () => {
  pool = await startServers(3);
  databases = await Promise.all(pool.servers.map((server) => restServer(server)));
  vi.stubEnv("REDIS_URLS", pool.servers.map(({ url }) => url).join(","));
  vi.stubEnv("UPSTASH_URLS", databases.map(({ url }) => url).join(","));
  vi.stubEnv("UPSTASH_TOKENS", databases.map(({ token }) => token).join(","));
  others = pool.servers.map(({ url }) => new Redis(url));
  other = new Redlock(others.map((client) => ioredisNode(client)));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  for (const client of others) client.disconnect();
  await Promise.all(databases.map((database) => database.stop()));
  await pool.stop();
});

const isFree = async (resource: string) => (await other.inspect(resource)).verdict === "free";

describe("the recipe for AWS Lambda", () => {
  it("ships what is free, and gives the rest back to SQS", async () => {
    type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
    const { handler } = await runBlock<{ handler: Handler }>(
      "docs/recipes/aws-lambda.md",
      "lambda.ts",
    );
    const log = vi.spyOn(console, "log").mockReturnValue();
    const lease = await other.acquire("order:taken");
    const Records = ["first", "taken"].map((messageId) => ({ messageId, body: messageId }));
    const context = { getRemainingTimeInMillis: () => 30_000 } as Context;
    const { batchItemFailures } = await handler({ Records } as SQSEvent, context);
    expect(batchItemFailures).toEqual([{ itemIdentifier: "taken" }]);
    expect(log.mock.calls).toEqual([["shipping", "first"]]);
    log.mockRestore();
    // Before the process is frozen, nothing is under way any more.
    expect(await isFree("order:first")).toBe(true);
    await lease.release();
  });
});

describe("the recipe for Vercel functions", () => {
  it("answers with the report, with 409 while it is being built, with 503 without a quorum", async () => {
    type Route = { POST(request: Request): Promise<Response>; maxDuration: number };
    const { POST } = await runBlock<Route>("docs/recipes/vercel-functions.md", "route.ts");
    const post = () => POST(new Request("https://app.test/api/report", { method: "POST" }));
    const built = await post();
    expect(built.status).toBe(200);
    expect(await built.json()).toEqual({ builtAt: expect.any(String) });

    const lease = await other.acquire("report:daily", { ttlMs: 30_000 });
    const busy = await post();
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([409, "5"]);
    await lease.release();

    const complaint = vi.spyOn(console, "error").mockReturnValue();
    for (const database of databases) database.answer(500);
    const refused = await post();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(complaint).toHaveBeenCalled();
    complaint.mockRestore();
  });
});

describe("the recipe for NestJS", () => {
  interface InvoiceService {
    charge(id: string, work: (signal: AbortSignal) => Promise<string>): Promise<string>;
  }
  interface Recipe {
    readonly AppModule: new () => object;
    readonly InvoiceService: new (...given: never[]) => InvoiceService;
    readonly RedlockErrorFilter: new () => { catch(error: Error, host: object): void };
  }
  let recipe: Recipe;

  beforeAll(async () => {
    recipe = await runBlock<Recipe>("docs/recipes/nestjs.md", "redlock.module.ts");
  });

  const clientsAt = async (): Promise<number> => {
    const list = String(await pool.servers[0]!.command("CLIENT", "LIST"));
    return list.trim().split("\n").length;
  };

  it("injects the Redlock; at the end tells the work, releases, and closes the connections", async () => {
    const before = await clientsAt();
    const app = await NestFactory.createApplicationContext(recipe.AppModule, { logger: false });
    const invoices = app.get(recipe.InvoiceService);
    expect(await invoices.charge("42", async () => "receipt")).toBe("receipt");
    expect(await clientsAt()).toBeGreaterThan(before);

    let started = false;
    const charging = invoices.charge("43", (signal) => {
      started = true;
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const ended = expect(charging).rejects.toMatchObject({ code: "CLOSED" });
    await pollUntil("the work has begun", () => started);
    await app.close();
    await ended;
    expect(await isFree("invoice:43")).toBe(true);
    await pollUntil("the connections are closed", async () => (await clientsAt()) <= before);
  });

  it("answers 409 where a resource is held", () => {
    const response = { status: vi.fn(), set: vi.fn(), json: vi.fn() };
    response.status.mockReturnValue(response);
    response.set.mockReturnValue(response);
    const host = { switchToHttp: () => ({ getResponse: () => response }) };
    new recipe.RedlockErrorFilter().catch(new ResourceHeldError(["invoice:42"]), host);
    expect(response.status).toHaveBeenCalledWith(409);
    expect(response.set).toHaveBeenCalledWith("Retry-After", "1");
    expect(response.json).toHaveBeenCalledWith({ statusCode: 409, code: "RESOURCE_HELD" });
  });
});
