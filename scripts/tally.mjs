/**
 * Counts tests in the reports of the test runner. As a program it prints the sum of all reports there are, in one line:
 * `node scripts/tally.mjs`.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The report that each check of tests writes, by the name of its script. */
export const reports = {
  "check:tests": join(root, ".scratch", "tests.json"),
  "deep:tests": join(root, ".scratch", "deep-tests.json"),
};

/** Counts one report. A file that failed to load counts as one failed test, and so does a missing report. */
function countTests(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
      readFileSync(report, "utf8"),
    );
    const unloaded = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
    return {
      passed: numPassedTests,
      failed: numFailedTests + unloaded.length,
      skipped: numPendingTests + numTodoTests,
    };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** Lists the failed tests of one report, a line each; none for a check that makes no report. */
export function listFailures(report) {
  if (report === undefined) return [];
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    return testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === "failed")
        .map(({ fullName, failureMessages: [message = ""] }) => {
          return `${relative(root, name)}: ${fullName}: ${message.split("\n", 1)[0]}`;
        }),
    );
  } catch {
    return [];
  }
}

/** Returns the closing line, for people and for machines that read test counts. */
export function tally(files) {
  const counts = files.map(countTests);
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
  const skipped = sum("skipped");
  return `tests: ${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(tally(Object.values(reports)));
