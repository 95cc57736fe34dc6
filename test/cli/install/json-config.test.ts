import * as fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { jsonConfig } from "../../../src/cli/install/json-config.ts";

const entry = { url: "http://127.0.0.1:4000/mcp" };
const server = { alias: "ours", entry };
const add = (text: string): string => jsonConfig.add(text, "mcpServers", server);
const remove = (text: string): string => jsonConfig.remove(text, "mcpServers", "ours");

/** A text, and the same with our server in it. */
const cases: readonly (readonly [name: string, before: string, after: string])[] = [
  [
    "is an empty object",
    `{}\n`,
    `{\n  "mcpServers": {\n    "ours": {\n      "url": "http://127.0.0.1:4000/mcp"\n    }\n  }\n}\n`,
  ],
  [
    "has servers, a comment behind the last and one in front of the end",
    `{\n  "mcpServers": {\n    "a": { "command": "x" } // keep\n    // the end\n  }\n}\n`,
    `{\n  "mcpServers": {\n    "a": { "command": "x" }, // keep\n    // the end\n    "ours": {\n      "url": "http://127.0.0.1:4000/mcp"\n    }\n  }\n}\n`,
  ],
  [
    "ends lists with a comma",
    `{\n\t"mcpServers": {\n\t\t"a": {},\n\t},\n}`,
    `{\n\t"mcpServers": {\n\t\t"a": {},\n\t\t"ours": {\n\t\t\t"url": "http://127.0.0.1:4000/mcp"\n\t\t},\n\t},\n}`,
  ],
  [
    "has the line ends of Windows",
    `{\r\n    "mcpServers": {\r\n        "a": {}\r\n    }\r\n}\r\n`,
    `{\r\n    "mcpServers": {\r\n        "a": {},\r\n        "ours": {\r\n            "url": "http://127.0.0.1:4000/mcp"\r\n        }\r\n    }\r\n}\r\n`,
  ],
  [
    "is one line",
    `{"other":1,"mcpServers":{"a":{}}}`,
    `{"other":1,"mcpServers":{"a":{},"ours":{"url":"http://127.0.0.1:4000/mcp"}}}`,
  ],
  [
    "is one line with space in it",
    `{ "mcpServers": { "a": {} } }`,
    `{ "mcpServers": { "a": {}, "ours":{"url":"http://127.0.0.1:4000/mcp"} } }`,
  ],
  [
    "has an empty object of servers",
    `{\n  "mcpServers": {},\n  "z": [1, 2]\n}\n`,
    `{\n  "mcpServers": {\n    "ours": {\n      "url": "http://127.0.0.1:4000/mcp"\n    }\n  },\n  "z": [1, 2]\n}\n`,
  ],
];

describe("the configuration in JSON", () => {
  it.each(cases)("gets a server and keeps everything else when the file %s", (_name, before, after) => {
    expect(add(before)).toBe(after);
  });

  it.each(cases.slice(1))("has the same bytes after a server is removed when the file %s", (_name, before) => {
    expect(remove(add(before))).toBe(before);
  });

  it("loses a server in the middle with its line, and keeps every comment", () => {
    const before = `{\n  "mcpServers": {\n    // first\n    "a": {},\n    // ours\n    "ours": {}, // so there\n    "b": {}\n  }\n}\n`;
    expect(remove(before)).toBe(
      `{\n  "mcpServers": {\n    // first\n    "a": {},\n    // ours\n    // so there\n    "b": {}\n  }\n}\n`,
    );
  });

  it("loses the last server with the comma before it when a comment stands between them", () => {
    const before = `{"mcpServers": {"a": {}, /* note */ "ours": {}}}`;
    expect(remove(before)).toBe(`{"mcpServers": {"a": {} /* note */}}`);
  });

  it.each([
    ["no JSON", `{ "a": 1\n "b" }`, "line 2"],
    ["a list", `[]`, "must hold a JSON object"],
    ["servers that are a list", `{ "mcpServers": [] }`, `"mcpServers" must be an object`],
    ["the servers twice", `{ "mcpServers": {}, "mcpServers": {} }`, "twice"],
    ["the server already", `{ "mcpServers": { "ours": 1 } }`, `it already has a server "ours"`],
  ])("gets no server when the file holds %s", (_name, text, message) => {
    expect(() => add(text)).toThrow(message);
  });

  it("loses no server that is missing or defined twice", () => {
    expect(() => remove(`{}`)).toThrow(`it has no server "ours"`);
    expect(() => remove(`{ "mcpServers": { "ours": 1, "ours": 2 } }`)).toThrow("twice");
  });

  it("lists only valid servers", () => {
    expect(jsonConfig.list(`{ "servers": { "a": { "url": "u" }, "b": 1 } }`, "servers")).toEqual([
      { alias: "a", entry: { url: "u" } },
    ]);
  });
});

/** White space and comments, wherever JSON takes them. */
const gap = fc.constantFrom("", " ", "\n", "\n  ", ' // a, "b": {\n', "/* } , */", "\r\n\t");

/** Text of an object with gaps between everything, and maybe a last comma. */
function spell(properties: readonly (readonly [string, string])[], gaps: readonly string[], isOpen: boolean): string {
  let index = 0;
  const next = (): string => gaps[index++ % gaps.length] ?? "";
  const inner = properties.map(([key, text]) => `${next()}${JSON.stringify(key)}${next()}:${next()}${text}${next()}`);
  return `{${inner.join(",")}${isOpen && inner.length > 0 ? "," : ""}${next()}}`;
}

describe("any JSON file", () => {
  const names = fc.uniqueArray(
    fc.string({ maxLength: 6 }).filter((name) => name !== "ours" && name !== "__proto__"),
    {
      maxLength: 4,
    },
  );
  const texts = fc
    .tuple(names, fc.uniqueArray(fc.constantFrom("x", "y", "z")), fc.array(gap, { minLength: 1 }), fc.boolean())
    .map(([servers, others, gaps, isOpen]) => {
      const held = spell(
        servers.map((name) => [name, `{"command":"c"}`] as const),
        gaps,
        isOpen,
      );
      return spell([...others.map((name) => [name, "[1,2,{}]"] as const), ["mcpServers", held] as const], gaps, isOpen);
    });

  it("has one more server after an addition, and equal content after its removal", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const meant: Record<string, object> = parse(text);
        const added = add(text);
        expect(parse(added)).toEqual({ ...meant, mcpServers: { ...meant["mcpServers"], ours: entry } });
        const comments = (all: string): readonly string[] =>
          (all.match(/\/\/ a[^\n]*|\/\*.*?\*\//g) ?? []).map((one) => one.trimEnd());
        expect(comments(added)).toEqual(comments(text));
        const removed = remove(added);
        expect(parse(removed)).toEqual(meant);
        expect(comments(removed)).toEqual(comments(text));
      }),
      { numRuns: 1_000 },
    );
  });
});
