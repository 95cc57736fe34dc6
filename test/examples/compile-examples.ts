import { createHash, randomUUID } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { root } from "../architecture/source.ts";

const source = join(root, "examples");

function listScripts(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).toSorted();
}

/** Programs import one another, and start one another through the loader, by their names as sources. */
function toProgram(code: string): string {
  const { code: compiled } = transformSync(code, { loader: "ts", format: "esm", sourcemap: "inline" });
  return compiled
    .replaceAll(/"(\.\.?\/[^"\n]*)\.ts"/g, '"$1.js"')
    .replaceAll(/"--import",\s*import\.meta\.resolve\("tsx"\),\s*/g, "");
}

function compile(folder: string, scripts: readonly string[]): void {
  const draft = `${folder}-${randomUUID()}`;
  cpSync(source, draft, { recursive: true, filter: (path) => !path.endsWith(".ts") });
  for (const name of scripts) {
    writeFileSync(join(draft, name.replace(/\.ts$/, ".js")), toProgram(readFileSync(join(source, name), "utf8")));
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another test file was faster.
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Compiles `examples/` into a folder of the same structure, once for each content. A process that starts from TypeScript
 * takes a second of CPU, one that starts from JavaScript a third of that. That the programs run from TypeScript too is for
 * the tests of the other examples.
 *
 * @param program - a path below `examples/`, such as `"ci/main.ts"`.
 * @returns the path of the program in JavaScript.
 */
export function compileExample(program: string): string {
  const scripts = listScripts(source);
  const digest = createHash("sha256");
  for (const name of scripts) digest.update(name).update(readFileSync(join(source, name)));
  const folder = join(root, ".scratch", `examples-${digest.digest("hex").slice(0, 16)}`);
  if (!existsSync(folder)) compile(folder, scripts);
  return join(folder, program.replace(/\.ts$/, ".js"));
}
