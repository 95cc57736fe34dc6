import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { joinModules } from "../scripts/join-modules.mjs";
import type { Commands } from "./driver/open-session.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = fileURLToPath(new URL("../.scratch/bench/out", import.meta.url));

/**
 * Compiles both servers, and the package with them, to plain JavaScript, and says how to start them: modules joined, as
 * Node takes the package (decision 0014). Types are not checked: that is another command's work.
 */
export async function compileServers(): Promise<Commands> {
  const names = ["server", "hand-written"];
  await joinModules({ entries: names.map((name) => join(here, `${name}.ts`)), base: here, out });
  return { ours: [join(out, "server.js")], written: [join(out, "hand-written.js")] };
}
