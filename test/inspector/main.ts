import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../conformance/start-server.ts";
import { installTools } from "../conformance/tools.ts";
import { exampleCases, type InspectorCase, suiteCases } from "./cases.ts";
import { hasPart } from "./has-part.ts";
import { inspect, type Inspected, type InspectorTarget } from "./inspect.ts";

// `npm run inspect`: the Inspector's CLI, as a client of each era, against test/conformance/server.ts and the
// face of the CI example, over HTTP.

/** What is wrong with an answer; nothing where it is as it should be. */
function problemOf(inspected: Inspected, { code, result }: InspectorCase): string | undefined {
  if (inspected.code !== code) return `it ended with ${inspected.code}, not ${code}: ${inspected.stderr.trim()}`;
  if (result === undefined) return inspected.result === undefined ? undefined : "there was a result, and none was due";
  if (hasPart(inspected.result, result)) return undefined;
  return `the result has no ${JSON.stringify(result)}: ${JSON.stringify(inspected.result)}`;
}

/** A server, and what it has to answer the client of an era. */
interface Inspection {
  readonly name: string;
  readonly script: URL;
  readonly args: readonly string[];
  readonly cases: (era: InspectorTarget["era"]) => readonly InspectorCase[];
}

/** Asks everything as a client of one era. Says of each whether it went well. */
async function askAs(target: InspectorTarget, { name, cases }: Inspection): Promise<readonly boolean[]> {
  const outcomes: boolean[] = [];
  for (const each of cases(target.era)) {
    const problem = problemOf(await inspect(target, each.args), each);
    const where = `${name.padEnd(8)}${target.era.padEnd(8)}`;
    console.log(`${problem === undefined ? "pass" : "FAIL"}  ${where}${each.args.join(" ")}`);
    if (problem !== undefined) console.log(`      ${problem}`);
    outcomes.push(problem === undefined);
  }
  return outcomes;
}

async function run(inspection: Inspection): Promise<readonly boolean[]> {
  const server = await startServer(inspection.script, inspection.args);
  try {
    const outcomes: boolean[] = [];
    for (const era of ["legacy", "auto", "modern"] as const) {
      outcomes.push(...(await askAs({ url: server.url, era }, inspection)));
    }
    return outcomes;
  } finally {
    await server.stop();
  }
}

installTools();
const started = performance.now();
const state = mkdtempSync(join(tmpdir(), "inspector-"));
const suite = {
  name: "suite",
  script: new URL("../conformance/server.ts", import.meta.url),
  args: [],
  cases: suiteCases,
};
const example = {
  name: "ci",
  script: new URL("../../examples/ci/serve-http.ts", import.meta.url),
  args: ["--state", state],
  cases: exampleCases,
};
try {
  const outcomes = [...(await run(suite)), ...(await run(example))];
  const passed = outcomes.filter(Boolean).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`inspector: ${passed} passed, ${outcomes.length - passed} failed (${seconds} s)`);
  process.exitCode = passed === outcomes.length ? 0 : 1;
} finally {
  rmSync(state, { recursive: true, force: true });
}
