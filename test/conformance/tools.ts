import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// What judges this library from outside. It is a package of its own, so that nobody who installs the repository pays for it,
// and it is installed where no check of the repository looks.
const wanted = fileURLToPath(new URL("tools", import.meta.url));
const folder = fileURLToPath(new URL("../../.scratch/conformance-tools", import.meta.url));
const modules = join(folder, "node_modules");
const manifests = ["package.json", "package-lock.json"] as const;

/** Where each of them is. They need a later Node than this library does. */
export const tools = {
  node: join(modules, "node", "bin", "node"),
  conformance: join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"),
  conformanceAlpha: join(modules, "conformance-alpha", "dist", "index.js"),
  inspector: join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
} as const;

/** Whether what is there is what the lockfile names. npm writes its own mark last, and the copies come after that. */
function isInstalled(): boolean {
  if (!Object.values(tools).every((path) => existsSync(path))) return false;
  return manifests.every((name) => {
    const copy = join(folder, "installed", name);
    return existsSync(copy) && readFileSync(copy, "utf8") === readFileSync(join(wanted, name), "utf8");
  });
}

/** Installs what its lockfile names, where that is not there yet. Throws where it cannot be. */
export function installTools(): void {
  if (isInstalled()) return;
  console.log("installing the conformance suites, the Inspector and their Node: about 300 MB, once");
  mkdirSync(join(folder, "installed"), { recursive: true });
  for (const name of manifests) copyFileSync(join(wanted, name), join(folder, name));
  // The Node among them is put in place by a script, also where the caller of this one allows none.
  const command = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts=false"];
  const { status } = spawnSync("npm", command, { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error(`Installing the tools of test/conformance: npm ended with ${status}`);
  for (const name of manifests) copyFileSync(join(wanted, name), join(folder, "installed", name));
  if (!isInstalled()) throw new Error("Installing the tools of test/conformance: not all of them are there");
}
