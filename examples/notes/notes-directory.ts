import { EventEmitter, on } from "node:events";
import { watch } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { cellSource, Refusal } from "surface-mcp";
import type { Source } from "surface-mcp";

import { compareNotes } from "./compare-notes.ts";
import { Change } from "./note.ts";
import type { Note } from "./note.ts";
import { fileOf, readNotes } from "./read-notes.ts";
import { createWhole, replaceWhole } from "./write-whole.ts";

/** A directory of notes, which people may edit by hand as well. */
export interface NotesDirectory {
  /** Every note by its id, as the directory was when it last changed. */
  readonly notes: Source<ReadonlyMap<string, Note>>;
  /** Every change from this call on, whoever made it, until the signal fires. */
  changes(signal: AbortSignal): AsyncIterable<Change>;
  /** @throws Refusal `NOTE_EXISTS` */
  add(id: string, text: string): Promise<Note>;
  /** @throws Refusal `UNKNOWN_NOTE` */
  edit(id: string, text: string): Promise<Note>;
  /** @throws Refusal `UNKNOWN_NOTE` */
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

/** Looks at the directory after each event that the system has of it; several at once are one reason to look. */
function watchDirectory(dir: string, look: () => Promise<unknown>): () => void {
  let looking = false;
  const report = (cause: unknown): void => console.error("watching the notes:", cause);
  // Not a reason for the process to stay: it ends with its host.
  const watcher = watch(dir, { persistent: false }, () => {
    if (looking) return;
    looking = true;
    setImmediate(() => {
      looking = false;
      look().catch(report);
    });
  });
  watcher.on("error", report);
  return () => watcher.close();
}

/**
 * Opens a directory of notes, and makes it where there is none. The files are the truth: what is here is read from them
 * after each change, so that several processes and an editor may share one directory. The caller closes it.
 */
export async function openNotesDirectory(dir: string): Promise<NotesDirectory> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const announcer = new EventEmitter();
  const inTurn = createTurns();
  const notes = cellSource<ReadonlyMap<string, Note>>(new Map());
  const look = async (): Promise<void> => {
    const compared = compareNotes(notes.get(), await readNotes(dir));
    if (compared.changes.length === 0) return;
    notes.set(compared.notes);
    for (const change of compared.changes) announcer.emit("changed", change);
  };
  const known = (id: string): Note => {
    const note = notes.get().get(id);
    if (note === undefined) throw new Refusal("UNKNOWN_NOTE", `there is no note "${id}": search for it first`);
    return note;
  };
  // Watched before the first look, so that nothing falls in between.
  const unwatch = watchDirectory(dir, () => inTurn(look));
  await inTurn(look);
  return {
    notes,
    changes: (signal) => follow(announcer, signal),
    add: (id, text) =>
      inTurn(async () => {
        await createWhole(fileOf(dir, id), text).catch(refuseTaken(id));
        await look();
        return known(id);
      }),
    edit: (id, text) =>
      inTurn(async () => {
        await look();
        known(id);
        await replaceWhole(fileOf(dir, id), text);
        await look();
        return known(id);
      }),
    remove: (id) =>
      inTurn(async () => {
        await look();
        known(id);
        await rm(fileOf(dir, id), { force: true });
        await look();
      }),
    close: () => {
      unwatch();
      return inTurn(async () => {});
    },
  };
}

function refuseTaken(id: string) {
  return (cause: unknown): never => {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") {
      throw new Refusal("NOTE_EXISTS", `there is a note "${id}" already: edit it, or take another id`);
    }
    throw cause;
  };
}
