import type { EntryLooks, ToolEntry } from "./entry.ts";
import { originOf, wordsOf, type Exposed } from "./mapping.ts";
import { toWireName } from "./wire-name.ts";

/** What the tools of all members share: who they are, and that the live surface validates. */
export type ToolHead = EntryLooks & Pick<ToolEntry, "id" | "name" | "origin" | "title" | "description" | "owner">;

/** The head of an exposed member's tool. @throws SurfaceError `INVALID_NAME`. */
export function toToolHead(exposed: Exposed): ToolHead {
  const origin = originOf(exposed);
  const name = toWireName(exposed.key, { origin });
  return { id: exposed.key, name, origin, ...wordsOf(exposed), owner: "surface" };
}
