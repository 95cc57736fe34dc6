import type { JsonObject } from "../../schema/json.ts";
import { toRpcResult, writeJson, type RequestId, type RpcAnswer } from "../protocol.ts";
import type { Topic } from "./topic.ts";

/** The members of a `_meta` that say which subscription a message belongs to. The id is echoed as it came. */
function stamp(id: RequestId): string {
  return `"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}`;
}

function notification(method: string, members: readonly string[]): string {
  const params = members.length === 0 ? "" : `,"params":{${members.join(",")}}`;
  return `{"jsonrpc":"2.0","method":"notifications/${method}"${params}}`;
}

/** Writes the frame that says that a topic has changed; in the modern era with the subscription that asked for it. */
export function renderChange(topic: Topic, id: RequestId | undefined): string {
  const meta = id === undefined ? [] : [`"_meta":{${stamp(id)}}`];
  if (typeof topic !== "string") return notification(`${topic.list}/list_changed`, meta);
  return notification("resources/updated", [`"uri":${writeJson(topic)}`, ...meta]);
}

/** Writes the frame that opens a subscription: what of its filter is honoured. */
export function renderAcknowledgement(id: RequestId, honoured: JsonObject): string {
  return notification("subscriptions/acknowledged", [
    `"notifications":${writeJson(honoured)}`,
    `"_meta":{${stamp(id)}}`,
  ]);
}

/** The answer by which the server ends a subscription: an empty one that names it. */
export function toListenEnd(id: RequestId): RpcAnswer {
  return toRpcResult("", { meta: stamp(id) });
}
