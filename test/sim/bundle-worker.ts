import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

/** One change to the text of one file of the spine. */
export interface Patch {
  /** The name of the file, for example `throttle.ts`. */
  readonly file: string;
  readonly find: string;
  readonly replacement: string;
}

function patched(text: string, { file, find, replacement }: Patch): string {
  const count = text.split(find).length - 1;
  if (count !== 1)
    throw new Error(`Patching ${file}: the text is there ${count} times, and must be there once: ${find}`);
  return text.replace(find, () => replacement);
}

/** Patches files as they are read; the files themselves stay as they are. */
function toPlugin(patches: readonly Patch[]): Plugin {
  return {
    name: "patch-spine",
    setup(bundling) {
      bundling.onLoad({ filter: /[\\/]src[\\/]spine[\\/][^\\/]+\.ts$/ }, async ({ path }) => {
        const mine = patches.filter(({ file }) => path.endsWith(`/${file}`) || path.endsWith(`\\${file}`));
        return { contents: mine.reduce(patched, await readFile(path, "utf8")), loader: "ts" };
      });
    },
  };
}

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
    plugins: [toPlugin(patches)],
  });
  return outputFiles[0]?.text ?? "";
}
