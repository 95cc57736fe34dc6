/**
 * Builds `dist` from `src`: the compiler checks it and writes a module and a declaration for each source, of which a bundler drops
 * what an application does not use. Files that no entry reaches are left out. In `dist/node` the modules are joined, one file an
 * entry, one for all that `index` loads, and one for each part that is loaded later: so Node starts in two thirds of the time (decision 0014).
 *
 * Both write into a fresh folder that then takes the place of `dist`: no file of an earlier build survives, and a build
 * that fails leaves the last good one in place. `--if-stale` builds only when a source is newer than `dist`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { joinModules } from "./join-modules.mjs";
import { trimModules } from "./trim-modules.mjs";

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

/** The public entries, as package.json maps them. */
const entries = [
  ...["index", "http/index", "testing/index", "sdk-v1/index", "audit/index"],
  ...["from/agentic/index", "from/invoker/index", "from/agent/index"],
];

async function build() {
  mkdirSync(staging, { recursive: true });
  const run = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", staging], {
    cwd: root,
    stdio: "inherit",
  });
  if (run.status !== 0) return run.status ?? 1;
  await trimModules({ out: staging, entries });
  const source = (entry) => join(root, "src", `${entry}.ts`);
  await joinModules({
    entries: entries.map(source),
    // Most commands start no app.
    alone: [source("cli/main")],
    core: source("index"),
    base: join(root, "src"),
    out: join(staging, "node"),
  });
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
