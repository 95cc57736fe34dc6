import * as fc from "fast-check";
import { createQuerySerializer, defaultPathSerializer } from "openapi-fetch";
import { describe, expect, it } from "vitest";
import type { Parameter } from "../../../src/from/openapi/parameters.ts";
import { UrlTemplate } from "../../../src/from/openapi/request-url.ts";
import type { JsonValue } from "../../../src/schema/json.ts";

const base = new URL("https://api.example");

/** A text that a path may hold: neither empty nor dots. */
const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
  .filter((one) => /^[^./\\;%]+$/.test(one.trim()));
const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true, min: 1 }), fc.boolean());
const key = fc.stringMatching(/^[a-z]{1,4}$/);
const list = fc.array(scalar, { minLength: 1, maxLength: 4 });
const object = fc.dictionary(key, scalar, { minKeys: 1, maxKeys: 4 });
const explode = fc.boolean();

/** The reference leaves these characters as they are. */
function strict(written: string): string {
  return written.replaceAll(/[!'()*[\]]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function ofPath(parameter: Omit<Parameter, "name" | "place">, value: JsonValue): string {
  const color: Parameter = { ...parameter, name: "color", place: "path" };
  return new UrlTemplate(base, "/{color}", [color]).build(() => value).pathname;
}

function ofQuery(parameter: Omit<Parameter, "name" | "place">, value: JsonValue): string {
  const color: Parameter = { ...parameter, name: "color", place: "query" };
  return new UrlTemplate(base, "/", [color]).build(() => value).search.slice(1);
}

describe("each supported style writes what openapi-fetch writes", () => {
  it("simple, in a path", () => {
    fc.assert(
      fc.property(fc.oneof(scalar, list, object), explode, (value, isExploded) => {
        const wanted = defaultPathSerializer(isExploded ? "/{color*}" : "/{color}", { color: value });
        expect(ofPath({ style: "simple", explode: isExploded }, value)).toBe(strict(wanted));
      }),
    );
  });

  it("form, in a query", () => {
    fc.assert(
      fc.property(fc.oneof(scalar, list, object), explode, (value, isExploded) => {
        const style = { style: "form", explode: isExploded } as const;
        const write = createQuerySerializer<Record<string, unknown>>({ array: style, object: style });
        expect(ofQuery(style, value)).toBe(strict(write({ color: value })));
      }),
    );
  });

  it("deepObject, in a query", () => {
    fc.assert(
      fc.property(object, (value) => {
        const style = { style: "deepObject", explode: true } as const;
        const write = createQuerySerializer<Record<string, unknown>>({ object: style });
        expect(ofQuery(style, value)).toBe(strict(write({ color: value })));
      }),
    );
  });
});
