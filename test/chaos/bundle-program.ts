import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { patchSources, type Patch } from "../fixtures/patch-sources.ts";

const scratch = fileURLToPath(new URL("../../.scratch/bundles/", import.meta.url));

/**
 * Writes one of the programs of this folder, with everything that it imports, as one file that plain Node runs: a start is
 * then quick, and the code is that of `src` as it is now, patched where that is asked for. Returns where the file is.
 *
 * @throws Error when a patch does not fit exactly once.
 */
export async function bundleProgram(
  program: "backend" | "face" | "churn",
  name: string,
  patches: readonly Patch[] = [],
): Promise<string> {
  mkdirSync(scratch, { recursive: true });
  // A name of its own: several runs may be under way, and one that was patched is nobody else's.
  const outfile = `${scratch}chaos-${name}-${process.pid}.cjs`;
  await build({
    entryPoints: [fileURLToPath(new URL(`${program}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    external: ["ws", "@modelcontextprotocol/*"],
    format: "cjs",
    platform: "node",
    target: "node20",
    logLevel: "silent",
    plugins: [patchSources(patches)],
  });
  return outfile;
}
