import { legacy, modern } from "../post.ts";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";

/** The member that names the target of each method, and a decoy member that does not. */
const methods = [
  { method: "tools/call", named: "name", decoy: "uri", real: "bump", shown: "report" },
  { method: "resources/read", named: "uri", decoy: "name", real: "surface://ci/large", shown: "surface://ci/count" },
  { method: "prompts/get", named: "name", decoy: "uri", real: "erase", shown: "report" },
] as const;
const subscribing = {
  ...{ method: "resources/subscribe", named: "uri", decoy: "name" },
  ...{ real: "surface://ci/large", shown: "surface://ci/count" },
} as const;

async function run({ target, random, runs }: Attack): Promise<Finding> {
  const session = await target.openSession();
  const breaks: string[] = [];
  await inParallel(runs, async () => {
    const isModern = random.below(2) === 0;
    const { method, named, decoy, real, shown } = random.pick(isModern ? methods : [...methods, subscribing]);
    const header = random.pick([
      shown,
      `${real} `,
      real.toUpperCase(),
      `${real}${random.text(2)}`,
      encodeURIComponent(shown),
    ]);
    if (header.trim() === real) return;
    const params = { [decoy]: header, [named]: real };
    const init = isModern ? modern(method, params) : legacy(method, params, session);
    const headers = { ...init.headers, "mcp-method": method, "mcp-name": header };
    const { status, text } = await target.send({ ...init, headers });
    if (status !== 400) breaks.push(`${method} of ${real} under mcp-name ${header}: ${status} ${text.slice(0, 120)}`);
  });
  const ran = (await target.report())?.bumped ?? 0;
  if (ran > 0) breaks.unshift(`${ran} calls ran under the name of another tool`);
  return { tried: `${runs} requests whose header names something else`, breaks };
}

/** The headers that proxies judge must name what the body asks for. */
export const decoyNames: Scenario = { name: "decoy names", run };
