import type { AskKind, ClientAsk } from "../../catalog/asking.ts";
import type { JsonObject } from "../../schema/json.ts";

/** How a kind of question travels, and how long it may take, in milliseconds: a program looks, a model writes, a person reads. */
const kinds: Readonly<Record<AskKind, { readonly method: string; readonly timeoutMs: number }>> = {
  elicit: { method: "elicitation/create", timeoutMs: 300_000 },
  sample: { method: "sampling/createMessage", timeoutMs: 60_000 },
  roots: { method: "roots/list", timeoutMs: 10_000 },
};

/** How long the answer to a question of a kind may take, in milliseconds. */
export function askTimeoutOf(kind: AskKind): number {
  return kinds[kind].timeoutMs;
}

/** A question as a request of the protocol: its method and params. */
export function toAskRequest({ kind, params }: ClientAsk): JsonObject {
  const { method } = kinds[kind];
  return Object.keys(params).length === 0 ? { method } : { method, params };
}
