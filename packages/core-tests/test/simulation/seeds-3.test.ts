import { it } from "vitest";
import { expectSeeds } from "./seeds.ts";

// Several files, so that they run on several cores.
it("keeps all promises, seeds 1500 to 1999", { timeout: 240_000 }, () => expectSeeds(1500, 500));
