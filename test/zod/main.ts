import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// `npm run matrix:zod`: the built package in applications that have one version of zod each, and in one whose schemas are
// made by another copy than the one beside the package. Needs `dist` and the npm registry.

const root = fileURLToPath(new URL("../..", import.meta.url));
const versions = ["4.0.17", "4.1.13", "4.2.1", "4.3.6", "4.4.3", "4.5.4", "4.6.7"] as const;
const folder = mkdtempSync(join(tmpdir(), "surface-zod-"));
const runner = readFileSync(new URL("fixtures/run-cases.mjs", import.meta.url), "utf8");

const aliasOf = (version: string): string => `zod-${version.replaceAll(".", "-")}`;

function install(): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "zod-versions", private: true }));
  const wanted = versions.map((version) => `${aliasOf(version)}@npm:zod@${version}`);
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...wanted], {
    cwd: folder,
    stdio: "inherit",
  });
}

/** An application: a copy of the built package, this version of zod, and links to everything else. */
function createApp(version: string): string {
  const app = join(folder, "apps", version);
  const modules = join(app, "node_modules");
  const own = join(modules, "surface-mcp");
  mkdirSync(own, { recursive: true });
  for (const part of ["dist", "package.json"]) cpSync(join(root, part), join(own, part), { recursive: true });
  cpSync(join(folder, "node_modules", aliasOf(version)), join(modules, "zod"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name.startsWith(".") || name === "zod" || name === "surface-mcp") continue;
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  for (const other of versions)
    symlinkSync(join(folder, "node_modules", aliasOf(other)), join(modules, aliasOf(other)));
  writeFileSync(join(app, "run-cases.mjs"), runner);
  return app;
}

function runCases(app: string, args: readonly string[]): boolean {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["run-cases.mjs", ...args], {
    cwd: app,
    encoding: "utf8",
  });
  console.log(stdout.trim() === "" ? stderr : stdout.trim());
  return status === 0;
}

try {
  install();
  const verdicts = versions.flatMap((version) => {
    const app = createApp(version);
    const other = version === "4.6.7" ? "4.2.1" : "4.6.7";
    return [[], [aliasOf(other)]].map((args) => {
      console.log(`zod ${version}${args.length === 0 ? "" : `, schemas of another copy: ${other}`}`);
      return runCases(app, args);
    });
  });
  const bad = verdicts.filter((isFine) => !isFine).length;
  console.log(`matrix:zod: ${verdicts.length - bad} applications pass, ${bad} fail`);
  process.exitCode = bad === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
