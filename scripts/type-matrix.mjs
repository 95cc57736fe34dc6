/**
 * Compiles the type tests and a consumer project with every supported TypeScript: `npm run matrix:types`, after a build.
 *
 * The compilers and the packed package are installed in a cache folder outside of the repository, once for each content of
 * `dist`. The consumer is compiled by each compiler with `strict` alone, and by the oldest and the newest with every strict flag
 * and under each other module resolution too. All of `test-d` is compiled by 5.7 and 5.9: what `expectError` wraps must not
 * compile, everything else must. `deep:type-tests` does the same with 6.0, `check:code` with 7.
 * Exits 1 when one combination fails.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { judgeTypeTests } from "./judge-type-tests.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = process.env.TYPE_MATRIX_CACHE ?? join(tmpdir(), "surface-mcp-type-matrix");
const versions = ["5.7", "5.8", "5.9", "6.0", "7.0"];
const typeTestVersions = new Set(["5.7", "5.9"]);
const resolutions = [
  { name: "NodeNext", options: { module: "nodenext", moduleResolution: "nodenext" } },
  { name: "Node16", options: { module: "node16", moduleResolution: "node16" } },
  { name: "Bundler", options: { module: "preserve", moduleResolution: "bundler" } },
];
const base = { target: "es2022", lib: ["es2023", "esnext.disposable"], types: ["node"], strict: true, noEmit: true };
const flags = [
  { name: "strict", options: { skipLibCheck: true } },
  {
    name: "every flag",
    options: {
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      noImplicitOverride: true,
      noImplicitReturns: true,
      isolatedModules: true,
      verbatimModuleSyntax: true,
      skipLibCheck: false,
      noEmit: false,
      declaration: true,
      outDir: "out",
    },
  },
];

/** Where an installed compiler is. */
const compilerOf = (version) => join(cache, "node_modules", `typescript-${version}`);

function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  return { ok: status === 0, stdout, output: `${stdout}${stderr}` };
}

function mustRun(command, args, cwd) {
  const { ok, stdout, output } = run(command, args, cwd);
  if (!ok) throw new Error(`Cannot prepare the type matrix: ${command} ${args.join(" ")} failed\n${output}`);
  return stdout;
}

/** Installs the compilers and the package as npm would pack it. */
function install() {
  if (!existsSync(join(root, "dist", "index.d.ts")))
    throw new Error("Cannot run the type matrix: run `npm run build` first");
  mkdirSync(cache, { recursive: true });
  const packed = mustRun("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", cache], root).trim();
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const dependencies = {
    "surface-mcp": `file:${packed}`,
    "@types/node": devDependencies["@types/node"],
    zod: devDependencies.zod ?? "^4.0.0",
    ...Object.fromEntries(versions.map((version) => [`typescript-${version}`, `npm:typescript@~${version}.0`])),
  };
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  // The tarball keeps its name, so npm would take the one that it has installed before.
  rmSync(join(cache, "package-lock.json"), { force: true });
  rmSync(join(cache, "node_modules", "surface-mcp"), { recursive: true, force: true });
  mustRun("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], cache);
}

function compile(version, project, cwd) {
  return run(process.execPath, [join(compilerOf(version), "bin", "tsc"), "-p", project, "--pretty", "false"], cwd);
}

/** One row of the consumer's matrix. */
function compileConsumer(version, resolution, flag) {
  const folder = join(cache, "consumer");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  copyFileSync(join(root, "test-d", "consumer.test-d.ts"), join(folder, "consumer.ts"));
  const compilerOptions = { ...base, ...resolution.options, ...flag.options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  return { name: `${version}, ${resolution.name}, ${flag.name}`, ...compile(version, "tsconfig.json", folder) };
}

/** The place of an error in the text of its file, in characters. */
const offsetOf = ({ line, column }, text) =>
  text
    .split("\n")
    .slice(0, line - 1)
    .reduce((sum, before) => sum + before.length + 1, column - 1);

/** All of `test-d`, by one compiler, against the declarations in `dist`. */
function compileTypeTests(version) {
  const project = join(root, ".scratch", `type-matrix-${version}.json`);
  mkdirSync(join(root, ".scratch"), { recursive: true });
  // Not those of the repository: 5.7 does not know all of them.
  const compilerOptions = {
    ...base,
    ...resolutions[0].options,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    rootDir: "/",
    skipLibCheck: true,
    paths: { "surface-mcp": ["../dist/index.d.ts"], "surface-mcp/*": ["../dist/*/index.d.ts"] },
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["../test-d"] }));
  const { output } = compile(version, project, root);
  rmSync(project);
  const found = [...output.matchAll(/^(.+?)\((\d+),(\d+)\): error (.*)$/gm)].map(([, path, line, column, text]) => ({
    path,
    line: Number(line),
    column: Number(column),
    text,
  }));
  const { unexpected, unmet } = judgeTypeTests(found, offsetOf);
  const wrong = [
    ...unexpected.map(({ path, line, text }) => `${path}(${line}): ${text}`),
    ...unmet.map(({ path, line }) => `${path}(${line}): expected an error, and there is none`),
  ];
  return { name: `${version}, type tests`, ok: wrong.length === 0 && found.length > 0, output: wrong.join("\n") };
}

install();
/** What the consumer is compiled with: with everything by the oldest and the newest compiler, as those between are alike. */
const settingsFor = (version) => {
  const [first, ...others] = resolutions;
  const [strict, all] = flags;
  if (version !== versions[0] && version !== versions.at(-1)) return [[first, strict]];
  return [[first, strict], [first, all], ...others.map((resolution) => [resolution, strict])];
};

const rows = versions.flatMap((version) => [
  ...settingsFor(version).map((setting) => () => compileConsumer(version, ...setting)),
  ...(typeTestVersions.has(version) ? [() => compileTypeTests(version)] : []),
]);
const failed = rows.filter((row) => {
  const { name, ok, output } = row();
  console.log(`${ok ? "pass" : "FAIL"}  ${name}`);
  if (!ok) console.log(output);
  return !ok;
});
console.log(`type matrix: ${rows.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
