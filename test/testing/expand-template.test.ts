import { describe, expect, it } from "vitest";
import { expandTemplate } from "../../src/testing/expand-template.ts";

describe("expandTemplate()", () => {
  it.each([
    ["s://a/{key}", { key: "x" }, "s://a/x"],
    ["s://a/{key}", { key: "a b/c?d#e{f}" }, "s://a/a%20b%2Fc%3Fd%23e%7Bf%7D"],
    ["s://a/{key}", { key: 0 }, "s://a/0"],
    ["s://a/{key}", { key: false }, "s://a/false"],
    ["s://a/{x}{/y}", { x: 1, y: 2 }, "s://a/1/2"],
    ["s://a/{x}{/y}", { x: 1 }, "s://a/1"],
    ["s://a/{toString}", {}, "s://a/"],
    ["s://a", { key: "x" }, "s://a"],
  ])("expandTemplate() makes of %s with %j %s", (template, variables, uri) => {
    expect(expandTemplate(template, variables)).toBe(uri);
  });

  it.each(["\uD800", "a\uDC00b"])("expandTemplate() throws INVALID_OPTION when a variable is no text", (key) => {
    const code = { code: "INVALID_OPTION", message: expect.stringContaining('"key"') };
    expect(() => expandTemplate("s://a/{key}", { key })).toThrow(expect.objectContaining(code));
  });
});
