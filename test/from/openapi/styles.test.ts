import { describe, expect, it } from "vitest";
import type { Parameter } from "../../../src/from/openapi/parameters.ts";
import { toHeader, UrlTemplate } from "../../../src/from/openapi/request-url.ts";
import type { JsonValue } from "../../../src/schema/json.ts";

const array = ["blue", "black", "brown"];
const object = { R: 100, G: 200, B: 150 };
const base = new URL("https://api.example");

function path(explode: boolean, value: JsonValue): string {
  const parameter: Parameter = { name: "color", place: "path", style: "simple", explode };
  return new UrlTemplate(base, "/{color}", [parameter]).build(() => value).pathname.slice(1);
}

function query(style: "form" | "deepObject" | "json", explode: boolean, value: JsonValue): string {
  const parameter: Parameter = { name: "color", place: "query", style, explode };
  return new UrlTemplate(base, "/", [parameter]).build(() => value).search.slice(1);
}

describe("a segment of several values", () => {
  it.each([
    ["/a/{x}{y}", { x: ".%2", y: "e" }],
    ["/a/{x}{y}/b", { x: "%2", y: "e." }],
    ["/a/.{x}", { x: "/admin" }],
    ["/a/.{x}", { x: ";y" }],
    ["/a/{x}.", { x: "b/" }],
  ] as const)("is not dots together: %s with %j", (template, values) => {
    const parameters = Object.keys(values).map((name) => ({ name, place: "path", style: "simple", explode: false }));
    // The tuple above has only texts.
    const build = (given: Readonly<Record<string, string>>) =>
      new UrlTemplate(base, template, parameters as readonly Parameter[]).build(({ name }) => given[name]);
    expect(() => build(values)).toThrow("would change the path");
    expect(build({ x: "one", y: "two" }).pathname).toContain("one");
  });
});

describe("parameter styles", () => {
  // The table "Style Examples" of OpenAPI 3.1.0, section 4.8.12.4.
  it.each([
    [path(false, "blue"), "blue"],
    [path(false, array), "blue,black,brown"],
    [path(false, object), "R,100,G,200,B,150"],
    [path(true, object), "R=100,G=200,B=150"],
    [query("form", false, ""), "color="],
    [query("form", false, "blue"), "color=blue"],
    [query("form", false, array), "color=blue,black,brown"],
    [query("form", false, object), "color=R,100,G,200,B,150"],
    [query("form", true, ""), "color="],
    [query("form", true, "blue"), "color=blue"],
    [query("form", true, array), "color=blue&color=black&color=brown"],
    [query("form", true, object), "R=100&G=200&B=150"],
    [query("deepObject", true, object), "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
  ])("writes %s as the specification does", (written, wanted) => {
    expect(written).toBe(wanted);
  });

  it("write what the specification leaves open without a guess", () => {
    expect(query("form", true, [])).toBe("");
    expect(query("form", false, [])).toBe("");
    expect(query("form", true, { a: null, b: false })).toBe("b=false");
    expect(query("json", false, { a: [1, { b: "&" }] })).toBe(`color=${encodeURIComponent('{"a":[1,{"b":"&"}]}')}`);
    expect(() => query("form", true, [["a"]])).toThrow("values within values");
    expect(() => query("deepObject", true, { a: { b: 1 } })).toThrow("values within values");
    expect(() => query("deepObject", true, "a")).toThrow("must be an object");
    expect(() => path(false, [])).toThrow("must not be empty");
    expect(() => path(false, ["a", ".."])).toThrow("encoded or not");
    expect(() => path(true, null)).toThrow("has a null");
  });

  it("do not let the fields of an object pass for another parameter", () => {
    const parameters: readonly Parameter[] = [
      { name: "filter", place: "query", style: "form", explode: true },
      { name: "admin", place: "query", style: "form", explode: true },
    ];
    const template = new UrlTemplate(base, "/", parameters);
    expect(() => template.build(({ name }) => (name === "filter" ? { admin: "yes" } : undefined))).toThrow(
      'the field "admin", which is another parameter',
    );
    expect(template.build(({ name }) => (name === "filter" ? { kind: "a" } : "no")).search).toBe("?kind=a&admin=no");
  });

  it("write headers in the style simple, of characters that a header can hold", () => {
    const header = (explode: boolean): Parameter => ({
      name: "x",
      place: "header",
      style: "simple",
      explode,
    });
    expect(toHeader(header(false), array)).toBe("blue,black,brown");
    expect(toHeader(header(true), object)).toBe("R=100,G=200,B=150");
    for (const value of ["a\nb", "a\rb", "a\0b", "é", "\uD800"]) {
      expect(() => toHeader(header(false), value)).toThrow("no header can hold");
    }
  });
});
