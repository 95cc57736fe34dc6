import { mcp } from "surface-mcp";

import type { NotesDirectory } from "./notes-directory.ts";
import { createNotesHandlers } from "./notes-handlers.ts";
import { notes } from "./notes-surface.ts";

/** The whole MCP server: the surface, what implements it, and two tools for hosts that show agents no resources. */
export function createNotesApp(directory: NotesDirectory) {
  return mcp(notes, {
    title: "Notes",
    instructions: "Notes in plain files. People edit them too: read before you edit.",
  })
    .implement(createNotesHandlers(directory))
    .pull();
}
