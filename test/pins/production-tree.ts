import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../architecture/source.ts";

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly resolved?: string;
}

/** Every package of the lockfile, by its folder. The root of the repository is the empty string. */
export const locked: Readonly<Record<string, Locked>> = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8"),
).packages;

/** Names of all packages that a user installs with this one, sorted; a package that is there twice is named twice. */
export function productionTree(): string[] {
  const names = Object.entries(locked)
    .filter(([folder, { dev, devOptional }]) => folder !== "" && dev !== true && devOptional !== true)
    .map(([folder]) => folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length));
  return names.toSorted();
}
