/**
 * Runs every check of the repository, two at a time, and reports each: `npm test`. With `--deep` it runs those that take
 * minutes by nature instead: `npm run test:deep`. With `--long` besides, those run at full length.
 *
 * A check is a script in package.json; this file knows their order and what each needs. All of them run even if one
 * fails, so that one run reports everything (`--bail` starts no further one). The output of a failing check is shown, and
 * the closing lines of the tests always. The causes of each failure come at the end, all that some CI shows. The last line is the count
 * of tests, from the test runner's own report.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { causesFiles, readReport, reports, tally } from "./tally.mjs";

const { values: options } = parseArgs({
  options: { deep: { type: "boolean" }, long: { type: "boolean" }, bail: { type: "boolean" } },
});
const root = fileURLToPath(new URL("..", import.meta.url));
const terminal = process.stdout.isTTY && !process.env.NO_COLOR;

/** How many checks run at once. The tests take every core, but wait often; the other checks fill the gaps. */
const atOnce = 2;

const build = { name: "build", args: ["--", "--if-stale"] };
/** In the order of their start: whatever imports the package by its name needs the build. */
const quick = [
  build,
  { name: "check:format" },
  { name: "check:words" },
  { name: "check:unused" },
  { name: "check:tests", needs: "build" },
  { name: "check:code", needs: "build" },
  { name: "check:publish", needs: "build" },
];
const deep = [
  build,
  { name: "deep:tests", needs: "build" },
  { name: "deep:draws", needs: "build" },
  { name: "matrix:types", needs: "build" },
  { name: "deep:type-tests", needs: "build" },
  { name: "deep:types-cost" },
  { name: "attack", needs: "build" },
  { name: "matrix:zod", needs: "build" },
  { name: "matrix:runtimes", needs: "build" },
  { name: "deep:resolution", needs: "build" },
  { name: "conformance", needs: "build" },
  // Both install the same tools.
  { name: "inspect", needs: "conformance" },
];
const checks = options.deep ? deep : quick;
const causesFile = options.deep ? causesFiles.deep : causesFiles.quick;

/** Checks whose output is worth reading when they pass, too. */
const wholeOutput = new Set(["attack", "conformance"]);

/** What a check is told about the terminal, which it does not see. */
const looks = terminal ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };

/** Tells the tests how much to do: `test/setup/test-length.ts`. */
const length = options.long ? { TEST_LENGTH: "long" } : options.deep ? { TEST_LENGTH: "deep" } : {};

/** Some tools take a CI for a terminal, even with NO_COLOR. */
const readable = (text) => (terminal ? text : stripVTControlCharacters(text));

