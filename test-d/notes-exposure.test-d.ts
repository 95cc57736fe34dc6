import { expectError, expectType } from "tsd";
import { mcp, type MutatingToolNames, type ResourceNames, type ToolNames } from "surface-mcp";
import type { createNotesApp } from "../examples/notes/app.ts";
import { notes } from "../examples/notes/notes-surface.ts";

type App = ReturnType<typeof createNotesApp>;
declare const tools: ToolNames<App>;
declare const resources: ResourceNames<App>;
declare const mutating: MutatingToolNames<App>;

// What an agent can reach, in full: one more, or one less, and this does not compile.
expectType<
  | "changed"
  | "note_search"
  | "note_add"
  | "note_edit"
  | "note_remove"
  | "read_resource" // these two are pull()'s, and reach resources only
  | "wait_for_change"
>(tools);
expectType<"notes">(resources);
expectType<"note_add" | "note_edit" | "note_remove">(mutating);

// What must not compile: were one of these legal one day, this would fail.
expectError(mcp(notes).expose({ "note.remove": "tool" })); // has a tag already
expectError(mcp(notes).expose({ "note.purge": "tool" })); // is no member
