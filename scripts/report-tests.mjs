/**
 * The report of the test runner as JSON, and in it the causes of a failed run, a line each: `failures` are failed tests, and errors
 * outside a test, which fail a run in which every test passed. `retried` are tests that failed, and passed when they ran once more.
 */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { JsonReporter } from "vitest/node";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Lines of a message that are kept. */
const maxLines = 3;

/** Writes an error and its causes in one line. */
function words({ message, cause }) {
  const text = String(message).split("\n", maxLines).join(" | ");
  return cause === undefined ? text : `${text}; caused by ${words(Object(cause))}`;
}

/** Returns the first position in our code of a stack. */
function origin({ stack = "" }) {
  const line = stack.split("\n").find((text) => text.includes(root) && !text.includes("node_modules"));
  return line === undefined ? "" : ` (${line.trim().replace(`file://${root}`, "").replace(root, "")})`;
}

/** Errors of hooks, of a file that did not load, and of a worker that ended early. */
function* moduleFailures(module) {
  const file = module.relativeModuleId;
  const tests = [...module.children.allTests()];
  for (const suite of [module, ...module.children.allSuites()]) {
    for (const error of suite.errors()) yield [file, suite.fullName, "outside a test", words(error)];
  }
  for (const test of tests) {
    const { state, errors = [] } = test.result();
    if (state === "failed") yield [file, test.fullName, ...errors.slice(0, 1).map(words)];
  }
  const isOver = !["queued", "pending"].includes(module.state());
  if (!isOver) yield [file, tests.find((test) => test.result().state === "pending")?.fullName, "not finished"];
}

function* retriedTests(module) {
  for (const test of module.children.allTests()) {
    if (test.diagnostic()?.flaky !== true) continue;
    yield [module.relativeModuleId, test.fullName, ...test.result().errors.slice(0, 1).map(words)];
  }
}

function unhandledFailure(error) {
  const { type, VITEST_TEST_PATH: path, VITEST_TEST_NAME: test } = error;
  return [path && relative(root, path), test, type, words(error) + origin(error)];
}

const toLine = (parts) => parts.filter((part) => part !== undefined && part !== "").join(": ");

// oxlint-disable-next-line import/no-default-export -- the test runner takes the default export of a reporter
export default class TestReporter extends JsonReporter {
  #causes = {};

  async onTestRunEnd(modules, unhandled) {
    const failures = [...modules.flatMap((module) => [...moduleFailures(module)]), ...unhandled.map(unhandledFailure)];
    const retried = modules.flatMap((module) => [...retriedTests(module)]);
    this.#causes = { failures: failures.map(toLine), retried: retried.map(toLine) };
    await super.onTestRunEnd(modules);
  }

  async writeReport(report) {
    await super.writeReport(JSON.stringify({ ...JSON.parse(report), ...this.#causes }));
  }
}
