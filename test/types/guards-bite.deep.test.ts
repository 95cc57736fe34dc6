import { cpSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, createWorkshop, emitSeparateDeclarations, type Diagnostic, type Workshop } from "./compile.ts";
import type { Guard } from "./guard.ts";
import { guards } from "./guards.ts";
import { assertions, judge, readTypeTests, type Judgement, type TypeTest } from "./type-tests.ts";

const generated = fileURLToPath(new URL("../../test-d/generated", import.meta.url));
const tests = readTypeTests();
let workshop: Workshop;
let diagnostics: readonly Diagnostic[];

function plain(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\s+/g, " ");
}

/** Links every file of a folder, which takes a third of the time of copies. */
function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else linkSync(source, target);
  }
}

function addPackage(folder: string): void {
  linkFiles(join(workshop.folder, "package"), join(workshop.folder, folder, "package"));
  // Types that a test imports.
  cpSync(generated, join(workshop.folder, folder, "test-d", "generated"), { recursive: true });
}

/** Takes a guard out of a package of its own. A guard that is no longer where the table says fails the test. */
function removeGuard(folder: string, guard: Guard): void {
  addPackage(folder);
  const path = join(workshop.folder, folder, "package", guard.file);
  const text = plain(readFileSync(path, "utf8"));
  rmSync(path);
  if (!text.includes(guard.guard)) throw new Error(`Removing a guard: ${guard.file} has no ${guard.guard}`);
  workshop.write(join(folder, "package", guard.file), text.replaceAll(guard.guard, guard.without));
}

function writeTest(folder: string, test: TypeTest): void {
  workshop.write(join(folder, "test-d", "assertions.ts"), assertions);
  workshop.write(join(folder, "test-d", test.name), test.text);
}

function judgementOf(folder: string, test: TypeTest): Judgement {
  const file = join(folder, "test-d", test.name);
  return judge(
    test,
    diagnostics.filter((diagnostic) => diagnostic.file === file),
  );
}

function testNamed(name: string): TypeTest {
  const found = tests.find((test) => test.name === name);
  if (found === undefined) throw new Error(`Reading the type tests: there is no ${name}`);
  return found;
}

describe("the negatives of the type tests", () => {
  // One program for all copies: what they share is read and checked once.
  beforeAll(() => {
    workshop = createWorkshop("guards");
    emitSeparateDeclarations(workshop);
    addPackage("whole");
    for (const test of tests) writeTest("whole", test);
    for (const [index, guard] of guards.entries()) {
      removeGuard(`without-${index}`, guard);
      writeTest(`without-${index}`, testNamed(guard.caughtBy));
    }
    rmSync(join(workshop.folder, "package"), { recursive: true });
    diagnostics = compile(workshop, ["*/test-d/*.ts"]);
  }, 300_000);

  // One folder for each guard: a busy disk takes its time.
  afterAll(() => workshop.remove(), 120_000);

  it("the type tests are found, and expect errors", () => {
    expect(tests.length).toBeGreaterThan(5);
    // The consumer of the matrix of compilers has to compile: it refuses nothing.
    const silent = tests.filter((test) => test.expected.length <= 3).map((test) => test.name);
    expect(silent.filter((name) => name !== "consumer.test-d.ts")).toEqual([]);
  });

  it.each(tests.map((test) => [test.name, test] as const))(
    "%s holds on this compiler when nothing is removed",
    (_name, test) => {
      expect(judgementOf("whole", test)).toEqual({ unmet: [], unexpected: [] });
    },
  );

  it("the copies fail for what was removed, and not because they do not compile", () => {
    const elsewhere = diagnostics.filter((diagnostic) => !/^(?:whole|without-\d+)\/test-d\//.test(diagnostic.file));
    expect(elsewhere).toEqual([]);
  });

  it.each(guards.map((guard, index) => [guard.promise, guard.caughtBy, index] as const))(
    "a type test fails when nothing sees to it that %s (%s)",
    (_promise, caughtBy, index) => {
      const { unmet, unexpected } = judgementOf(`without-${index}`, testNamed(caughtBy));
      expect([...unmet, ...unexpected]).not.toEqual([]);
    },
  );
});
