/** The drivers that each runtime is tested with; docs/choosing-an-adapter.md says the same. */
export const tested = {
  "Node 20": ["ioredis", "node-redis", "upstash", "fetch"],
  // All drivers on the oldest and the newest Node, one of each kind between them.
  "Node 22": ["ioredis", "upstash"],
  "Node 24": ["ioredis", "upstash"],
  "Node 26": ["ioredis", "node-redis", "upstash"],
  Deno: ["ioredis", "node-redis", "upstash", "fetch"],
  Bun: ["ioredis", "node-redis", "upstash", "fetch"],
  "workerd with `nodejs_compat`": ["ioredis", "node-redis"],
  "workerd without it": ["fetch", "upstash"],
} as const;

/** Those of docs/own-driver.md that only one runtime is tested with. */
export const testedOwnDrivers = { Bun: "bun", "Node 20": "glide" } as const;
