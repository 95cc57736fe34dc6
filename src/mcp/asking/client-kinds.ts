import type { AskKind } from "../../catalog/asking.ts";
import { isJsonObject } from "../../schema/json.ts";
import { ownParam } from "../protocol.ts";

const none: ReadonlySet<AskKind> = new Set();

/** Whether a client shows forms: it says so, or says nothing of how it asks, as all did before there was another way. */
function showsForms(elicitation: unknown): boolean {
  if (!isJsonObject(elicitation)) return false;
  return isJsonObject(ownParam(elicitation, "form")) || ownParam(elicitation, "url") === undefined;
}

/** What a client can be asked, by the capabilities that it says it has. */
export function clientKinds(capabilities: unknown): ReadonlySet<AskKind> {
  if (!isJsonObject(capabilities)) return none;
  const kinds = new Set<AskKind>();
  if (showsForms(ownParam(capabilities, "elicitation"))) kinds.add("elicit");
  if (isJsonObject(ownParam(capabilities, "sampling"))) kinds.add("sample");
  if (isJsonObject(ownParam(capabilities, "roots"))) kinds.add("roots");
  return kinds;
}
