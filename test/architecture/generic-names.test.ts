import { describe, expect, it } from "vitest";
import { findBadGenerics } from "./rules/generic-names.ts";
import { readSources, toSource } from "./source.ts";

describe("names of type parameters", () => {
  it("every type parameter says who fills it when src is read", () => {
    const sources = readSources("src");
    expect(sources.some((source) => /<\$[A-Z]/.test(source.text))).toBe(true);
    expect(sources.flatMap(findBadGenerics)).toEqual([]);
  });

  it.each([
    ["a lone capital", `export type A<K> = K;`],
    ["T beside another", `export type A<T, TOther> = T | TOther;`],
    ["a bare word", `export function f<Input>(x: Input): Input { return x; }`],
    ["a small letter after T", `export interface A<Tag> { x: Tag }`],
    ["a bare word on a method", `export class A { f<Input>(x: Input): void {} }`],
  ])("findBadGenerics() objects when a file has %s", (_what, text) => {
    expect(findBadGenerics(toSource("src/a/a.ts", text))).toHaveLength(1);
  });

  it("findBadGenerics() is content when names follow the rule or are local", () => {
    const text = `export type A<T> = T extends (infer Item)[] ? { [Key in keyof Item]: 1 } : never;
      export function f<const $Input, TRest extends 1>(x: $Input, y: TRest): void {}`;
    expect(findBadGenerics(toSource("src/a/a.ts", text))).toEqual([]);
  });
});
