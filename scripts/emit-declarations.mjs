import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = join(root, ".scratch");
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");

/** The public entries: the modules of the exports map, without an ending. */
export const entries = Object.values(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports)
  .filter((path) => path.endsWith(".js"))
  .map((path) => path.slice("./dist/".length, -".js".length));

/** Writes a declaration for each source. `noCheck` skips the check of the sources. */
export function compileDeclarations(out, { noCheck = false } = {}) {
  const args = [compiler, "-p", "tsconfig.build.json", "--outDir", out, ...(noCheck ? ["--noCheck"] : [])];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error("Cannot write the declarations: the compiler failed; correct what it reports");
}

/** Resolves the import of a source to its declaration. */
const toDeclarations = {
  name: "to-declarations",
  resolveId: {
    order: "pre",
    handler: (id, importer) =>
      importer !== undefined && id.startsWith(".") ? join(dirname(importer), id.replace(/\.ts$/, ".d.ts")) : null,
  },
};

/**
 * Writes the declarations that the entries reach: a file for each entry, and one that they share, so that there is one of each
 * unique symbol.
 */
export async function emitDeclarations(out, options) {
  mkdirSync(scratch, { recursive: true });
  const compiled = mkdtempSync(join(scratch, "declarations-"));
  try {
    compileDeclarations(compiled, options);
    const bundle = await rolldown({
      cwd: compiled,
      input: Object.fromEntries(entries.map((entry) => [entry, join(compiled, `${entry}.d.ts`)])),
      external: (id) => !/^[./]/.test(id),
      checks: { bundlerTimings: false },
      plugins: [toDeclarations, ...dts({ dtsInput: true, tsconfig: false })],
    });
    await bundle.write({
      dir: out,
      format: "esm",
      entryFileNames: "[name].d.ts",
      chunkFileNames: "chunks/[name].d.ts",
      minifyInternalExports: false,
      codeSplitting: { groups: [{ name: "types", minShareCount: 2 }] },
    });
    await bundle.close();
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}
