/**
 * Lints and type-checks the repository in one pass: `npm run check:code`, after a build.
 *
 * The linter reads every file with the compiler's types anyway, and reports the compiler's errors too (`--type-check`). In
 * `test-d` each call of `expectError` must contain such an error, and no other place may. That an inferred type is exactly
 * the expected one, and not only assignable, is for `npm run deep:type-tests`.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { judgeTypeTests } from "./judge-type-tests.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const linter = join(root, "node_modules", "oxlint", "bin", "oxlint");

/** What the linter and the compiler found, with line, column and byte offset of each. */
function findProblems() {
  const args = [linter, "--type-check", "--format", "json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  try {
    return JSON.parse(stdout).diagnostics.map(({ filename, code = "syntax", message, labels }) => {
      const { offset, line, column } = labels[0]?.span ?? { offset: 0, line: 1, column: 1 };
      return { path: filename.replaceAll("\\", "/"), code, message, offset, line, column };
    });
  } catch (error) {
    throw new Error(`Checking the code: the linter failed with exit code ${status}\n${stdout}${stderr}`, {
      cause: error,
    });
  }
}

const problems = findProblems();
const isCompilers = ({ code }) => code.startsWith("typescript(TS");
// The linter counts bytes.
const offsetOf = ({ offset }, text) => Buffer.from(text).subarray(0, offset).toString().length;
const { unexpected: errors, unmet, expected } = judgeTypeTests(problems.filter(isCompilers), offsetOf);
const unexpected = [...problems.filter((problem) => !isCompilers(problem)), ...errors];

for (const { path, line, column, code, message } of unexpected)
  console.log(`${path}:${line}:${column} ${code} ${message}`);
for (const { path, line } of unmet) console.log(`${path}:${line} expected an error of the compiler, and there is none`);
console.log(
  `code: ${unexpected.length} problems; ${expected - unmet.length} of ${expected} programs that must not compile do not`,
);
process.exitCode = unexpected.length + unmet.length > 0 ? 1 : 0;
