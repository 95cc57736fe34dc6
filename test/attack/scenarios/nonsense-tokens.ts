import type { Attack, Finding, Scenario } from "../scenario.ts";
import { tenants } from "../targets.ts";

/** More than any number of verifications that a server runs at once. */
const atOnce = 384;

async function run({ target, random, runs }: Attack): Promise<Finding> {
  const breaks: string[] = [];
  // Known before the flood, as a server that runs for a while knows its clients.
  for (const { token } of tenants) await target.ask("tools/list", {}, { token });
  let left = runs;
  const isOn = (): boolean => left > 0;
  let honest = 0;
  const knock = async (): Promise<void> => {
    while (isOn()) {
      left -= 1;
      const headers = { authorization: `Bearer ${random.text(32)}`, "content-type": "application/json" };
      const answer = await fetch(target.url, { method: "POST", headers, body: "{}" }).catch(() => undefined);
      await answer?.text().catch(() => "");
      if (answer?.status === 200) breaks.push("a random token was let in");
    }
  };
  const flood = Promise.all(Array.from({ length: atOnce }, knock));
  while (isOn()) {
    const { token } = random.pick(tenants);
    const { status } = await target.ask("tools/list", {}, { token });
    honest += 1;
    if (status !== 200) breaks.push(`a good token was answered ${status} during the flood`);
  }
  await flood;
  return { tried: `${runs} random tokens, ${atOnce} at once; ${honest} good requests meanwhile`, breaks };
}

/** Tokens that nobody has must not lock out those who have one. */
export const nonsenseTokens: Scenario = { name: "nonsense tokens", run };
