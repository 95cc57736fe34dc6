import type { JsonObject } from "../../schema/json.ts";
import { listNames, type ListName } from "../lists.ts";
import { toRpcResult, writeJson, type RequestId, type RpcAnswer } from "../protocol.ts";

/** A list that can change. There is one object for each. */
export interface ListTopic {
  readonly list: ListName;
}

/** The topic of a notice: a resource, by its URI, or a list. */
export type Topic = string | ListTopic;

const listTopics: ReadonlyMap<ListName, ListTopic> = new Map(listNames.map((list) => [list, Object.freeze({ list })]));

/** Returns the topics of some lists, in the order of all lists. */
export function topicsOfLists(lists: ReadonlySet<ListName>): readonly ListTopic[] {
  return [...listTopics.values()].filter(({ list }) => lists.has(list));
}

/** Returns the topics that are resources. */
export function urisOf(topics: Iterable<Topic>): readonly string[] {
  return [...topics].filter((topic) => typeof topic === "string");
}

/** Writes the member of a `_meta` that names the subscription of a message. The id is echoed as it came. */
function stamp(id: RequestId): string {
  return `"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}`;
}

/** Writes the notification of a change, from 2026-07-28 on with the subscription that it belongs to. */
export function renderChange(topic: Topic, id: RequestId | undefined): string {
  if (typeof topic === "string") {
    const meta = id === undefined ? "" : `,"_meta":{${stamp(id)}}`;
    return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":${writeJson(topic)}${meta}}}`;
  }
  const params = id === undefined ? "" : `,"params":{"_meta":{${stamp(id)}}}`;
  return `{"jsonrpc":"2.0","method":"notifications/${topic.list}/list_changed"${params}}`;
}

/** Writes the notification that opens a subscription, with the filter that is honoured. */
export function renderAcknowledgement(id: RequestId, honoured: JsonObject): string {
  const params = `"notifications":${writeJson(honoured)},"_meta":{${stamp(id)}}`;
  return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{${params}}}`;
}

/** Returns the empty result by which the server ends a subscription. */
export function toListenEnd(id: RequestId): RpcAnswer {
  return toRpcResult("", { meta: stamp(id) });
}
