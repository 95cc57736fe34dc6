import { listNames, type ListName } from "../lists.ts";
import type { ResourceWatcher } from "../servable-app.ts";

/** A list, which can change like what is in it. There is one object for each. */
export interface ListTopic {
  readonly list: ListName;
}

/** What a change can be announced of: a resource by its URI, or a list. */
export type Topic = string | ListTopic;

const listTopics: ReadonlyMap<ListName, ListTopic> = new Map(listNames.map((list) => [list, Object.freeze({ list })]));

/** The topics of some lists, in the order in which all are named. */
export function topicsOfLists(lists: ReadonlySet<ListName>): readonly ListTopic[] {
  return [...listTopics.values()].filter(({ list }) => lists.has(list));
}

/** Those of some topics that are resources. Lists are not counted: there are three at most. */
export function urisOf(topics: Iterable<Topic>): readonly string[] {
  return [...topics].filter((topic) => typeof topic === "string");
}

/** What is told of a topic. */
export interface TopicEvents {
  changed(): void;
  /** Told once, maybe at once: from then on no change is missed; `false` where there cannot be anything. */
  opened(isThere: boolean): void;
}

/** Watches a topic. Returns what ends it, or `undefined` where there is nothing to watch. */
export function watchTopic(topic: Topic, resources: ResourceWatcher, events: TopicEvents): (() => void) | undefined {
  const changed = (): void => events.changed();
  if (typeof topic === "string") return resources.watch(topic, changed, (isThere) => events.opened(isThere));
  const end = resources.watchList(topic.list, changed);
  events.opened(true);
  return end;
}
