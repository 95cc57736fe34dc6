/**
 * Writes into package-lock.json the builds for other platforms that a registry did not offer when it was made.
 *
 * A registry that carries only some of a tool's per-platform builds makes `npm install` leave the others out of the
 * lockfile, and `npm ci` then refuses that lockfile everywhere. An entry with the version and the platform is enough: a
 * build for another platform is never fetched. Run it after `npm install`; a pin test tells when that was forgotten.
 */
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];

/** Platform of a build, read from its name: `@oxlint/binding-linux-arm-musleabihf` is linux, arm, musl. */
function platformOf(name) {
  const words = name.slice(name.lastIndexOf("/") + 1).split("-");
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  if (os === undefined || cpu === undefined) return undefined;
  const libc = /musl/.test(name) ? "musl" : /-gnu/.test(name) ? "glibc" : undefined;
  return { cpu: [cpu], ...(os === "linux" && libc !== undefined ? { libc: [libc] } : {}), os: [os] };
}

/** The folders in which node would look for a dependency of the package in `folder`, nearest first. */
function lookups(folder, name) {
  const parts = folder.split("node_modules/").filter((part) => part !== "");
  return parts
    .map(
      (_, depth) =>
        `${parts
          .slice(0, parts.length - depth)
          .map((part) => `node_modules/${part}`)
          .join("")}/node_modules/${name}`,
    )
    .concat(`node_modules/${name}`);
}

function complete(folder, name, version) {
  const found = lookups(folder, name).find((place) => place in lock.packages);
  if (found !== undefined && lock.packages[found].version === version) return false;
  const platform = platformOf(name);
  if (platform === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
    if (found !== undefined) return false;
    throw new Error(
      `Completing package-lock.json: "${name}@${version}" of "${folder}" has no entry and no platform in its name`,
    );
  }
  const { dev } = lock.packages[folder];
  const place = found === undefined ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
  const { cpu, ...rest } = platform;
  lock.packages[place] = { version, cpu, ...(dev ? { dev } : {}), ...rest, optional: true };
  return true;
}

const added = Object.entries({ ...lock.packages }).flatMap(([folder, { optionalDependencies = {} }]) =>
  Object.entries(optionalDependencies).filter(([name, version]) => complete(folder, name, version)),
);
const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
console.log(`package-lock.json: ${added.length} entries added`);
