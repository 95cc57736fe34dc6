import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Commands } from "./driver/open-session.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Compiles both servers, and the package with them, to plain JavaScript, and says how to start them. Types are not
 * checked: that is another command's work.
 */
export function compileServers(): Commands {
  const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
  const run = spawnSync(process.execPath, [compiler, "-p", "bench/tsconfig.json", "--noCheck"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (run.status !== 0) throw new Error(`Benchmark: compiling the servers ended with code ${run.status}`);
  const compiled = (name: string): string =>
    fileURLToPath(new URL(`../.scratch/bench/out/bench/${name}.js`, import.meta.url));
  return { ours: [compiled("server")], written: [compiled("hand-written")] };
}
