import { it } from "vitest";
import { expectSeeds } from "./seeds.ts";

// Several files, so that they run on several cores.
it("keeps all promises, seeds 0 to 499", { timeout: 240_000 }, () => expectSeeds(0, 500));
