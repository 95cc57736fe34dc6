/**
 * Runs every check of the repository, cheap first, and says how each went.
 *
 * A check is a script in package.json; this file only knows their order. All of them run even if one fails, so that one
 * run tells everything (`--bail` stops at the first). What a failing check printed is shown; of the tests, the closing
 * lines are always shown. The last line is the count of tests, read from the test runner's own report.
 */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const report = join(root, ".scratch", "vitest.json");
const terminal = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** The order is by cost, and `build` stands before what imports the package by its name. */
const order = [
  "check:format",
  "check:lint",
  "check:types",
  "build",
  "check:types-cost",
  "check:type-tests",
  "check:unused",
  "check:publish",
  "check:resolution",
  "check:tests",
];

/** What a check is told of the terminal, which it does not see. */
const looks = terminal ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };

/** Some tools take a CI for a terminal, whatever NO_COLOR says. */
const readable = (text) => (terminal ? text : stripVTControlCharacters(text));

const paint = (code, text) => (terminal ? `\u001B[${code}m${text}\u001B[0m` : text);
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(6)} s`;
const line = ({ name, ok, ms }) => `${ok ? paint(32, "pass") : paint(31, "FAIL")}  ${name.padEnd(18)} ${seconds(ms)}`;

function forgotten() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const known = Object.keys(scripts).filter((name) => name.startsWith("check:"));
  return [...known.filter((name) => !order.includes(name)), ...order.filter((name) => !(name in scripts))];
}

/** How often a check that takes long says how far it is, in milliseconds. */
const signOfLifeMs = 30_000;

/** Tells, now and then, how many files of tests have been run: of the checks only they take minutes. */
function showProgress(soFar) {
  const started = performance.now();
  const timer = setInterval(() => {
    const files = stripVTControlCharacters(soFar()).match(/^ *[✓❯×] \S+\.test\.ts/gm) ?? [];
    const text = `....  ${files.length} files of tests after ${seconds(performance.now() - started).trim()}`;
    process.stdout.write(terminal ? `\r\u001B[K${text}` : `${text}\n`);
  }, signOfLifeMs);
  return () => clearInterval(timer);
}

/** Lifecycle scripts stay off: a check that packs must pack the `dist` under test, and not build it once more. */
function run(name) {
  const started = performance.now();
  const child = spawn("npm", ["run", "--silent", name], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...looks, npm_config_ignore_scripts: "true" },
  });
  let output = "";
  const keep = (chunk) => (output += chunk);
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const stop = name === "check:tests" ? showProgress(() => output) : () => {};
  child.on("close", stop).on("error", stop);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ name, ok: false, ms: 0, output: String(error) }));
    child.on("close", (code) => resolve({ name, ok: code === 0, ms: performance.now() - started, output }));
  });
}

/** The test runner's summary: everything from its `Test Files` line on. */
function closingLines(output) {
  const lines = output.split("\n");
  const at = lines.findIndex((text) => /^\s*Test Files\s/.test(stripVTControlCharacters(text)));
  return at === -1 ? [] : lines.slice(at).filter((text) => text.trim() !== "");
}

/** A file that could not be loaded ran no test, and yet must not count as nothing. */
function countTests() {
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

/** Runs the checks one after the other: each uses every core there is, and some read what the one before has built. */
async function runAll() {
  const results = [];
  for (const name of order) {
    if (terminal) process.stdout.write(`....  ${name}`);
    const result = await run(name);
    if (terminal) process.stdout.write("\r\u001B[K");
    console.log(line(result));
    const shown = result.ok ? closingLines(result.output) : ["", result.output.trimEnd(), ""];
    for (const text of shown) console.log(readable(text));
    results.push(result);
    if (!result.ok && process.argv.includes("--bail")) break;
  }
  return results;
}

/** The closing line, for people and for machines that read test counts. */
function tally() {
  const { passed, failed, skipped } = countTests();
  return `tests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function conclude(results) {
  const failed = results.filter((result) => !result.ok).map((result) => result.name);
  const total = results.reduce((sum, result) => sum + result.ms, 0);
  console.log(`\n${results.map(line).join("\n")}\n      ${"total".padEnd(18)} ${seconds(total)}\n`);
  if (failed.length > 0) console.log(`${paint(31, "failed:")} ${failed.join(", ")}`);
  console.log(results.some((result) => result.name === "check:tests") ? tally() : "tests: not run");
  process.exitCode = failed.length > 0 ? 1 : 0;
}

const unlisted = forgotten();
if (unlisted.length > 0) {
  console.error(`cannot run the checks: scripts/check.mjs and package.json disagree about: ${unlisted.join(", ")}`);
  process.exit(1);
}
rmSync(report, { force: true });
conclude(await runAll());
