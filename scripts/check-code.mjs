/**
 * Lints and type-checks the repository in one pass: `npm run check:code`, after a build.
 *
 * The linter reads every file with the compiler's types anyway, and reports the compiler's errors too (`--type-check`). In
 * `test-d` each call of `expectError` must contain such an error, and no other place may. That an inferred type is exactly
 * the expected one, and not only assignable, is for `npm run deep:type-tests`.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

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
    return JSON.parse(stdout).diagnostics.map(({ filename, code, message, labels }) => {
      const { offset, line, column } = labels[0]?.span ?? { offset: 0, line: 1, column: 1 };
      return { path: filename.replaceAll("\\", "/"), code, message, offset, line, column };
    });
  } catch (error) {
    throw new Error(`Checking the code: the linter failed with exit code ${status}\n${stdout}${stderr}`, {
      cause: error,
    });
  }
}

/** The calls of `expectError` in a file of type tests, in byte offsets, as the linter counts. */
function expectedErrors(path) {
  const text = readFileSync(join(root, path), "utf8");
  const bytes = (index) => Buffer.byteLength(text.slice(0, index));
  const calls = [];
  new Visitor({
    CallExpression({ callee, start, end }) {
      if (callee.type === "Identifier" && callee.name === "expectError")
        calls.push({ path, start: bytes(start), end: bytes(end), line: text.slice(0, start).split("\n").length });
    },
  }).visit(parseSync(path, text).program);
  return calls;
}

const typeTests = readdirSync(join(root, "test-d")).filter((name) => name.endsWith(".test-d.ts"));
const expected = typeTests.flatMap((name) => expectedErrors(`test-d/${name}`));
const isWithin = ({ path, code, offset }, call) =>
  path === call.path && code.startsWith("typescript(TS") && call.start <= offset && offset < call.end;

const problems = findProblems();
const unexpected = problems.filter((problem) => !expected.some((call) => isWithin(problem, call)));
const unmet = expected.filter((call) => !problems.some((problem) => isWithin(problem, call)));

for (const { path, line, column, code, message } of unexpected)
  console.log(`${path}:${line}:${column} ${code} ${message}`);
for (const { path, line } of unmet) console.log(`${path}:${line} expected an error of the compiler, and there is none`);
console.log(
  `code: ${unexpected.length} problems; ${expected.length - unmet.length} of ${expected.length} programs that must not compile do not`,
);
process.exitCode = unexpected.length + unmet.length > 0 ? 1 : 0;
