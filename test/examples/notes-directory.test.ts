import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ZodError } from "zod";
import { createTestClient } from "surface-mcp/testing";
import { createNotesApp } from "../../examples/notes/app.ts";
import { openNotesDirectory, type NotesDirectory } from "../../examples/notes/notes-directory.ts";

let dir = "";
let opened: NotesDirectory[] = [];

async function open(): Promise<NotesDirectory> {
  const directory = await openNotesDirectory(dir);
  opened.push(directory);
  return directory;
}

beforeEach(async () => {
  dir = join(await realpath(await mkdtemp(join(tmpdir(), "notes-test-"))), "notes");
  opened = [];
});

afterEach(async () => {
  for (const directory of opened) await directory.close();
  await rm(join(dir, ".."), { recursive: true, force: true });
});

describe("a directory of notes", () => {
  test("has what is in its files when it is opened, and leaves alone what is no note", async () => {
    await mkdir(join(dir, "folder.md"), { recursive: true });
    await writeFile(join(dir, "..", "secret.md"), "secret");
    await writeFile(join(dir, "a.md"), "\n## A title \nand more");
    await writeFile(join(dir, "Upper.md"), "no id");
    await writeFile(join(dir, "a.txt"), "no note");
    await writeFile(join(dir, "large.md"), "x".repeat(300 * 1024));
    await symlink(join(dir, "..", "secret.md"), join(dir, "linked.md"));
    const { notes } = await open();
    expect([...notes.get().keys()]).toEqual(["a"]);
    expect(notes.get().get("a")).toMatchObject({ title: "A title", text: "\n## A title \nand more" });
  });

  test.each(["", "..", "../a", "a/b", "a\\b", "A", "a b", "a.md", "a\0", "-a", "é", "a".repeat(65)])(
    "writes nothing when the id is %j",
    async (id) => {
      const directory = await open();
      await expect(directory.add(id, "text")).rejects.toBeInstanceOf(ZodError);
      await expect(directory.edit(id, "text")).rejects.toMatchObject({ code: "UNKNOWN_NOTE" });
      await expect(directory.remove(id)).rejects.toMatchObject({ code: "UNKNOWN_NOTE" });
      expect(await readdir(dir)).toEqual([]);
      expect(await readdir(join(dir, ".."))).toEqual(["notes"]);
    },
  );

  test("refuses to add when somebody has made the file meanwhile, and leaves nothing of its own", async () => {
    const directory = await open();
    await writeFile(join(dir, "a.md"), "theirs");
    await expect(directory.add("a", "mine")).rejects.toMatchObject({ code: "NOTE_EXISTS" });
    expect(await readFile(join(dir, "a.md"), "utf8")).toBe("theirs");
    expect(await readdir(dir)).toEqual(["a.md"]);
  });

  test("refuses to edit and to remove when the file was removed by hand", async () => {
    const directory = await open();
    await directory.add("a", "text");
    await rm(join(dir, "a.md"));
    await expect(directory.edit("a", "back again")).rejects.toMatchObject({ code: "UNKNOWN_NOTE" });
    await expect(directory.remove("a")).rejects.toMatchObject({ code: "UNKNOWN_NOTE" });
    expect(await readdir(dir)).toEqual([]);
  });

  test("lets one of two win when both add the same note", async () => {
    const [one, other] = [await open(), await open()];
    const both = await Promise.allSettled([one.add("a", "one"), other.add("a", "other")]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("announces each change once when it is made by itself, by hand and by another process", async () => {
    const [directory, other] = [await open(), await open()];
    const leaving = new AbortController();
    const changes = directory.changes(leaving.signal)[Symbol.asyncIterator]();
    const first = changes.next();
    await directory.add("mine", "1");
    expect((await first).value).toEqual({ id: "mine", change: "added" });
    await writeFile(join(dir, "hand.md"), "2");
    expect((await changes.next()).value).toEqual({ id: "hand", change: "added" });
    await other.remove("mine");
    let { value } = await changes.next();
    // A file that is written in place may be seen before there is anything in it.
    if (value?.id === "hand") ({ value } = await changes.next());
    expect(value).toEqual({ id: "mine", change: "removed" });
    leaving.abort();
    await expect(changes.next()).rejects.toThrow("aborted");
  });

  test("keeps the object of a note when it is another that has changed", async () => {
    const directory = await open();
    await directory.add("a", "1");
    const before = directory.notes.get().get("a");
    await directory.add("b", "2");
    expect(directory.notes.get().get("a")).toBe(before);
  });
});

/** Waits for what the system announces in its own time. */
async function eventually(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}

describe("a directory of notes that people change by hand", () => {
  function follow(directory: NotesDirectory): string[] {
    const leaving = new AbortController();
    const told: string[] = [];
    const work = (async () => {
      for await (const { id, change } of directory.changes(leaving.signal)) told.push(`${change} ${id}`);
    })();
    work.catch(() => {});
    onTestFinished(() => leaving.abort());
    return told;
  }

  test("refuses to touch a note that is there and cannot be read, and does not tell it as removed", async () => {
    const directory = await open();
    const told = follow(directory);
    await directory.add("big", "small");
    await writeFile(join(dir, "big.md"), "x".repeat(300 * 1024));
    await mkdir(join(dir, "folder.md"));
    for (const id of ["big", "folder"]) {
      await expect(directory.add(id, "mine")).rejects.toMatchObject({ code: "NOTE_UNREADABLE" });
      await expect(directory.edit(id, "mine")).rejects.toMatchObject({ code: "NOTE_UNREADABLE" });
      await expect(directory.remove(id)).rejects.toMatchObject({ code: "NOTE_UNREADABLE" });
    }
    expect([...directory.notes.get().keys()]).toEqual([]);
    expect(told.filter((line) => !line.startsWith("edited"))).toEqual(["added big"]);
    await writeFile(join(dir, "big.md"), "smaller");
    await eventually(() => told.at(-1) === "edited big" && directory.notes.get().get("big")?.text === "smaller");
    await writeFile(join(dir, "big.md"), "x".repeat(300 * 1024));
    await eventually(() => !directory.notes.get().has("big"));
    await rm(join(dir, "big.md"));
    await eventually(() => told.at(-1) === "removed big");
    expect(told.filter((line) => line.startsWith("removed"))).toEqual(["removed big"]);
  });

  test("sees what is written into it after it was replaced, and is made again when it is gone", async () => {
    const directory = await open();
    await directory.add("old", "1");
    await rename(dir, `${dir}.old`);
    await mkdir(dir);
    await eventually(() => !directory.notes.get().has("old"));
    await writeFile(join(dir, "fresh.md"), "2");
    await eventually(() => directory.notes.get().has("fresh"));
    await rm(dir, { recursive: true });
    await eventually(() => directory.notes.get().size === 0);
    await directory.add("again", "3");
    await writeFile(join(dir, "hand.md"), "4");
    await eventually(() => directory.notes.get().has("hand"));
    expect([...directory.notes.get().keys()]).toEqual(["again", "hand"]);
  });

  test("keeps who may read a note when it edits it", async () => {
    const directory = await open();
    await directory.add("shared", "1");
    expect((await stat(join(dir, "shared.md"))).mode & 0o777).toBe(0o600);
    await chmod(join(dir, "shared.md"), 0o664);
    await directory.edit("shared", "2");
    expect((await stat(join(dir, "shared.md"))).mode & 0o777).toBe(0o664);
  });
});

describe("the notes app", () => {
  test("offers its tools and the notes that there are, and reads none from elsewhere", async () => {
    const directory = await open();
    const client = createTestClient(createNotesApp(directory));
    await writeFile(join(dir, "..", "secret.md"), "secret");
    await client.tools.note_add({ id: "a", text: "# A\nwords here" });
    expect(await client.tools.note_search({ words: "here WORDS" })).toMatchObject({
      structured: { found: [{ id: "a", title: "A", line: "words here" }], more: 0 },
    });
    expect(await client.read("notes", { key: "a" })).toMatchObject({ title: "A" });
    for (const key of ["../secret", "..%2Fsecret", "../../etc/passwd", "__proto__", "a\0", "\u202Ea"]) {
      await expect(client.read("notes", { key })).rejects.toThrow(
        /resource not found|there is nothing under this URI/i,
      );
      expect(await client.tools.note_edit({ id: key, text: "x" })).toMatchObject({ isError: true });
    }
    expect(await client.tools.note_remove({ id: "a" })).toMatchObject({ isError: false });
    expect(await readdir(dir)).toEqual([]);
    await client.close();
  });
});
