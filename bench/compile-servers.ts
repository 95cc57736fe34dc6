import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Commands } from "./driver/open-session.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = fileURLToPath(new URL("../.scratch/bench/out", import.meta.url));

/**
 * Compiles both servers, and the package with them, to plain JavaScript, and says how to start them: modules joined, as
 * Node takes the package (decision 0014). Types are not checked: that is another command's work.
 */
export async function compileServers(): Promise<Commands> {
  const names = ["server", "hand-written"];
  await build({
    entryPoints: names.map((name) => join(here, `${name}.ts`)),
    outdir: out,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    chunkNames: "chunks/[name]-[hash]",
    logLevel: "warning",
  });
  return { ours: [join(out, "server.js")], written: [join(out, "hand-written.js")] };
}
