import { matrix } from "../src/matrix.ts";
import { node } from "../src/runtimes.ts";
import { tested } from "../src/tested.ts";

matrix(node(22), tested["Node 22"]);
