import { startServer } from "../conformance/start-server.ts";
import { installTools } from "../conformance/tools.ts";
import { casesFor, type InspectorCase } from "./cases.ts";
import { hasPart } from "./has-part.ts";
import { inspect, type Inspected, type InspectorTarget } from "./inspect.ts";

// `npm run inspect`: the Inspector's CLI, as a client of each era, against test/conformance/server.ts over HTTP.

/** What is wrong with an answer; nothing where it is as it should be. */
function problemOf(inspected: Inspected, { code, result }: InspectorCase): string | undefined {
  if (inspected.code !== code) return `it ended with ${inspected.code}, not ${code}: ${inspected.stderr.trim()}`;
  if (result === undefined) return inspected.result === undefined ? undefined : "there was a result, and none was due";
  if (hasPart(inspected.result, result)) return undefined;
  return `the result has no ${JSON.stringify(result)}: ${JSON.stringify(inspected.result)}`;
}

/** Asks everything as a client of one era. Says of each whether it went well. */
async function askAs(era: InspectorTarget["era"], url: string): Promise<readonly boolean[]> {
  const outcomes: boolean[] = [];
  for (const each of casesFor(era)) {
    const problem = problemOf(await inspect({ url, era }, each.args), each);
    console.log(`${problem === undefined ? "pass" : "FAIL"}  ${era.padEnd(8)}${each.args.join(" ")}`);
    if (problem !== undefined) console.log(`      ${problem}`);
    outcomes.push(problem === undefined);
  }
  return outcomes;
}

installTools();
const started = performance.now();
const server = await startServer(new URL("../conformance/server.ts", import.meta.url));
const outcomes: boolean[] = [];
try {
  for (const era of ["legacy", "auto", "modern"] as const) outcomes.push(...(await askAs(era, server.url)));
} finally {
  await server.stop();
}
const passed = outcomes.filter(Boolean).length;
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`inspector: ${passed} passed, ${outcomes.length - passed} failed (${seconds} s)`);
process.exitCode = passed === outcomes.length ? 0 : 1;
