import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const changes = fileURLToPath(new URL("./changes", import.meta.url));

/** Where one run reads and writes: a directory, and the notes of changes that lie beside this file. */
export interface Workspace {
  readChanges(): Promise<readonly string[]>;
  /** Returns the path of what was written. */
  writeNotes(version: string, text: string): Promise<string>;
}

/** Opens a workspace that writes into a directory. */
export function openWorkspace(directory: string): Workspace {
  return {
    readChanges: async () => {
      const names = (await readdir(changes)).filter((name) => name.endsWith(".md")).toSorted();
      return Promise.all(names.map((name) => readFile(join(changes, name), "utf8")));
    },
    writeNotes: async (version, text) => {
      const path = join(directory, `${version}.md`);
      await writeFile(path, text, { flag: "wx" });
      return path;
    },
  };
}
