// Compiled as a user's program is, in every module resolution; never run.
import { Redlock } from "@redlatch/core";
import { ioredisNode } from "@redlatch/ioredis";
import { nodeRedisNode } from "@redlatch/redis";
import { memoryNode, virtualClock } from "@redlatch/testing";
import { conformanceCases, lockScenarios } from "@redlatch/testing/conformance";
import { upstashNode } from "@redlatch/upstash";
import { Redis as Upstash } from "@upstash/redis";
import { Redis } from "ioredis";
import { createClient } from "redis";

const clock = virtualClock();
export const redlock = new Redlock([
  ioredisNode(new Redis()),
  nodeRedisNode(createClient()),
  upstashNode(new Upstash({ url: "https://a.test", token: "t" })),
  memoryNode({ clock }),
]);

export const runs: Promise<void>[] = [
  ...conformanceCases.map(({ run }) => run(memoryNode())),
  ...lockScenarios.map(({ run }) => run([memoryNode()])),
];

// @ts-expect-error another library's client
ioredisNode(createClient());
// @ts-expect-error another library's client
nodeRedisNode(new Redis());
// @ts-expect-error another library's client
upstashNode(new Redis());
