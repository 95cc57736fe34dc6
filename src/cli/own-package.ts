import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Returns the folder of this package. Found by the package's name, because this module is built to more than one place. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("surface-mcp/package.json"));
}

/** Returns the version of this package. */
export function readVersion(): string {
  // The package's own manifest.
  return (JSON.parse(readFileSync(join(packageFolder(), "package.json"), "utf8")) as { readonly version: string })
    .version;
}
