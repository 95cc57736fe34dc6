/**
 * Builds `dist` from `src`: the compiler checks it and writes the declarations. These and the modules are joined into a file for each
 * entry and a few that entries share (decision 0062). The live page is bundled from `page` into `dist/page`.
 *
 * All is written into a fresh folder that then takes the place of `dist`: no file of an earlier build survives, and a build
 * that fails leaves the last good one in place. `--if-stale` builds only when a source is newer than `dist`.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "./build-page.mjs";
import { emitDeclarations, entries } from "./emit-declarations.mjs";
import { joinModules } from "./join-modules.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const staging = join(root, ".scratch", `build-${process.pid}`);
const retired = join(root, ".scratch", `retired-${process.pid}`);

function newest(folder) {
  return readdirSync(folder, { recursive: true }).reduce(
    (latest, name) => Math.max(latest, statSync(join(folder, name)).mtimeMs),
    statSync(folder).mtimeMs,
  );
}

function isStale() {
  const entry = join(dist, "index.js");
  if (!existsSync(entry)) return true;
  const inputs = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  const times = inputs.map((name) => statSync(join(root, name)).mtimeMs);
  const folders = ["src", "page", "scripts"].map((name) => newest(join(root, name)));
  return Math.max(...folders, ...times) > statSync(entry).mtimeMs;
}

async function build() {
  mkdirSync(staging, { recursive: true });
  await emitDeclarations(staging);
  const joined = [...entries, "cli/main"].map((entry) => join(root, "src", `${entry}.ts`));
  await joinModules({ entries: joined, base: join(root, "src"), out: staging });
  await buildPage(join(staging, "page"));
  if (existsSync(dist)) renameSync(dist, retired);
  renameSync(staging, dist);
}

if (!process.argv.includes("--if-stale") || isStale()) {
  try {
    await build();
  } finally {
    rmSync(staging, { recursive: true, force: true });
    rmSync(retired, { recursive: true, force: true });
  }
}
