import pc from "picocolors";
import { expect, it } from "vitest";
import { frameText } from "../src/demo/frame.ts";
import type { Observation } from "../src/demo/observer.ts";
import type { Scene } from "../src/demo/view.ts";

const observation: Observation = {
  verdict: "held",
  holder: "worker-2",
  nodes: [
    { name: "node-1", state: "up", holder: "worker-2", remainingMs: 1_871 },
    { name: "node-2", state: "killed" },
    { name: "node-3", state: "up", holder: "worker-2", remainingMs: 1_870.4 },
    { name: "node-4", state: "hung" },
    { name: "node-5", state: "up", holder: "worker-2", remainingMs: 1_871 },
  ],
};
const scene: Scene = {
  title: "With the lock",
  elapsedMs: 7_420,
  totalMs: 18_000,
  observation,
  race: {
    workers: [
      { name: "worker-1", state: "waiting", sinceMs: 6_000, updates: 7, longestWaitMs: 1_203 },
      { name: "worker-2", state: "inside", sinceMs: 7_300, updates: 9, longestWaitMs: 611 },
    ],
    counter: 16,
    updates: 16,
    lostUpdates: 0,
  },
};

it("shows nodes, lock, workers and counter", () => {
  const lines = frameText(scene, pc.createColors(false)).split("\n");
  expect(lines.map((line) => line.trimEnd()).join("\n")).toMatchInlineSnapshot(`
    "
    With the lock  7.4 s of about 18 s

    node     state    held by    time left
    node-1   up       worker-2    1,871 ms
    node-2   killed
    node-3   up       worker-2    1,870 ms
    node-4   hung
    node-5   up       worker-2    1,871 ms
    lock: held by worker-2 on 3 of 5 nodes, a quorum is 3

    worker     now                 updates   longest wait
    worker-1   waiting 1,420 ms          7       1,420 ms
    worker-2   inside                    9         611 ms
    counter: 16 after 16 updates, lost updates: 0"
  `);
});

it("keeps its width when it is coloured", () => {
  const plain = frameText(scene, pc.createColors(false));
  const coloured = frameText(scene, pc.createColors(true));
  expect(coloured).not.toBe(plain);
  expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(plain);
});

it("says where too few nodes answer, and shows lost updates", () => {
  const race = { ...scene.race, counter: 10, lostUpdates: 6 };
  const unreachable: Observation = { verdict: "unreachable", nodes: observation.nodes };
  const text = frameText({ ...scene, race, observation: unreachable }, pc.createColors(false));
  expect(text).toContain("lock: too few nodes answer, a quorum is 3");
  expect(text).toContain("lost updates: 6");
});
