import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./source.ts";

const repeat = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");

/** Path, rule, and a text that breaks the rule: a rule that never fires is a rule that nobody runs. */
const planted: readonly (readonly [path: string, rule: string, text: string])[] = [
  ["src/long.ts", "eslint(max-lines)", repeat(401, (i) => `export const v${i}: number = ${i};`)],
  ["src/long-fn.ts", "eslint(max-lines-per-function)", `export function f(): void {\n${repeat(50, () => "  f();")}\n}`],
  ["src/params.ts", "eslint(max-params)", `export const f = (a: 1, b: 1, c: 1, d: 1): 1[] => [a, b, c, d];`],
  [
    "src/complex.ts",
    "eslint(complexity)",
    `export function f(a: 1): void {\n${repeat(10, (i) => `if (${i} === a) f(a);`)}\n}`,
  ],
  [
    "src/deep.ts",
    "eslint(max-depth)",
    `export function f(a: 1): void { if (a) { if (a) { if (a) { if (a) f(a); } } } }`,
  ],
  ["src/one.ts", "import(no-cycle)", `import { two } from "./two.ts";\nexport const one = (): number => two();`],
  ["src/two.ts", "import(no-cycle)", `import { one } from "./one.ts";\nexport const two = (): number => one();`],
  ["src/default.ts", "import(no-default-export)", `export default 1;`],
  ["src/barrel.ts", "oxc(no-barrel-file)", `export * from "./params.ts";`],
  ["src/camelCase.ts", "unicorn(filename-case)", `export const x = 1;`],
  ["src/any.ts", "typescript(no-explicit-any)", `export type A = Record<string, any>;`],
  ["src/bang.ts", "typescript(no-non-null-assertion)", `export const f = (x?: number): number => x!;`],
  ["src/ignore.ts", "typescript(ban-ts-comment)", `// @ts-ignore\nexport const x: number = "a";`],
  ["src/call.ts", "typescript(no-unsafe-call)", `export const f = (): unknown => JSON.parse("1")();`],
  ["src/member.ts", "typescript(no-unsafe-member-access)", `export const f = (): unknown => JSON.parse("1").a;`],
  ["src/return.ts", "typescript(no-unsafe-return)", `export const f = (): string => JSON.parse("1");`],
  ["src/assign.ts", "typescript(no-unsafe-assignment)", `const a = JSON.parse("1");\nexport const b: unknown = a;`],
  ["src/argument.ts", "typescript(no-unsafe-argument)", `export const a: string = encodeURI(JSON.parse("1"));`],
  ["src/function.ts", "typescript(no-unsafe-function-type)", `export type F = Function;`],
  ["src/float.ts", "typescript(no-floating-promises)", `export function f(a: Promise<1>): void {\n  a;\n}`],
  ["src/misuse.ts", "typescript(no-misused-promises)", `export const f = (a: Promise<1>): 1 | 2 => (a ? 1 : 2);`],
  ["src/thenable.ts", "typescript(await-thenable)", `export const f = async (): Promise<void> => { await 1; };`],
  [
    "src/switch.ts",
    "typescript(switch-exhaustiveness-check)",
    `export function f(a: 1 | 2): void { switch (a) { case 1: f(a); } }`,
  ],
  ["src/throw.ts", "typescript(only-throw-error)", `export function f(): void { throw "a"; }`],
  ["src/console.ts", "eslint(no-console)", `export const f = (): void => console.log(1);`],
  ["src/exit.ts", "unicorn(no-process-exit)", `export const f = (): void => process.exit(1);`],
  [
    "src/exec.ts",
    "eslint(no-restricted-imports)",
    `import { exec } from "node:child_process";\nexport const f = (): unknown => exec("a");`,
  ],
  ["src/spine/timer.ts", "eslint(no-restricted-globals)", `export const f = (): unknown => setTimeout(() => 1, 1);`],
  ["src/spine/repeat.ts", "eslint(no-restricted-globals)", `export const f = (): unknown => setInterval(() => 1, 1);`],
  ["src/spine/now.ts", "eslint(no-restricted-properties)", `export const f = (): unknown => Date.now();`],
  ["src/spine/chance.ts", "eslint(no-restricted-properties)", `export const f = (): unknown => Math.random();`],
  [
    "src/spine/wait.ts",
    "eslint(no-restricted-imports)",
    `import { setTimeout } from "node:timers/promises";\nexport const f = (): unknown => setTimeout(1);`,
  ],
  [
    "test/only.test.ts",
    "vitest(no-focused-tests)",
    `import { expect, it } from "vitest";\nit.only("a", () => { expect(1).toBe(1); });`,
  ],
  [
    "test/skip.test.ts",
    "vitest(no-disabled-tests)",
    `import { expect, it } from "vitest";\nit.skip("a", () => { expect(1).toBe(1); });`,
  ],
  ["test/empty.test.ts", "vitest(expect-expect)", `import { it } from "vitest";\nit("a", () => {});`],
];

/** What must pass, or the rules above would only show that everything fails. */
const innocent: readonly (readonly [path: string, text: string])[] = [
  ["src/good.ts", `export const f = (a: number): number => a + 1;`],
  ["src/shape-types.ts", repeat(290, (i) => `export type V${i} = ${i};`)],
  ["src/index.ts", `export { f } from "./good.ts";`],
];

const found = new Map<string, string[]>();
let folder = "";

describe("lint rules", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "surface-mcp-lint-"));
    for (const name of [".oxlintrc.json", "tsconfig.json"]) copyFileSync(join(root, name), join(folder, name));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    for (const [path, text] of [...planted.map(([at, , body]) => [at, body] as const), ...innocent]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), `${text}\n`);
    }
    const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint");
    const run = spawnSync(process.execPath, [oxlint, "--format", "json"], { cwd: folder, encoding: "utf8" });
    const report: { diagnostics: { filename: string; code: string }[] } = JSON.parse(run.stdout);
    for (const { filename, code } of report.diagnostics) found.set(filename, [...(found.get(filename) ?? []), code]);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(planted)("oxlint objects to %s by %s when it is planted", (path, rule) => {
    expect(found.get(path)).toContain(rule);
  });

  it.each(innocent)("oxlint is content with %s when it keeps the rules", (path) => {
    expect(found.get(path)).toBeUndefined();
  });
});
