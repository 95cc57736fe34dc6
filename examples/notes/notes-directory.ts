import { EventEmitter, on } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { cellSource, Refusal } from "surface-mcp";
import type { Source } from "surface-mcp";

import { compareNotes } from "./compare-notes.ts";
import { Change } from "./note.ts";
import type { Note } from "./note.ts";
import { fileOf, readNotes } from "./read-notes.ts";
import type { Reading } from "./read-notes.ts";
import { watchDirectory } from "./watch-directory.ts";
import { createWhole, replaceWhole } from "./write-whole.ts";

/** A directory of notes, which people may edit by hand as well. */
export interface NotesDirectory {
  /** Every note by its id, as the directory was when it last changed. */
  readonly notes: Source<ReadonlyMap<string, Note>>;
  /** Every change from this call on, whoever made it, until the signal fires. */
  changes(signal: AbortSignal): AsyncIterable<Change>;
  /** @throws Refusal `NOTE_EXISTS`, or `NOTE_UNREADABLE` where what has the id cannot be read as a note */
  add(id: string, text: string): Promise<Note>;
  /** @throws Refusal `UNKNOWN_NOTE` or `NOTE_UNREADABLE` */
  edit(id: string, text: string): Promise<Note>;
  /** @throws Refusal `UNKNOWN_NOTE` or `NOTE_UNREADABLE` */
  remove(id: string): Promise<void>;
  /** Stops looking at the directory, once what is being done is done. */
  close(): Promise<void>;
}

/** Runs one piece of work after the other, in the order in which it was given. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <TResult>(work: () => Promise<TResult>): Promise<TResult> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

async function* follow(announcer: EventEmitter, signal: AbortSignal): AsyncGenerator<Change> {
  for await (const [change] of on(announcer, "changed", { signal })) yield Change.parse(change);
}

/** What is known of a directory, from when it was last looked at. */
class Knowledge {
  readonly notes = cellSource<ReadonlyMap<string, Note>>(new Map());
  #hidden: ReadonlyMap<string, Note> = new Map();
  #unreadable: ReadonlySet<string> = new Set();

  /** Takes what was read, and returns what has changed. */
  update(reading: Reading): readonly Change[] {
    const before = this.notes.get();
    const { notes, hidden, changes } = compareNotes({ notes: before, hidden: this.#hidden }, reading);
    this.#hidden = hidden;
    this.#unreadable = reading.unreadable;
    if (!isSame(before, notes)) this.notes.set(notes);
    return changes;
  }

  /** @throws Refusal `UNKNOWN_NOTE` or `NOTE_UNREADABLE` */
  noteOf(id: string): Note {
    this.assertReadable(id);
    const note = this.notes.get().get(id);
    if (note === undefined) throw new Refusal("UNKNOWN_NOTE", `there is no note "${id}": search for it first`);
    return note;
  }

  /** @throws Refusal `NOTE_UNREADABLE` */
  assertReadable(id: string): void {
    if (!this.#unreadable.has(id)) return;
    const why = "is there and cannot be read as a note, it may be too large: take another id";
    throw new Refusal("NOTE_UNREADABLE", `what has the id "${id}" ${why}`);
  }
}

/**
 * Opens a directory of notes, and makes it where there is none. The files are the truth: what is here is read from them
 * after each change, so that several processes and an editor may share one directory. The caller closes it.
 */
export async function openNotesDirectory(dir: string): Promise<NotesDirectory> {
  await makeDirectory(dir);
  const announcer = new EventEmitter();
  const inTurn = createTurns();
  const known = new Knowledge();
  const watching = watchDirectory(dir, () => inTurn(look));
  const look = async (): Promise<void> => {
    // Watched before it is read, so that nothing falls in between.
    watching.renew();
    for (const change of known.update(await readNotes(dir))) announcer.emit("changed", change);
  };
  await inTurn(look);
  return {
    notes: known.notes,
    changes: (signal) => follow(announcer, signal),
    add: (id, text) =>
      inTurn(async () => {
        const file = fileOf(dir, id);
        await makeDirectory(dir);
        const isTaken = await createWhole(file, text).then(() => false, assertTaken);
        await look();
        if (isTaken) known.assertReadable(id);
        if (isTaken) throw new Refusal("NOTE_EXISTS", `there is a note "${id}" already: edit it, or take another id`);
        return known.noteOf(id);
      }),
    edit: (id, text) =>
      inTurn(async () => {
        await look();
        known.noteOf(id);
        await replaceWhole(fileOf(dir, id), text);
        await look();
        return known.noteOf(id);
      }),
    remove: (id) =>
      inTurn(async () => {
        await look();
        known.noteOf(id);
        await rm(fileOf(dir, id), { force: true });
        await look();
      }),
    close: () => {
      watching.close();
      return inTurn(async () => {});
    },
  };
}

/** Lets through only that there is a file already. */
function assertTaken(cause: unknown): true {
  if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return true;
  throw cause;
}

async function makeDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
}

function isSame(one: ReadonlyMap<string, Note>, other: ReadonlyMap<string, Note>): boolean {
  return one.size === other.size && [...one].every(([id, note]) => other.get(id) === note);
}
