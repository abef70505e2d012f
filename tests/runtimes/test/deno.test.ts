import { matrix } from "../src/matrix.ts";
import { deno } from "../src/runtimes.ts";
import { tested } from "../src/tested.ts";

matrix(deno, tested.Deno);
