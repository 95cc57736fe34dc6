import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { NoteId } from "./note.ts";
import type { Note } from "./note.ts";

/** More is no note: a directory that people put files into must not fill the memory. */
const maxBytes = 256 * 1024;
const suffix = ".md";

/** The file of a note. @throws ZodError for an id that is none, before it is a path. */
export function fileOf(dir: string, id: string): string {
  return join(dir, NoteId.parse(id) + suffix);
}

function toTitle(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  return line.replace(/^#+/, "").trim().slice(0, 80);
}

/** One note, or `undefined` where it cannot be read now: somebody may remove it between two of these steps. */
async function readNote(file: string): Promise<Note | undefined> {
  try {
    const { size, mtime } = await stat(file);
    if (size > maxBytes) return undefined;
    const text = await readFile(file, "utf8");
    return { title: toTitle(text), text, edited: mtime };
  } catch {
    return undefined;
  }
}

/** Every note of a directory, sorted by id. What is no plain file, or has another name than a note has, is left alone. */
export async function readNotes(dir: string): Promise<ReadonlyMap<string, Note>> {
  const entries = await readdir(dir, { withFileTypes: true });
  const ids = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => entry.name.slice(0, -suffix.length))
    .filter((id) => NoteId.safeParse(id).success);
  const found = new Map<string, Note>();
  for (const id of ids.toSorted()) {
    const note = await readNote(fileOf(dir, id));
    if (note !== undefined) found.set(id, note);
  }
  return found;
}
