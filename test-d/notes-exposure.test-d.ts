import { expectError } from "tsd";
import { mcp, type Exactly, type MutatingToolNames, type ResourceNames, type ToolNames } from "surface-mcp";
import type { createNotesApp } from "../examples/notes/app.ts";
import { notes } from "../examples/notes/notes-surface.ts";

type App = ReturnType<typeof createNotesApp>;
// Everything that an agent can reach. One name more or one less does not compile.
export const tools: Exactly<
  ToolNames<App>,
  | "changed"
  | "note_search"
  | "note_add"
  | "note_edit"
  | "note_remove"
  | "read_resource" // pull() adds this tool and the next; they only read exposed resources
  | "wait_for_change"
> = true;
export const resources: Exactly<ResourceNames<App>, "notes"> = true;
export const mutating: Exactly<MutatingToolNames<App>, "note_add" | "note_edit" | "note_remove"> = true;

// What must not compile: were one of these legal one day, this would fail.
expectError(mcp(notes).expose({ "note.remove": "tool" })); // has a tag already
expectError(mcp(notes).expose({ "note.purge": "tool" })); // is no member
