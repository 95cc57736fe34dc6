import type { FinalValue } from "./backend-protocol.ts";
import type { CycleHistory, ViewHistory, Violation } from "./history.ts";
import { tellStory } from "./tell-story.ts";

/** What is wrong with what a follower knows, now that everything is quiet. */
function judge({ joins, notices, text }: ViewHistory, final: FinalValue): string | undefined {
  const { changedAt } = final;
  // Who has subscribed after it reads once, and needs no notice.
  if (changedAt !== null && ![...joins, ...notices].some((at) => at >= changedAt))
    return "was not announced after its last change";
  return text === final.text ? undefined : `was last seen as ${String(text)} where it is ${String(final.text)}`;
}

/** Once everything is quiet, whoever follows a URI was told of its last change, and a read gives its last value. */
export function* checkViews(history: CycleHistory): Generator<Violation> {
  const { finals, views, lastReads } = history;
  const byUri = new Map(finals.map((final) => [final.uri, final]));
  for (const view of views) {
    const final = byUri.get(view.uri);
    const text = final === undefined ? "is unknown to the backend" : judge(view, final);
    if (text === undefined) continue;
    yield { check: "no lost change", subject: view.name, text, story: tellStory(history, view.uri) };
  }
  for (const [uri, final] of byUri) {
    const read = lastReads.get(uri);
    if (read === final.text) continue;
    const text = `was read as ${String(read)} where it is ${String(final.text)}`;
    yield { check: "last value", subject: uri, text, story: tellStory(history, uri) };
  }
}
