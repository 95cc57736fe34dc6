import type { ResourceWatcher } from "../servable-app.ts";

/** The list of resources, which can change like the resources in it. */
export const kResourceList: unique symbol = Symbol("the list of resources");

/** What a change can be announced of: a resource by its URI, or the list of them. */
export type Topic = string | typeof kResourceList;

/** Watches a topic. Returns what ends it, or `undefined` where there is nothing to watch. */
export function watchTopic(topic: Topic, resources: ResourceWatcher, changed: () => void): (() => void) | undefined {
  if (topic !== kResourceList) return resources.watch(topic, changed);
  // A list that nobody can watch is one that never changes.
  return resources.watchList === undefined ? () => {} : resources.watchList(changed);
}
