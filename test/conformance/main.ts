import { isFine, judge } from "./judge.ts";
import { runSuite, suites, type SuiteRun } from "./run-suite.ts";
import { startServer } from "./start-server.ts";
import { toTable } from "./to-table.ts";
import { installTools } from "./tools.ts";

// `npm run conformance`: the official suites, both versions, against test/conformance/server.ts. It fails where a suite
// finds what `expected-failures.json` does not say, and where that says what no suite finds.

async function runAll(): Promise<readonly SuiteRun[]> {
  const server = await startServer(new URL("server.ts", import.meta.url));
  try {
    const runs: SuiteRun[] = [];
    for (const suite of suites) {
      console.log(`running ${suite.name} against ${server.url}`);
      runs.push(await runSuite(suite, server.url));
    }
    return runs;
  } finally {
    await server.stop();
  }
}

installTools();
const started = performance.now();
const runs = await runAll();
const judged = runs.map(({ name, found, expectations }) => ({ name, verdicts: judge(found, expectations) }));
const verdicts = judged.flatMap(({ verdicts: each }) => each);
console.log(`\n${toTable(judged)}\n`);
console.log(
  "pass: all of it. known: it fails as expected. none: nothing could be checked. -: not asked of that version.\n",
);

for (const { name, verdicts: each } of judged) {
  for (const { scenario, outcome, remarks } of each.filter((verdict) => !isFine(verdict))) {
    console.log(`${outcome}  ${name}  ${scenario}`);
    for (const remark of remarks) console.log(`      ${remark}`);
  }
}
const bad = verdicts.filter((verdict) => !isFine(verdict)).length;
const troubled = runs.filter(({ trouble }) => trouble !== undefined);
// A suite that disagrees with the judgement above, or that did not come to one: its own words.
if (bad === 0) for (const { name, trouble } of troubled) console.log(`${name} ended with an error:\n${trouble}`);
const count = (outcome: string): number => verdicts.filter((verdict) => verdict.outcome === outcome).length;
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`conformance: ${count("pass")} passed, ${count("known")} failed as expected, ${bad} wrong (${seconds} s)`);
process.exitCode = bad > 0 || troubled.length > 0 ? 1 : 0;
