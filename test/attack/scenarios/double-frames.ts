import { legacy, modern } from "../post.ts";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";

const answers: readonly unknown[] = [{}, null, 0, "", "ok", [], { code: -1, message: "no" }, false, { content: [] }];

/** Returns a request with `result`, `error` or both at random places among its members. */
function mix(body: string, { random }: Attack): string {
  const members = Object.entries(JSON.parse(body));
  const names = random.pick([["result"], ["error"], ["result", "error"]]);
  for (const name of names) members.splice(random.below(members.length + 1), 0, [name, random.pick(answers)]);
  return JSON.stringify(Object.fromEntries(members));
}

async function run(attack: Attack): Promise<Finding> {
  const { target, random, runs } = attack;
  const session = await target.openSession();
  const breaks: string[] = [];
  await inParallel(runs, async () => {
    const call = { name: "bump", arguments: { by: 1 } };
    const init = random.below(2) === 0 ? modern("tools/call", call) : legacy("tools/call", call, session);
    const body = mix(init.body, attack);
    const { status, text } = await target.send({ ...init, body });
    if (!text.includes("-32600")) breaks.push(`answered ${status} ${text.slice(0, 100)} to ${body.slice(0, 200)}`);
  });
  const ran = (await target.report())?.bumped ?? 0;
  if (ran > 0) breaks.unshift(`${ran} frames that are request and response ran`);
  return { tried: `${runs} frames that are request and response`, breaks };
}

/** Frames that are a request and a response at once must be refused, and run nothing. */
export const doubleFrames: Scenario = { name: "double frames", run };
