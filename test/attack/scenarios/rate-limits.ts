import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";
import { tenants } from "../targets.ts";

/** More changes than the default lets one caller make within the minute that the flood may take. */
const most = 100;

async function run({ target, runs }: Attack): Promise<Finding> {
  const breaks: string[] = [];
  const [flooding, other] = tenants;
  const count = Math.min(runs, 3000);
  const bump = { name: "bump", arguments: { by: 1 } };
  await inParallel(count, async () => void (await target.ask("tools/call", bump, { token: flooding.token })));
  const ran = (await target.report())?.bumped ?? 0;
  if (ran > most) breaks.push(`one caller changed something ${ran} times`);
  if (ran === 0) breaks.push("no call of the flooding caller ran");
  const { text } = await target.ask("tools/call", bump, { token: other.token });
  if (text.includes("RATE_LIMITED")) breaks.push("another caller with the same id was refused");
  if ((await target.report())?.bumped !== ran + 1) breaks.push("the call of another caller did not run");
  return { tried: `${count} changes by one caller, of which ${ran} ran`, breaks };
}

/** A flood of calls by one caller is limited, and limits nobody else. */
export const rateLimits: Scenario = { name: "rate limits", run };
