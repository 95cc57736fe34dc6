import type { Implementation } from "surface-mcp";

import type { NotesDirectory } from "./notes-directory.ts";
import type { NotesSpec } from "./notes-surface.ts";
import { searchNotes } from "./search-notes.ts";

/** Implements the surface over a directory, which stays its caller's to close. */
export function createNotesHandlers(directory: NotesDirectory): Implementation<NotesSpec> {
  return {
    notes: directory.notes,
    changed: (_none, { signal }) => directory.changes(signal),
    "note.search": ({ words }) => searchNotes(directory.notes.get(), words),
    "note.add": ({ id, text }) => directory.add(id, text),
    "note.edit": ({ id, text }) => directory.edit(id, text),
    "note.remove": ({ id }) => directory.remove(id),
  };
}
