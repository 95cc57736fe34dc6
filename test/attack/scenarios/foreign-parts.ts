import { setTimeout as wait } from "node:timers/promises";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";
import { tenantOf, tenants } from "../targets.ts";

/** A part of a large answer, and who was given it. */
interface Part {
  readonly uri: string;
  readonly owner: string;
  readonly view: string;
  readonly rules: number;
}

const views = ["open", "narrow"];

/** Returns the handles of parts in an answer, wherever they stand. */
function handlesIn(text: string): readonly string[] {
  return [...new Set(text.match(/surface:\/\/[^"\\\s]*_parts\/[^"\\\s]+/g))];
}

/** Calls the tool with the large answer, and again after the time that the rate limit says. */
async function report(
  target: Attack["target"],
  as: { readonly token: string; readonly view: string },
): Promise<string> {
  for (;;) {
    const { text } = await target.ask("tools/call", { name: "report", arguments: {} }, as);
    const [, ms] = /RATE_LIMITED: too many calls: wait (\d+) ms/.exec(text) ?? [];
    if (ms === undefined) return text;
    await wait(Number(ms));
  }
}

async function collect({ target }: Attack, rules: number): Promise<readonly Part[]> {
  const asks = tenants.flatMap(({ token }) => views.map((view) => ({ token, view })));
  const found = await Promise.all(
    asks.map(async ({ token, view }) => {
      const text = await report(target, { token, view });
      return handlesIn(text).map((uri) => ({ uri, owner: token, view, rules }));
    }),
  );
  return found.flat();
}

/** Returns whether an answer holds content of the report, and whose. */
function ownerIn(text: string): string | undefined {
  return /<owner ([^>]+)>/.exec(text)?.[1];
}

async function run(attack: Attack): Promise<Finding> {
  const { target, random, runs } = attack;
  const breaks: string[] = [];
  let own = 0;
  let given = 0;
  const rounds = 10;
  for (let rules = 0; rules < rounds; rules += 1) {
    await target.report({ rules });
    const parts = await collect(attack, rules);
    given += parts.length;
    if (parts.length === 0) return { tried: "", breaks: ["no answer came in parts: nothing was tried"] };
    await target.report({ rules: rules % 2 === 0 ? rules : rules + 1 });
    await inParallel(runs / rounds, async () => {
      const part = random.pick(parts);
      const { token, identity } = random.pick(tenants);
      const view = random.pick(views);
      const read = { uri: part.uri };
      const { text } =
        random.below(2) === 0
          ? await target.ask("resources/read", read, { token, view })
          : await target.ask("tools/call", { name: "read_resource", arguments: read }, { token, view });
      const owner = ownerIn(text);
      if (owner === undefined) return;
      own += 1;
      if (part.owner !== token || owner !== tenantOf(identity)) breaks.push(`${token} read a part of ${part.owner}`);
      // The rules of "narrow" changed after the answer in every second round.
      if (part.view === "narrow" && rules % 2 === 1) breaks.push(`a part outlived the rules of its view`);
    });
  }
  if (own === 0) breaks.push("no part was read by its own caller: nothing was tried");
  return { tried: `${runs} reads of ${given} parts by ${tenants.length} callers; ${own} by their own`, breaks };
}

/** A part of a large answer belongs to one caller, and to the rules it was made under. */
export const foreignParts: Scenario = { name: "foreign parts", run };
