import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { patchSources, type Patch } from "../fixtures/patch-sources.ts";

/**
 * The simulator and the spine as one script for a worker, with the spine patched where that is asked for.
 *
 * @throws Error when a patch does not fit exactly once.
 */
export async function bundleWorker(patches: readonly Patch[] = []): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node20",
    logLevel: "silent",
    plugins: [patchSources(patches)],
  });
  return outputFiles[0]?.text ?? "";
}
