import { matrix } from "../src/matrix.ts";
import { node } from "../src/runtimes.ts";
import { tested } from "../src/tested.ts";

matrix(node(26), tested["Node 26"]);
