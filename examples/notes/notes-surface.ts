import { collection, defineSurface, event, mcpResource, mcpTool, procedure, readOnly } from "surface-mcp";
import { z } from "zod";

import { Change, Hit, Note, NoteId, NoteText } from "./note.ts";

/** What there is to touch, as data: what it does is in `notes-handlers.ts`. Every member has a tag, so agents reach all. */
export const notes = defineSurface("notebook", {
  notes: mcpResource(collection({ key: NoteId, schema: Note, description: "Every note, by its id" }), {
    listItems: true, // few and picked by people, so hosts list each
  }),
  changed: mcpTool(event({ output: Change, description: "Wait until a note is added, edited or removed, by anybody" })),
  "note.search": readOnly(
    mcpTool(
      procedure({
        description: "Find notes that have all of the words, 20 at most",
        input: z.object({ words: z.string().max(200) }),
        output: z.object({ found: z.array(Hit), more: z.number().int().describe("How many were left out") }),
      }),
    ),
  ),
  "note.add": mcpTool(
    procedure({
      description: "Write a new note; an id that is taken is refused",
      input: z.object({ id: NoteId, text: NoteText }),
      output: Note,
    }),
    { destructive: false },
  ),
  "note.edit": mcpTool(
    procedure({
      description: "Replace the text of a note",
      input: z.object({ id: NoteId, text: NoteText }),
      output: Note,
    }),
    { idempotent: true },
  ),
  "note.remove": mcpTool(procedure({ description: "Remove a note for good", input: z.object({ id: NoteId }) })),
});

/** The members of {@link notes}. */
export type NotesSpec = typeof notes.members;
