import { matrix } from "../src/matrix.ts";
import { thisNode } from "../src/runtimes.ts";
import { tested } from "../src/tested.ts";

matrix(thisNode, tested["Node 20"]);
