import { defaultOnDisconnect } from "../tags/tool-options.ts";
import { toEntryScopes } from "./entry-scopes.ts";
import type { EntryLooks, ToolEntry, ToolHints } from "./entry.ts";
import { originOf, wordsOf, type Exposed } from "./mapping.ts";
import { toWireName } from "./wire-name.ts";

/** What the tools of all members share: who they are, who may call them, and that the live surface validates. */
export type ToolHead = EntryLooks &
  Pick<ToolEntry, "id" | "name" | "origin" | "title" | "description" | "hints" | "scopes" | "onDisconnect" | "owner">;

/** The head of an exposed member's tool. @throws SurfaceError `INVALID_NAME`. */
export function toToolHead(exposed: Exposed, hints: ToolHints): ToolHead {
  const { key, scopes, options } = exposed;
  const origin = originOf(exposed);
  return {
    id: key,
    name: toWireName(key, { origin }),
    origin,
    ...wordsOf(exposed),
    hints,
    scopes: toEntryScopes(hints.readOnlyHint ? scopes.read : scopes.write, options),
    onDisconnect: options.onDisconnect ?? defaultOnDisconnect,
    owner: "surface",
  };
}
