import { isJsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import type { Completer } from "./entry.ts";

/** The values that a schema lists, in its own order; `undefined` where it lists none. */
function listedValues(json: JsonSchema): readonly JsonValue[] | undefined {
  if (json["const"] !== undefined) return [json["const"]];
  if (Array.isArray(json["enum"])) return json["enum"];
  if (json["type"] === "boolean") return [true, false];
  const arms = json["anyOf"] ?? json["oneOf"];
  if (!Array.isArray(arms)) return undefined;
  const listed = arms.flatMap((arm) => (isJsonObject(arm) ? [listedValues(arm)] : []));
  // One arm that takes anything else leaves the others as proposals.
  const values = listed.flatMap((each) => each ?? []);
  return values.length === 0 ? undefined : values;
}

/** Proposes what a schema itself lists: an enum, a constant, true and false. `undefined` where it lists nothing. */
export function toSchemaCompleter(json: JsonSchema): Completer | undefined {
  const values = listedValues(json)?.filter((value) => typeof value !== "object");
  if (values === undefined || values.length === 0) return undefined;
  const texts = Object.freeze(values.map(String));
  return () => texts;
}
