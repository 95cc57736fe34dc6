import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import type { MemberOfKind } from "../surface/member.ts";
import { syntheticFields } from "../tags/synthetic-fields.ts";
import type { EntryGuard, ToolEntry, ToolInput } from "./entry.ts";
import { originOf, type Exposed } from "./mapping.ts";
import { splitFields } from "./tool-input.ts";

/** The kinds of members that can be tools. */
export type ToolKind = "procedure" | "event" | "stream";

/**
 * How the face of a member's tool knows what the owner will make of an argument that names a thing: by the schema of its own
 * definition, which the owner's is taken to be. Nothing where its callers need no right to such a thing.
 */
export function toPreview(
  exposed: Exposed<MemberOfKind<ToolKind>>,
  own: ToolInput,
  { requires }: EntryGuard,
): Pick<ToolEntry, "preview"> {
  if (requires?.resource?.argument === undefined) return {};
  const { kind, input } = exposed.member;
  const names: readonly string[] = kind === "procedure" ? [] : syntheticFields[kind];
  const origin = originOf(exposed);
  return { preview: (args: JsonObject) => checkInput(input, own.decode(splitFields(args, names)[0]), origin) };
}
