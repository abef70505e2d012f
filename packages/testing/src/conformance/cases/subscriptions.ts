import type { ConformanceCase } from "../case.ts";
import { pause, replyOf } from "../exchange.ts";
import { expectSame, expectSoon } from "../expectation.ts";
import { uniqueName } from "../names.ts";

export const subscriptionCases: readonly ConformanceCase[] = [
  {
    name: "calls listeners for their own channel until they end, where it offers subscriptions",
    async run(node) {
      if (!node.subscribe) return;
      const [channel, otherChannel] = [uniqueName(), uniqueName()];
      const heard = { first: 0, second: 0 };
      const end = await node.subscribe(channel, () => void heard.first++);
      const endSecond = await node.subscribe(channel, () => void heard.second++);
      const publish = (to: string) => replyOf(node, ["PUBLISH", to, "text"]);
      try {
        await publish(otherChannel);
        await publish(channel);
        await expectSoon(`${node.name}: both listeners hear`, 2_000, () => heard.second > 0);
        await expectSoon(`${node.name}: both listeners hear`, 2_000, () => heard.first > 0);
        await end();
        await publish(channel);
        await expectSoon(`${node.name}: the other one hears`, 2_000, () => heard.second > 1);
        await pause(50);
        expectSame(`${node.name}: messages to the ended listener`, heard.first, 1);
      } finally {
        await endSecond();
      }
    },
  },
];
