import { matrix } from "../src/matrix.ts";
import { bun } from "../src/runtimes.ts";
import { tested } from "../src/tested.ts";

matrix(bun, tested.Bun);
