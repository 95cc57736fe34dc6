import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const src = join(root, "src");

/**
 * The chunks of the modules that the main entry loads at once, by the modules that it exports from. A chunk has their imports too,
 * but for modules of a chunk before it. So a bundler drops whole chunks: a front end that only describes a surface keeps the first.
 * `later` has the modules that files loaded later share with the main entry. Everything else is in `server`.
 */
const chunks = [
  { name: "define", exported: /^(?:errors|surface\/define-)/ },
  { name: "tags", exported: /^(?:tags\/|surface\/compose-)/ },
  { name: "surface", exported: /^(?:surface|schema)\/|^links\/in-process/ },
  { name: "later" },
  { name: "links", exported: /^links\// },
  { name: "server", exported: /^/ },
];

const isOwn = (path) => path.startsWith(src);

/** Returns the sources, and those that they import at once, directly or not. */
function closureOf(sources, graph) {
  const found = new Set(sources);
  for (const path of found) for (const next of graph.getModuleInfo(path).importedIds.filter(isOwn)) found.add(next);
  return found;
}

/** Assigns each source that the main entry loads at once to its chunk. */
function assignChunks(graph) {
  const exporting = graph.getModuleInfo(join(src, "index.ts"))?.importedIds.filter(isOwn) ?? [];
  const atOnce = closureOf(exporting, graph);
  const later = [...atOnce].flatMap((path) => graph.getModuleInfo(path).dynamicallyImportedIds.filter(isOwn));
  const assigned = new Map();
  for (const { name, exported } of chunks) {
    const starts = exported === undefined ? later : exporting.filter((path) => exported.test(relative(src, path)));
    for (const path of closureOf(starts, graph)) {
      if (atOnce.has(path) && !assigned.has(path)) assigned.set(path, name);
    }
  }
  return assigned;
}

/** Removes imports of nothing, which are left where all uses of a name were dropped. No module here has side effects. */
const withoutEmptyImports = {
  name: "without-empty-imports",
  generateBundle(_options, files) {
    for (const file of Object.values(files)) file.code = file.code.replace(/^import "\.[^"]*";\n/gm, "");
  },
};

/**
 * Joins modules: one file an entry, one for each part that is loaded later, and the chunks that they share. So there is one of each
 * class and symbol, whichever entries a process loads. Packages stay outside.
 */
export async function joinModules({ entries, base, out }) {
  let assigned;
  const bundle = await rolldown({
    cwd: root,
    input: {
      ...Object.fromEntries(entries.map((entry) => [relative(base, entry).replace(/\.ts$/, ""), entry])),
      // Loaded by its URL: bundlers keep every file of a literal `import()`, also for a front end that only describes a surface.
      "chunks/inspector-socket": join(src, "stdio/inspector-socket.ts"),
    },
    external: (id) => !/^[./]/.test(id),
    platform: "node",
    plugins: [withoutEmptyImports],
    treeshake: { moduleSideEffects: false },
    // The exports of an entry are pinned, and no chunk imports from one.
    preserveEntrySignatures: "allow-extension",
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: { annotation: true, jsdoc: false, legal: false },
    hoistTransitiveImports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: (path, graph) => (assigned ??= assignChunks(graph)).get(path) ?? null, debugName: "chunks" }],
    },
  });
  await bundle.close();
}
