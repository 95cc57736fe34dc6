import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as esbuild from "esbuild";

/** The relative modules that a module or declaration imports, at once, later or as types. */
const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g;

async function reachable(starts, toFile) {
  const found = new Set(starts);
  for (const path of found) {
    const text = await readFile(path, "utf8");
    for (const [, specifier] of text.matchAll(specifiers)) found.add(toFile(join(dirname(path), specifier)));
  }
  return found;
}

/** Only bundlers read these modules, and Node the joined ones, which keep their lines for stack traces. */
async function compact(path) {
  const { code } = await esbuild.transform(await readFile(path, "utf8"), {
    target: "es2022",
    legalComments: "none",
    minifyWhitespace: true,
    minifySyntax: true,
  });
  await writeFile(path, code);
}

/**
 * Removes from a build what its entries do not reach, and the comments and blanks of its modules: the declarations keep their comments.
 *
 * @param {{ out: string, entries: readonly string[] }} build - `entries` are paths without an ending, within `out`.
 */
export async function trimModules({ out, entries }) {
  const modules = await reachable(
    entries.map((entry) => join(out, `${entry}.js`)),
    (path) => path,
  );
  const declarations = await reachable(
    entries.map((entry) => join(out, `${entry}.d.ts`)),
    (path) => path.replace(/\.[jt]s$/, ".d.ts"),
  );
  const names = await readdir(out, { recursive: true });
  const written = names.filter((name) => name.endsWith(".js") || name.endsWith(".d.ts")).map((name) => join(out, name));
  const unused = written.filter((path) => !modules.has(path) && !declarations.has(path));
  await Promise.all([...unused.map((path) => rm(path)), ...[...modules].map(compact)]);
}
