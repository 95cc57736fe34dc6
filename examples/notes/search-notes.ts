import type { z } from "zod";

import type { Hit, Note } from "./note.ts";

const most = 20;

/** Finds the notes that have all of the words, in their id or their text, and leaves out what is too much to read. */
export function searchNotes(notes: ReadonlyMap<string, Note>, words: string) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found: z.infer<typeof Hit>[] = [];
  for (const [id, { title, text }] of notes) {
    const whole = `${id}\n${text}`.toLowerCase();
    if (!wanted.every((word) => whole.includes(word))) continue;
    const line = text.split("\n").find((candidate) => wanted.some((word) => candidate.toLowerCase().includes(word)));
    found.push({ id, title, line: (line ?? title).trim().slice(0, 200) });
  }
  return { found: found.slice(0, most), more: Math.max(0, found.length - most) };
}
