import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import type { MemberOfKind } from "../surface/member.ts";
import { syntheticFields } from "../tags/synthetic-fields.ts";
import type { ToolInput } from "./entry.ts";
import { originOf, type Exposed } from "./mapping.ts";
import { splitFields } from "./tool-input.ts";

/** The kinds of members that can be tools. */
export type ToolKind = "procedure" | "event" | "stream";

/**
 * Returns a function that makes of arguments off the wire what the owner will make of them, by the schema of the member here: the
 * owner's is taken to be the same. The arguments of the kind, such as `max_items`, are left out.
 */
export function toPreview(exposed: Exposed<MemberOfKind<ToolKind>>, own: ToolInput): (args: JsonObject) => unknown {
  const { kind, input } = exposed.member;
  const names: readonly string[] = kind === "procedure" ? [] : syntheticFields[kind];
  const origin = originOf(exposed);
  return (args) => checkInput(input, own.decode(splitFields(args, names)[0]), origin);
}
