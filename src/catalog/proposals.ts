import { isJsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import type { Completer } from "./entry.ts";

/** The longest value that is proposed, in UTF-16 units. */
const maxProposalLength = 1024;

/** Proposals that are counted. A completer of a longer list stops here, and the client learns no total. */
export const maxCountedProposals = 1000;

/** Whether a text starts with what was typed, in either case, and is short enough to propose. */
export function isProposal(text: string, begunLower: string): boolean {
  return text.length <= maxProposalLength && text.toLowerCase().startsWith(begunLower);
}

/** Returns the values that a schema lists, in its order; `undefined` if it lists none. */
function listedValues(json: JsonSchema): readonly JsonValue[] | undefined {
  if (json["const"] !== undefined) return [json["const"]];
  if (Array.isArray(json["enum"])) return json["enum"];
  if (json["type"] === "boolean") return [true, false];
  const arms = json["anyOf"] ?? json["oneOf"];
  if (!Array.isArray(arms)) return undefined;
  // An arm that takes anything else leaves the others as proposals.
  const values = arms.flatMap((arm) => (isJsonObject(arm) ? (listedValues(arm) ?? []) : []));
  return values.length === 0 ? undefined : values;
}

/** Returns a completer of the values that a schema lists: an enum, a constant, true and false. `undefined` if it lists none. */
export function toSchemaCompleter(json: JsonSchema): Completer | undefined {
  const values = listedValues(json)?.filter((value) => typeof value !== "object");
  if (values === undefined || values.length === 0) return undefined;
  const texts = Object.freeze(values.map(String));
  return () => texts;
}
