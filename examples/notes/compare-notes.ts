import type { Change, Note } from "./note.ts";
import type { Reading } from "./read-notes.ts";

type Notes = ReadonlyMap<string, Note>;

/** What is known of a directory. */
export interface Known {
  readonly notes: Notes;
  /** Notes that are there and cannot be read now, as they were when they could: they are not removed. */
  readonly hidden: Notes;
}

/** What one reading of the directory has that the one before did not. */
export interface Compared extends Known {
  /** The newer one, with the older one's objects for notes that say the same: so watchers of those hear nothing. */
  readonly notes: Notes;
  readonly changes: readonly Change[];
}

/** Compares a reading of a directory with what was known before, note by note. */
export function compareNotes(before: Known, after: Reading): Compared {
  const changes: Change[] = [];
  const notes = new Map<string, Note>();
  const hidden = new Map<string, Note>();
  const known = new Map([...before.notes, ...before.hidden]);
  for (const [id, note] of after.notes) {
    const last = known.get(id);
    const same = last?.text === note.text;
    notes.set(id, same ? last : note);
    if (!same) changes.push({ id, change: last === undefined ? "added" : "edited" });
  }
  for (const [id, note] of known) {
    if (after.unreadable.has(id)) hidden.set(id, note);
    else if (!after.notes.has(id)) changes.push({ id, change: "removed" });
  }
  return { notes, hidden, changes };
}
