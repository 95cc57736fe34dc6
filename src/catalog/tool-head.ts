import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import type { SurfaceClient } from "../surface/client.ts";
import type { MemberOfKind } from "../surface/member.ts";
import { defaultOnDisconnect, syntheticFields, type Confirm, type ToolOptions } from "../tags/tool-options.ts";
import { toConfirmFunction, toConfirmRule, toConfirmWord } from "../tags/confirm.ts";
import type { Effect } from "../tags/tag-of.ts";
import { assertResourceArgument } from "./entry-scopes.ts";
import type { ToolEntry, ToolHints, ToolInput } from "./entry.ts";
import { toEntryHead, type EntryHead, type ExposedMember } from "./kinds/mapping.ts";
import { runHandler } from "./context/tool-context.ts";
import { splitFields } from "./tool-schemas.ts";
import { toWireName } from "./wire-name.ts";

/** Returns the hints of a tool. Hints that the author left out assume the worse: the tool mutates, and destroys. */
export function toToolHints(effect: Effect, options: ToolOptions): ToolHints {
  const mutates = options.mutates ?? effect !== "read";
  return Object.freeze({
    readOnlyHint: !mutates,
    // The protocol gives it a meaning only for tools that mutate.
    destructiveHint: mutates && options.destructive !== false,
    idempotentHint: options.idempotent ?? !mutates,
    openWorldHint: options.openWorld ?? false,
  });
}

/** The nested calls that a tool may make. */
export interface NestingOptions {
  /**
   * The tools that its handler may call by `context.call`: ids or names on the wire, as patterns with `*` and `?`. Tools that views
   * hide from callers can be called too. In `.tools()`, a name without `*` and `?` must be a tool of the app or begin as those of a
   * mount; otherwise the app does not open.
   * @default none
   */
  readonly canCall?: readonly string[];
  /**
   * The scopes of these calls, in place of the caller's.
   * @default the scope for reading, and that for writing if the tool may change something
   */
  readonly callScopes?: readonly string[];
}

/** Returns frozen copies, which the author cannot change. */
export function freezeNesting(
  { canCall, callScopes }: NestingOptions,
  byDefault: readonly string[],
): Pick<ToolEntry, "canCall" | "callScopes"> {
  return {
    ...(canCall === undefined ? {} : { canCall: Object.freeze([...canCall]) }),
    callScopes: Object.freeze([...(callScopes ?? byDefault)]),
  };
}

/** Returns the fields of an entry that the option `confirm` sets. */
export function confirmFields(
  confirm: Confirm | undefined,
  client: SurfaceClient<unknown>,
  origin: string,
): Pick<ToolEntry, "confirm" | "confirmWord" | "confirmText"> {
  const write = toConfirmFunction(confirm);
  return {
    confirm: toConfirmRule(confirm),
    confirmWord: toConfirmWord(confirm),
    confirmText: write && (({ input, caller }) => runHandler<unknown>(() => write(input, { client, caller }), origin)),
  };
}

/** The fields of the tools of all members. */
type ToolHead = EntryHead &
  Pick<ToolEntry, "name" | "hints" | "onDisconnect" | "confirm" | "confirmWord" | "confirmText" | "owner" | "preview">;

/** A member that can be a tool. */
type ExposedTool = ExposedMember<MemberOfKind<"procedure" | "event" | "stream">>;

/**
 * Returns a function that validates arguments by the schema of the member in this process, as the owner will. It leaves out the
 * arguments that every tool of the kind takes, such as `max_items`.
 */
function toPreview({ member }: ExposedTool, own: ToolInput, origin: string): (args: JsonObject) => unknown {
  const { kind, input } = member;
  const names: readonly string[] = kind === "procedure" ? [] : syntheticFields[kind];
  return (args) => checkInput(input, own.decode(splitFields(args, names)[0]), origin);
}

/** Returns the fields of the tools of all members. @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION`. */
export function toToolHead(exposed: ExposedTool, hints: ToolHints, own: ToolInput): ToolHead {
  const { scopes, options, client } = exposed;
  const head = toEntryHead(exposed, hints.readOnlyHint ? scopes.read : scopes.write);
  const { id, origin } = head;
  assertResourceArgument(head, own, origin);
  return {
    ...head,
    name: toWireName(id, { origin }),
    hints,
    onDisconnect: options.onDisconnect ?? defaultOnDisconnect,
    ...confirmFields(options.confirm, client, origin),
    owner: "surface",
    preview: toPreview(exposed, own, origin),
  };
}
