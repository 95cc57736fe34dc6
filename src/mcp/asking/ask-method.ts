import type { AskKind, ClientAsk } from "../../catalog/asking.ts";
import type { JsonObject } from "../../schema/json.ts";

/** The protocol methods of questions, by kind. */
const methods: Readonly<Record<AskKind, string>> = {
  elicit: "elicitation/create",
  sample: "sampling/createMessage",
  roots: "roots/list",
};

/** Returns a question as a request of the protocol: its method and params. */
export function toAskRequest({ kind, params }: ClientAsk): JsonObject {
  const method = methods[kind];
  return Object.keys(params).length === 0 ? { method } : { method, params };
}
