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
 * How the face of a member's tool knows what the owner will make of its arguments: by the schema of its own definition, which the
 * owner's is taken to be. Of streams and events, which take arguments besides those of their members, only where callers need the
 * right to a thing that one of them names.
 */
export function toPreview(
  exposed: Exposed<MemberOfKind<ToolKind>>,
  own: ToolInput,
  { requires }: EntryGuard,
): Pick<ToolEntry, "preview"> {
  if (exposed.member.kind !== "procedure" && requires?.resource?.argument === undefined) return {};
  return { preview: previewOf(exposed, own) };
}

/** Returns a function that validates arguments off the wire against the schema of the member, and leaves out those of its kind. */
export function previewOf(exposed: Exposed<MemberOfKind<ToolKind>>, own: ToolInput): (args: JsonObject) => unknown {
  const { kind, input } = exposed.member;
  const names: readonly string[] = kind === "procedure" ? [] : syntheticFields[kind];
  const origin = originOf(exposed);
  return (args) => checkInput(input, own.decode(splitFields(args, names)[0]), origin);
}