const paint = (code, text) => (terminal ? `\u001B[${code}m${text}\u001B[0m` : text);
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(6)} s`;
const line = ({ name, ok, ms }) => `${ok ? paint(32, "pass") : paint(31, "FAIL")}  ${name.padEnd(18)} ${seconds(ms)}`;

function forgotten() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const known = Object.keys(scripts).filter((name) => /^(?:check|deep):/.test(name));
  const listed = [...quick, ...deep].map(({ name }) => name);
  return [...known.filter((name) => !listed.includes(name)), ...listed.filter((name) => !(name in scripts))];
}

/** Milliseconds between two reports of the progress of the tests. */
const progressMs = 30_000;

/** Prints now and then how many test files have run: only the tests take minutes. */
function showProgress(soFar) {
  const started = performance.now();
  const timer = setInterval(() => {
    const files = stripVTControlCharacters(soFar()).match(/^ *[✓❯×] .*\S+\.test\.ts/gm) ?? [];
    console.log(`....  ${files.length} files of tests after ${seconds(performance.now() - started).trim()}`);
  }, progressMs);
  return () => clearInterval(timer);
}

/** Lifecycle scripts stay off: a check that packs must pack the `dist` under test, and not build it once more. */
function run({ name, args = [] }) {
  const started = performance.now();
  const child = spawn("npm", ["run", "--silent", name, ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...looks, ...length, npm_config_ignore_scripts: "true" },
  });
  let output = "";
  const keep = (chunk) => (output += chunk);
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const stop = name in reports ? showProgress(() => output) : () => {};
  child.on("close", stop).on("error", stop);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ name, ok: false, ms: 0, output: String(error), end: "not started" }));
    child.on("close", (code, signal) => {
      resolve({ name, ok: code === 0, ms: performance.now() - started, output, end: signal ?? `exit code ${code}` });
    });
  });
}

/** The test runner's summary: everything from its `Test Files` line on. */
function closingLines(output) {
  const lines = output.split("\n");
  const at = lines.findIndex((text) => /^\s*Test Files\s/.test(stripVTControlCharacters(text)));
  return at === -1 ? [] : lines.slice(at).filter((text) => text.trim() !== "");
}

/** Lines of the causes of one check. */
const maxCauses = 12;

/** Returns the lines that say why a check failed: the failures in its report, or else the last lines of its output. */
function causesOf({ name, output, end }) {
  const { failures } = readReport(name);
  const hidden = failures.length - maxCauses;
  if (hidden > 0) return [...failures.slice(0, maxCauses), `and ${hidden} more`];
  if (failures.length > 0) return failures;
  const lines = stripVTControlCharacters(output).split("\n");
  return [`${name}: ${end}`, ...lines.filter((text) => text.trim() !== "").slice(-maxCauses)];
}

function show(result) {
  console.log(line(result));
  const { ok, name, output } = result;
  const isShort = ok && !wholeOutput.has(name);
  const shown = isShort ? closingLines(output) : ["", output.trimEnd(), ""];
  for (const text of shown) console.log(readable(text));
}

/** A check starts once the one it needs has ended, also when that one failed: the failure is reported there. */
function isReady({ needs }, waiting, running) {
  return needs === undefined || ![...waiting, ...running.keys()].some(({ name }) => name === needs);
}

/** Runs the checks, `atOnce` at a time, each as soon as it can. */
async function runAll() {
  const results = [];
  const waiting = [...checks];
  const running = new Map();
  const isOver = () => options.bail === true && results.some(({ ok }) => !ok);
  while (running.size > 0 || (waiting.length > 0 && !isOver())) {
    while (running.size < atOnce && !isOver()) {
      const at = waiting.findIndex((check) => isReady(check, waiting, running));
      if (at === -1) break;
      const [check] = waiting.splice(at, 1);
      running.set(
        check,
        run(check).then((result) => {
          running.delete(check);
          results.push(result);
          show(result);
        }),
      );
    }
    await Promise.race(running.values());
  }
  return results;
}

function conclude(results, ms) {
  const failed = results.filter((result) => !result.ok);
  console.log(`\n${results.map(line).join("\n")}\n      ${"wall clock".padEnd(18)} ${seconds(ms)}\n`);
  for (const { name } of results) {
    for (const text of readReport(name).retried) console.log(`passed when it ran once more: ${text}`);
  }
  const causes = failed.flatMap(causesOf).map((text) => `  ${text.slice(0, 500)}\n`);
  const summary =
    failed.length > 0 ? [`failed: ${failed.map(({ name }) => name).join(", ")}\n`, ...causes].join("") : "";
  process.stdout.write(summary);
  mkdirSync(dirname(causesFile), { recursive: true });
  writeFileSync(causesFile, summary);
  const counted = results.map(({ name }) => name).filter((name) => name in reports);
  console.log(counted.length > 0 ? tally(counted) : "tests: not run");
  process.exitCode = failed.length > 0 ? 1 : 0;
}

const unlisted = forgotten();
if (unlisted.length > 0) {
  console.error(`Cannot run the checks: scripts/check.mjs and package.json disagree about ${unlisted.join(", ")}`);
  process.exit(1);
}
for (const file of [causesFile, ...checks.flatMap(({ name }) => reports[name] ?? [])]) rmSync(file, { force: true });
const started = performance.now();
conclude(await runAll(), performance.now() - started);
