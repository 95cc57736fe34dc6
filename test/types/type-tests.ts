import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Visitor, type CallExpression } from "oxc-parser";
import { listFiles, root, toSource } from "../architecture/source.ts";
import type { Diagnostic } from "./compile.ts";

/** A stretch of a file. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A type test as the compiler can run it: tsd's own assertions are written out as types. */
export interface TypeTest {
  /** The name of the file, without its folder. */
  readonly name: string;
  readonly text: string;
  /** Where an error must be. */
  readonly expected: readonly Span[];
}

/** What the compiler made of a type test. */
export interface Judgement {
  /** Expected errors that are not there. */
  readonly unmet: readonly string[];
  /** Errors that nobody expected. */
  readonly unexpected: readonly string[];
}

/** The assertions whose second type is inferred, which takes a call of its own. */
const twoCalls: ReadonlySet<string> = new Set(["expectType", "expectNotAssignable"]);

/** tsd compares types for identity; so does this. */
export const assertions = `
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [differs: never];
export declare function expectType<T>(): <X>(value: X, ...same: Same<T, X>) => T;
export declare function expectError<T = any>(value: T): T;
export declare function expectAssignable<T>(value: T): void;
type Misfits<X, T> = [X] extends [T] ? [assignable: never] : [];
export declare function expectNotAssignable<T>(): <X>(value: X, ...misfits: Misfits<X, T>) => void;
`;

function calleeOf(call: CallExpression): string | undefined {
  return call.callee.type === "Identifier" ? call.callee.name : undefined;
}

/** Reads a type test, and makes it import the package and the assertions from beside it. */
function toTypeTest(path: string): TypeTest {
  const original = readFileSync(join(root, path), "utf8")
    .replaceAll(/from "surface-mcp\/([a-z0-9/-]+)"/g, 'from "../package/$1/index.js"')
    .replaceAll(/from "surface-mcp"/g, 'from "../package/index.js"')
    .replaceAll(/from "tsd"/g, 'from "./assertions.ts"');
  const inserts: number[] = [];
  new Visitor({
    CallExpression(call) {
      if (twoCalls.has(calleeOf(call) ?? "") && call.typeArguments) inserts.push(call.typeArguments.end);
    },
  }).visit(toSource(path, original).program);
  let text = original;
  for (const at of inserts.toSorted((left, right) => right - left)) text = `${text.slice(0, at)}()${text.slice(at)}`;

  const expected: Span[] = [];
  new Visitor({
    CallExpression(call) {
      if (calleeOf(call) === "expectError") expected.push({ start: call.start, end: call.end });
    },
  }).visit(toSource(path, text).program);
  return { name: path.replace(/^.*\//, ""), text, expected };
}

/**
 * Every type test of the package. That of an example shows how an app's exposure is tested, and needs its app: tsd runs it
 * with the others.
 */
export function readTypeTests(): TypeTest[] {
  const tests = listFiles("test-d", ".test-d.ts").map(toTypeTest);
  return tests.filter(({ text }) => !text.includes('from "../examples/'));
}

function offsetOf(text: string, diagnostic: Diagnostic): number {
  const lines = text.split("\n");
  return lines.slice(0, diagnostic.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + diagnostic.column - 1;
}

/** Compares what the compiler said of a type test with what the test expects. */
export function judge(test: TypeTest, diagnostics: readonly Diagnostic[]): Judgement {
  const offsets = diagnostics.map((diagnostic) => offsetOf(test.text, diagnostic));
  const within = (span: Span, offset: number): boolean => offset >= span.start && offset < span.end;
  return {
    unmet: test.expected
      .filter((span) => !offsets.some((offset) => within(span, offset)))
      .map((span) => test.text.slice(span.start, span.end)),
    unexpected: diagnostics
      .filter((_diagnostic, index) => !test.expected.some((span) => within(span, offsets[index] ?? -1)))
      .map(({ line, code, message }) => `${test.name}:${line} ${code} ${message}`),
  };
}
