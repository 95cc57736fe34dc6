import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

/** One change to the text of one file of `src`. */
export interface Patch {
  /** Where the file is under `src`, for example `spine/throttle.ts`. */
  readonly file: string;
  readonly find: string;
  readonly replacement: string;
}

const scratch = fileURLToPath(new URL("../../.scratch/bundles/", import.meta.url));

function patched(text: string, { file, find, replacement }: Patch): string {
  const count = text.split(find).length - 1;
  if (count !== 1) throw new Error(`Patching ${file}: the text must be there once, and is ${count} times: ${find}`);
  return text.replace(find, () => replacement);
}

/** Patches files as they are read; the files themselves stay as they are. */
function toPlugin(patches: readonly Patch[]): Plugin {
  return {
    name: "patch-src",
    setup(bundling) {
      bundling.onLoad({ filter: /[\\/]src[\\/].+\.ts$/ }, async ({ path }) => {
        const mine = patches.filter(({ file }) => path.split(sep).join("/").endsWith(`/src/${file}`));
        return { contents: mine.reduce(patched, await readFile(path, "utf8")), loader: "ts" };
      });
    },
  };
}

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
    plugins: [toPlugin(patches)],
  });
  return outfile;
}
