import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../architecture/source.ts";

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
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

/** Optional dependencies that a package of the lockfile asks for and that have no entry of that version. */
export function missingBuilds(): string[] {
  return Object.entries(locked).flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([, version]) => /^\d/.test(version))
      .filter(([name, version]) => {
        const places = [`${folder}/node_modules/${name}`, `node_modules/${name}`];
        return !places.some((place) => locked[place]?.version === version);
      })
      .map(([name, version]) => `${name}@${version}`),
  );
}
