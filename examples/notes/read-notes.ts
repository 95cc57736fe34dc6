import type { Dirent } from "node:fs";
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

/** What a directory holds. */
export interface Reading {
  /** Every note, sorted by id. */
  readonly notes: ReadonlyMap<string, Note>;
  /** Ids that something has which cannot be read as a note: it is too large, for example, or no plain file. */
  readonly unreadable: ReadonlySet<string>;
}

/** One note; `undefined` where it cannot be read, and `"gone"` where somebody has removed it between two of these steps. */
async function readNote(file: string): Promise<Note | "gone" | undefined> {
  try {
    const { size, mtime } = await stat(file);
    if (size > maxBytes) return undefined;
    const text = await readFile(file, "utf8");
    return { title: toTitle(text), text, edited: mtime };
  } catch (error) {
    return isMissing(error) ? "gone" : undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

async function readEntries(dir: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (error) {
    // A directory that somebody has removed holds nothing.
    if (isMissing(error)) return [];
    throw error;
  }
}

function toId({ name }: Dirent): string {
  return name.slice(0, -suffix.length);
}

/** Reads a directory. What has another name than a note has is left alone, and what is no plain file is not followed. */
export async function readNotes(dir: string): Promise<Reading> {
  const entries = (await readEntries(dir))
    .filter((entry) => entry.name.endsWith(suffix) && NoteId.safeParse(toId(entry)).success)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const notes = new Map<string, Note>();
  const unreadable = new Set<string>();
  for (const entry of entries) {
    const id = toId(entry);
    const note = entry.isFile() ? await readNote(fileOf(dir, id)) : undefined;
    if (note === undefined) unreadable.add(id);
    else if (note !== "gone") notes.set(id, note);
  }
  return { notes, unreadable };
}
