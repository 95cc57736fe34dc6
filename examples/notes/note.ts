import { z } from "zod";

/** What a note is called, and its file with `.md` behind it: nothing that passes can leave the directory. */
export const NoteId = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "lower-case letters and digits, in words joined by -");

/** What a note says. */
export const NoteText = z.string().min(1).max(64_000);

/** A note as it is read. */
export const Note = z.object({
  title: z.string().describe("Its first line"),
  text: z.string(),
  edited: z.date(),
});

/** A note as it is read. */
export type Note = z.infer<typeof Note>;

/** What has happened to a note, whoever did it. */
export const Change = z.object({ id: NoteId, change: z.enum(["added", "edited", "removed"]) });

/** What has happened to a note. */
export type Change = z.infer<typeof Change>;

/** A note that a search has found, with the line that says why. */
export const Hit = z.object({ id: NoteId, title: z.string(), line: z.string() });
