import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inRepository, readJson } from "./repository.mjs";

/** Where `npm test` leaves vitest's JSON report, from the root. */
export const reportPath = ".cache/test-report.json";

/**
 * The tests of the last run as one line. A run that failed in whatever way shows a failure: a stage
 * before the tests, a test file that could not be loaded, an unhandled error.
 */
function summaryLine(exitCode) {
  const path = inRepository(reportPath);
  const files = existsSync(path) ? readJson(path).testResults : [];
  const results = files.flatMap((file) => file.assertionResults);
  const count = (status) => results.filter((result) => result.status === status).length;
  const brokenFiles = files.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = count("failed") + brokenFiles.length;
  return `${count("passed")} passed, ${exitCode === 0 ? failed : Math.max(failed, 1)} failed`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  console.log(summaryLine(Number(process.argv[2] ?? 0)));
}
