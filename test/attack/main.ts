/**
 * Attacks a server that runs from the built package: `npm run attack -- [--only NAME] [--runs N] [--seed N]`.
 *
 * Each scenario has a server process of its own. Prints a table; exits 1 when a scenario breaks the server or a promise.
 */
import { parseArgs } from "node:util";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { createRandom } from "./random.ts";
import type { Finding, Scenario } from "./scenario.ts";
import { consentReplay } from "./scenarios/consent-replay.ts";
import { decoyNames } from "./scenarios/decoy-names.ts";
import { doubleFrames } from "./scenarios/double-frames.ts";
import { foreignParts } from "./scenarios/foreign-parts.ts";
import { foreignSchemas } from "./scenarios/foreign-schemas.ts";
import { hiddenNames } from "./scenarios/hidden-names.ts";
import { nonsenseTokens } from "./scenarios/nonsense-tokens.ts";
import { oddHeads } from "./scenarios/odd-heads.ts";
import { rateLimits } from "./scenarios/rate-limits.ts";
import { silentSockets } from "./scenarios/silent-sockets.ts";
import { unreadAnswers } from "./scenarios/unread-answers.ts";
import { Target } from "./target.ts";

const scenarios: readonly Scenario[] = [
  doubleFrames,
  hiddenNames,
  decoyNames,
  oddHeads,
  foreignParts,
  consentReplay,
  rateLimits,
  foreignSchemas,
  nonsenseTokens,
  silentSockets,
  unreadAnswers,
];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    runs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const shownBreaks = 5;

async function attack(script: string, { run }: Scenario): Promise<Finding> {
  const target = await Target.start(script);
  try {
    const finding = await run({ target, random: createRandom(Number(values.seed)), runs: Number(values.runs) });
    return target.isAlive ? finding : { ...finding, breaks: ["the server died", ...finding.breaks] };
  } catch (error) {
    return { tried: "", breaks: [target.isAlive ? String(error) : "the server died"] };
  } finally {
    await target.stop();
  }
}

const script = await bundleScript(new URL("server.ts", import.meta.url), "attack-server");
console.log(`seed ${values.seed}, ${values.runs} runs of what is random\n`);
for (const scenario of scenarios.filter(({ name }) => values.only === undefined || name === values.only)) {
  const start = performance.now();
  const { tried, breaks } = await attack(script, scenario);
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
  console.log(`${breaks.length === 0 ? "stood" : "BROKE"}  ${scenario.name.padEnd(18)} ${seconds} s  ${tried}`);
  for (const text of breaks.slice(0, shownBreaks)) console.log(`         ${text}`);
  if (breaks.length > shownBreaks) console.log(`         and ${breaks.length - shownBreaks} more`);
  if (breaks.length > 0) process.exitCode = 1;
}
