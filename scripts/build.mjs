/**
 * Builds `dist` from `src`: the compiler checks it and writes the declarations, of which those that no entry reaches are left out;
 * the modules are joined into one file for each entry and a few that entries share (decision 0062).
 *
 * All is written into a fresh folder that then takes the place of `dist`: no file of an earlier build survives, and a build
 * that fails leaves the last good one in place. `--if-stale` builds only when a source is newer than `dist`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { joinModules } from "./join-modules.mjs";
import { trimDeclarations } from "./trim-declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const staging = join(root, ".scratch", `build-${process.pid}`);
const retired = join(root, ".scratch", `retired-${process.pid}`);
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");

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
  return Math.max(newest(join(root, "src")), newest(join(root, "scripts")), ...times) > statSync(entry).mtimeMs;
}

/** The public entries: the modules of the exports map, without an ending. */
const entries = Object.values(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports)
  .filter((path) => path.endsWith(".js"))
  .map((path) => path.slice("./dist/".length, -".js".length));

async function build() {
  mkdirSync(staging, { recursive: true });
  const run = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", staging], {
    cwd: root,
    stdio: "inherit",
  });
  if (run.status !== 0) return run.status ?? 1;
  await trimDeclarations({ out: staging, entries });
  const joined = [...entries, "cli/main"].map((entry) => join(root, "src", `${entry}.ts`));
  await joinModules({ entries: joined, base: join(root, "src"), out: staging });
  if (existsSync(dist)) renameSync(dist, retired);
  renameSync(staging, dist);
  return 0;
}

if (!process.argv.includes("--if-stale") || isStale()) {
  try {
    process.exitCode = await build();
  } finally {
    rmSync(staging, { recursive: true, force: true });
    rmSync(retired, { recursive: true, force: true });
  }
}
