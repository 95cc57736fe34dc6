/** Compares what a compiler reports in `test-d` with what the type tests expect: an error in each call of `expectError`, and none elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The calls of `expectError` in a file, as ranges of characters. */
function expectedErrors(path) {
  const text = readFileSync(join(root, path), "utf8");
  const calls = [];
  new Visitor({
    CallExpression({ callee, start, end }) {
      if (callee.type !== "Identifier" || callee.name !== "expectError") return;
      calls.push({ path, text, start, end, line: text.slice(0, start).split("\n").length });
    },
  }).visit(parseSync(path, text).program);
  return calls;
}

/**
 * @param errors - the compiler's, each with the path of its file below the repository.
 * @param offsetOf - returns the place of an error in the text of its file, in characters.
 * @returns the errors that nothing expects, the calls that have none (`path`, `line`), and the number of all calls.
 */
export function judgeTypeTests(errors, offsetOf) {
  const files = readdirSync(join(root, "test-d")).filter((name) => name.endsWith(".test-d.ts"));
  const calls = files.flatMap((name) => expectedErrors(`test-d/${name}`));
  const isWithin = (error, { path, text, start, end }) => {
    if (error.path !== path) return false;
    const offset = offsetOf(error, text);
    return start <= offset && offset < end;
  };
  return {
    unexpected: errors.filter((error) => !calls.some((call) => isWithin(error, call))),
    unmet: calls.filter((call) => !errors.some((error) => isWithin(error, call))),
    expected: calls.length,
  };
}
