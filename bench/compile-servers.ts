import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { joinModules } from "../scripts/join-modules.mjs";
import type { Commands } from "./driver/open-session.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = fileURLToPath(new URL("../.scratch/bench/out", import.meta.url));

/** How the servers are started, by what they serve over. */
export interface CompiledServers {
  readonly stdio: Commands;
  /** The loop that only parses and writes: the arguments of `node`. */
  readonly bareLoop: readonly string[];
  readonly http: Commands;
  /** One replica of a cluster: the arguments of `node`. */
  readonly replica: readonly string[];
}

/**
 * Compiles the servers, and the package with them, to plain JavaScript, and says how to start them: modules joined, as in the package
 * (decision 0062). Types are not checked: that is another command's work.
 */
export async function compileServers(): Promise<CompiledServers> {
  const names = ["server", "hand-written", "bare-loop", "http-server", "http-hand-written", "replica-server"];
  await joinModules({ entries: names.map((name) => join(here, `${name}.ts`)), base: here, out });
  const built = (name: string): string => join(out, `${name}.js`);
  return {
    stdio: { ours: [built("server")], written: [built("hand-written")] },
    bareLoop: [built("bare-loop")],
    // What they hold is asked once all garbage is gone.
    http: {
      ours: ["--expose-gc", built("http-server")],
      written: ["--expose-gc", built("http-hand-written")],
    },
    replica: ["--expose-gc", built("replica-server")],
  };
}
