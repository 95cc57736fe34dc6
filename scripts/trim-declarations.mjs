import { readFile, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The relative modules that a declaration imports. */
const specifiers = /(?:\bfrom\s*|\bimport\s*\(\s*)"(\.{1,2}\/[^"]+)"/g;

/**
 * Removes the declarations that no entry reaches.
 *
 * @param {{ out: string, entries: readonly string[] }} build - `entries` are paths without an ending, within `out`.
 */
export async function trimDeclarations({ out, entries }) {
  const reached = new Set(entries.map((entry) => join(out, `${entry}.d.ts`)));
  for (const path of reached) {
    const text = await readFile(path, "utf8");
    for (const [, specifier] of text.matchAll(specifiers))
      reached.add(join(dirname(path), specifier).replace(/\.[jt]s$/, ".d.ts"));
  }
  const written = (await readdir(out, { recursive: true })).filter((name) => name.endsWith(".d.ts"));
  const unused = written.map((name) => join(out, name)).filter((path) => !reached.has(path));
  await Promise.all(unused.map((path) => rm(path)));
}
