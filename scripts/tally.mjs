/**
 * Reads the reports of the test runner, which `report-tests.mjs` writes. As a program it prints the causes of the last failed checks,
 * and the sum of all reports there are, in one line: `node scripts/tally.mjs`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const scratch = fileURLToPath(new URL("../.scratch/", import.meta.url));

/** The report that each check of tests writes, by the name of its script. */
export const reports = {
  "check:tests": join(scratch, "tests.json"),
  "deep:tests": join(scratch, "deep-tests.json"),
};

/** The lines that say why `npm test` and `npm run test:deep` failed, empty if they passed. */
export const causesFiles = { quick: join(scratch, "causes.txt"), deep: join(scratch, "deep-causes.txt") };

/** Reads the report of a check. It has no lists if the check makes no report, or ended before it wrote one. */
export function readReport(name) {
  try {
    return JSON.parse(readFileSync(reports[name], "utf8"));
  } catch {
    return { failures: [], retried: [] };
  }
}

/** Counts one report. An error outside a test counts as one failed test, and so does a missing report. */
function countTests(name) {
  const { numPassedTests, numPendingTests, numTodoTests, failures } = readReport(name);
  if (numPassedTests === undefined) return { passed: 0, failed: 1, skipped: 0 };
  return { passed: numPassedTests, failed: failures.length, skipped: numPendingTests + numTodoTests };
}

/** Returns the closing line, for people and for machines that read test counts. */
export function tally(names) {
  const counts = names.map(countTests);
  const sum = (field) => counts.reduce((total, count) => total + count[field], 0);
  const skipped = sum("skipped");
  return `tests: ${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of Object.values(causesFiles)) if (existsSync(file)) process.stdout.write(readFileSync(file, "utf8"));
  console.log(tally(Object.keys(reports)));
}
