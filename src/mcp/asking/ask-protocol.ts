import type { AskKind, InputRequest } from "../../catalog/asking/asking.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { ownParam } from "../protocol.ts";

/** The protocol methods of questions. */
const methods: Readonly<Record<AskKind, string>> = {
  elicit: "elicitation/create",
  sample: "sampling/createMessage",
  roots: "roots/list",
};

/** Returns a question as a request of the protocol: its method and params. */
export function toAskRequest({ kind, params }: InputRequest): JsonObject {
  const method = methods[kind];
  return Object.keys(params).length === 0 ? { method } : { method, params };
}

/** Returns whether a client shows forms: it declares `form`, or no way to show them, as before there was another way. */
function showsForms(elicitation: unknown): boolean {
  if (!isJsonObject(elicitation)) return false;
  return isJsonObject(ownParam(elicitation, "form")) || ownParam(elicitation, "url") === undefined;
}

/** Returns the kinds of questions that a client with these capabilities can answer. */
export function clientKinds(capabilities: unknown): ReadonlySet<AskKind> {
  const kinds = new Set<AskKind>();
  if (!isJsonObject(capabilities)) return kinds;
  if (showsForms(ownParam(capabilities, "elicitation"))) kinds.add("elicit");
  if (isJsonObject(ownParam(capabilities, "sampling"))) kinds.add("sample");
  if (isJsonObject(ownParam(capabilities, "roots"))) kinds.add("roots");
  return kinds;
}
