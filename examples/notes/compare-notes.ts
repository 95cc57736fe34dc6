import type { Change, Note } from "./note.ts";

type Notes = ReadonlyMap<string, Note>;

/** What one reading of the directory has that the one before did not. */
export interface Compared {
  /** The newer one, with the older one's objects for notes that say the same: so watchers of those hear nothing. */
  readonly notes: Notes;
  readonly changes: readonly Change[];
}

/** Compares two readings of a directory, note by note. */
export function compareNotes(before: Notes, after: Notes): Compared {
  const changes: Change[] = [];
  const notes = new Map<string, Note>();
  for (const [id, note] of after) {
    const known = before.get(id);
    const same = known?.text === note.text;
    notes.set(id, same ? known : note);
    if (!same) changes.push({ id, change: known === undefined ? "added" : "edited" });
  }
  for (const id of before.keys()) if (!after.has(id)) changes.push({ id, change: "removed" });
  return { notes, changes };
}
