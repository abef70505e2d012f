import { setTimeout as sleep } from "node:timers/promises";
import { pollUntil, processState } from "@redlatch/testkit";
import { describe, expect, it } from "vitest";
import type { Told } from "../fixtures/connect.ts";
import { runFixture } from "../harness/fixture.ts";
import type { Harness } from "../harness/harness.ts";
import { Testbed } from "../harness/testbed.ts";

/**
 * @param exitsWhileHung - Whether the driver lets a process exit while a hung node owes an answer.
 */
export function processes(harness: Harness, exitsWhileHung = true): void {
  describe(`client processes (${harness.title})`, { timeout: 120_000 }, () => {
    const bed = new Testbed(harness);

    const start = (fixture: string, more: Partial<Told>) => runFixture(harness, bed, fixture, more);

    it("suspended past the ttl know their leases as lost at once, and revive nothing", async () => {
      const ttlMs = 2_500;
      const { child, said, heard: hear, exited } = start("be-suspended", { ttlMs });
      await hear(1);
      const other = await bed.client();
      expect(await other.tryAcquire("asked")).toBeNull();
      const stoppedMs = performance.now();
      child.kill("SIGSTOP");
      await pollUntil(
        "the child is stopped",
        () => processState(child.pid as number) === "stopped",
      );
      const [asked, heard] = await Promise.all([
        other.acquire("asked", { ttlMs: 30_000 }),
        other.acquire("heard", { ttlMs: 30_000 }),
      ]);
      await pollUntil("the third lock expired", async () =>
        (await bed.keys()).every((keys) => !keys.includes("lock:extended")),
      );
      const holding = await bed.keys();
      // Keys expire up to a ttl after the last extension, the child may have been stopped right before one.
      await sleep(2 * ttlMs - (performance.now() - stoppedMs));
      child.kill("SIGCONT");
      const { code, complaints } = await exited;
      expect(complaints).toBe("");
      expect(said[1]).toEqual({
        state: "resumed",
        held: false,
        abortedWhenAsked: true,
        refused: "LEASE_LOST",
        abortedByItself: true,
        later: [false, false, false],
      });
      expect(code).toBe(0);
      expect(await bed.keys()).toEqual(holding);
      await Promise.all([asked.extend(), heard.extend()]);
      expect(await Promise.all([asked.release(), heard.release()])).toEqual([
        ...["released", "released"],
      ]);
      await bed.expectNothingLeft();
    });

    it("stay alive while one only waits", async () => {
      const kinds = ["waits for another process", "waits without end", "waits in line"];
      await bed.occupy("occupied", bed.servers, 60_000);
      // A short ttl: the first one in ends without a release.
      const children = kinds.map((kind) => start("stay-or-exit", { kind, ttlMs: 1_000 }));
      await Promise.all(children.map(({ heard }) => heard(1)));
      await bed.occupy("occupied", bed.servers, 2_000);
      const ends = await Promise.all(children.map(({ exited }) => exited));
      // Without anything to live for, Node ends with code 13 in the middle of the wait.
      const said = [{ state: "starts" }, { state: "done" }];
      expect(ends.map((end, index) => ({ kind: kinds[index], ...end }))).toEqual(
        kinds.map((kind) => ({ kind, code: 0, complaints: "", said })),
      );
    });

    const exits = [
      { hung: 0, kinds: ["holds an idle lease", "holds an idle lease that extends itself"] },
      { hung: 2, kinds: ["holds an idle lease that extends itself", "goes on releasing"] },
    ].filter(({ hung }) => hung === 0 || exitsWhileHung);
    it.each(exits)("can exit while one only $kinds ($hung hung)", async ({ kinds, hung }) => {
      await bed.hang(hung);
      const children = kinds.map((kind) => start("stay-or-exit", { kind, ttlMs: 60_000 }));
      await Promise.all(
        children.map(async ({ heard, exited }) => {
          await heard(2);
          const doneMs = performance.now();
          const { code, complaints } = await exited;
          expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
          // Long before a lease of a minute ends.
          expect(performance.now() - doneMs).toBeLessThan(10_000);
        }),
      );
    });
  });
}
