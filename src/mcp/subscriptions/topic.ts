import type { ResourceWatcher } from "../servable-app.ts";

/** The list of resources, which can change like the resources in it. */
export const kResourceList: unique symbol = Symbol("the list of resources");

/** What a change can be announced of: a resource by its URI, or the list of them. */
export type Topic = string | typeof kResourceList;

/** What is told of a topic. */
export interface TopicEvents {
  changed(): void;
  /** Told once, maybe at once: from then on no change is missed; `false` where there cannot be anything. */
  opened(isThere: boolean): void;
}

/** Watches a topic. Returns what ends it, or `undefined` where there is nothing to watch. */
export function watchTopic(topic: Topic, resources: ResourceWatcher, events: TopicEvents): (() => void) | undefined {
  const changed = (): void => events.changed();
  if (topic !== kResourceList) return resources.watch(topic, changed, (isThere) => events.opened(isThere));
  // A list that nobody can watch is one that never changes.
  const end = resources.watchList?.(changed) ?? (() => {});
  events.opened(true);
  return end;
}
