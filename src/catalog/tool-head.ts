import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import { syntheticFields } from "../tags/synthetic-fields.ts";
import { toConfirmFunction, toConfirmRule, toConfirmWord } from "../tags/confirm.ts";
import { toConfirmText } from "./confirm-text.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import { assertThingNamed, toGuard } from "./entry-scopes.ts";
import type { EntryLooks, ToolEntry, ToolHints, ToolInput } from "./entry.ts";
import type { MemberOfKind } from "../surface/member.ts";
import { originOf, wordsOf, type Exposed } from "./mapping.ts";
import { splitFields } from "./tool-input.ts";
import { toWireName } from "./wire-name.ts";

/** What the tools of all members share: who they are, who may call them, and that the live surface validates. */
export type ToolHead = EntryLooks &
  Pick<
    ToolEntry,
    | "id"
    | "name"
    | "origin"
    | "title"
    | "description"
    | "hints"
    | "scopes"
    | "requires"
    | "onDisconnect"
    | "confirm"
    | "confirmWord"
    | "confirmText"
    | "owner"
    | "preview"
  >;

/** The kinds of members that can be tools. */
type ToolKind = "procedure" | "event" | "stream";

/**
 * Returns a function that makes of arguments off the wire what the owner will make of them, by the schema of the member here: the
 * owner's is taken to be the same. The arguments of the kind, such as `max_items`, are left out.
 */
function toPreview(exposed: Exposed<MemberOfKind<ToolKind>>, own: ToolInput): (args: JsonObject) => unknown {
  const { kind, input } = exposed.member;
  const names: readonly string[] = kind === "procedure" ? [] : syntheticFields[kind];
  const origin = originOf(exposed);
  return (args) => checkInput(input, own.decode(splitFields(args, names)[0]), origin);
}

/**
 * The head of the tool of an exposed member, which takes this of its own.
 *
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION`.
 */
export function toToolHead(exposed: Exposed<MemberOfKind<ToolKind>>, hints: ToolHints, own: ToolInput): ToolHead {
  const { key, scopes, options, client } = exposed;
  const origin = originOf(exposed);
  const guard = toGuard(hints.readOnlyHint ? scopes.read : scopes.write, options);
  assertThingNamed(guard, own, origin);
  return {
    id: key,
    name: toWireName(key, { origin }),
    origin,
    ...wordsOf(exposed),
    hints,
    ...guard,
    onDisconnect: options.onDisconnect ?? defaultOnDisconnect,
    confirm: toConfirmRule(options.confirm),
    confirmWord: toConfirmWord(options.confirm),
    confirmText: toConfirmText(toConfirmFunction(options.confirm), { client, origin }),
    owner: "surface",
    preview: toPreview(exposed, own),
  };
}
