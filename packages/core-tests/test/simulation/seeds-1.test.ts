import { it } from "vitest";
import { expectSeeds } from "./seeds.ts";

// Several files, so that they run on several cores.
it("keeps all promises, seeds 500 to 999", { timeout: 240_000 }, () => expectSeeds(500, 500));
