import { it } from "vitest";
import { expectSeeds } from "./seeds.ts";

// Several files, so that they run on several cores.
it("keeps all promises, seeds 1000 to 1499", { timeout: 240_000 }, () => expectSeeds(1000, 500));
