import { setTimeout as delay } from "node:timers/promises";

import { assertPromised, toList, type Scene } from "./scene.ts";
import { toViewRules } from "./view-rules.ts";

const POLL_MS = 20;
/** How long a notice may be on its way. */
const PATIENCE_MS = 5000;
/** How long those are listened to who are to be told nothing: longer than notices are gathered. */
const SILENCE_MS = 500;

function toTimes(count: number): string {
  return count === 0 ? "never" : count === 1 ? "once" : `${count} times`;
}

/** Lets the reviewer see one more tool while everybody is connected: whose tools are others is told, and nobody else. */
export async function showNewRules({ cast, printer, replaceRules }: Scene): Promise<void> {
  const { reviewer, executor, hub } = cast;
  const before = await reviewer.tools();
  replaceRules(toViewRules({ reviewerSeesNodes: true }));
  const endAt = performance.now() + PATIENCE_MS;
  while (reviewer.told === 0 && performance.now() < endAt) await delay(POLL_MS);
  const after = await reviewer.tools();
  const more = after.filter((tool) => !before.includes(tool));
  const shown = await reviewer.call("node_show", { node: "hello" });
  await delay(SILENCE_MS);
  const { paint } = printer;
  printer.step("other rules are in force: the reviewer may look at single nodes", [
    `  ${paint("name", reviewer.name)} is told ${toTimes(reviewer.told)} that its tools are others, and sees ${toList(more)} besides`,
    `  ${executor.name} is told so ${toTimes(executor.told)}, ${hub.name} ${toTimes(hub.told)}: nothing is other for them`,
  ]);
  assertPromised(reviewer.told === 1 && toList(more) === "node_show" && shown.ok, "the reviewer is told, once");
  assertPromised(executor.told === 0 && hub.told === 0, "nobody else is told");
}
