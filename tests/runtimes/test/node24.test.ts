import { matrix } from "../src/matrix.ts";
import { node } from "../src/runtimes.ts";
import { tested } from "../src/tested.ts";

matrix(node(24), tested["Node 24"]);
