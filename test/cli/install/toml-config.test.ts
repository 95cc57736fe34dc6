import * as fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { tomlConfig } from "../../../src/cli/install/toml-config.ts";

const entry = { url: "http://127.0.0.1:4000/mcp?surface=hub", bearer_token_env_var: "TOKEN" };
const add = (text: string): string => tomlConfig.add(text, "mcp_servers", { alias: "ours", entry });
const remove = (text: string): string => tomlConfig.remove(text, "mcp_servers", "ours");
const block = `[mcp_servers.ours]\nurl = "http://127.0.0.1:4000/mcp?surface=hub"\nbearer_token_env_var = "TOKEN"\n`;

describe("the configuration in TOML", () => {
  it.each([
    ["is empty", "", block],
    ["ends with a line", `model = "m" # mine\n`, `model = "m" # mine\n\n${block}`],
    [
      "has tables",
      `[a]\nb = 1\n\n[mcp_servers.x]\ncommand = "c"\n`,
      `[a]\nb = 1\n\n[mcp_servers.x]\ncommand = "c"\n\n${block}`,
    ],
  ])("gets a table, and loses exactly that again, when the file %s", (_name, before, after) => {
    expect(add(before)).toBe(after);
    expect(remove(after)).toBe(before);
  });

  it("keeps Windows line ends", () => {
    expect(add(`a = 1\r\n`)).toBe(`a = 1\r\n\r\n${block.replaceAll("\n", "\r\n")}`);
    expect(remove(add(`a = 1\r\n`))).toBe(`a = 1\r\n`);
  });

  it("has a command in the form of Codex", () => {
    const text = tomlConfig.add("", "mcp_servers", { alias: "x", entry: { command: "node", args: ['a "b"', "\\"] } });
    expect(text).toBe(`[mcp_servers.x]\ncommand = "node"\nargs = ["a \\"b\\"", "\\\\"]\n`);
    expect(parse(text)).toEqual({ mcp_servers: { x: { command: "node", args: ['a "b"', "\\"] } } });
  });

  it("loses the tables within a server, and keeps comments before the next table", () => {
    const before = `[ mcp_servers . "ours" ] # c\nurl = "u"\n[mcp_servers.ours.env]\nA = "1"\n\n# about b\n[b]\nc = 1\n`;
    expect(remove(before)).toBe(`\n# about b\n[b]\nc = 1\n`);
  });

  it("keeps comments above the table of a removed server", () => {
    const before = `a = 1\n\n# about ours\n[mcp_servers.ours]\n# within\nurl = "u"\n# behind\n`;
    expect(remove(before)).toBe(`a = 1\n\n# about ours\n# behind\n`);
  });

  it("keeps values that look like headers", () => {
    const text = `a = """\n[mcp_servers.ours]\n"""\nb = [\n["mcp_servers.ours"],\n]\n\n[mcp_servers.ours]\nargs = [\n["[c]"],\n]\n\n[z]\ny = 1\n`;
    expect(remove(text)).toBe(`a = """\n[mcp_servers.ours]\n"""\nb = [\n["mcp_servers.ours"],\n]\n\n[z]\ny = 1\n`);
  });

  it("keeps numbers that JavaScript cannot represent", () => {
    expect(remove(add(`a = 9223372036854775807\n`))).toBe(`a = 9223372036854775807\n`);
  });

  it.each([
    ["no TOML", `a = 1\nb = \n`, "it is not TOML in line 2"],
    [
      "the server already",
      `mcp_servers.ours.url = "u"`,
      `it already has a server "ours"; run with "--remove ours" first, or pass another "--name"`,
    ],
    [
      "servers in one line",
      `mcp_servers = { "x.y" = { url = "u" } }`,
      `"mcp_servers" must consist of tables with headers; write "[mcp_servers."x.y"]" first`,
    ],
    [
      "no servers in one line",
      `mcp_servers = {}`,
      `"mcp_servers" must consist of tables with headers; remove it first`,
    ],
  ])("gets no server when the file holds %s", (_name, text, message) => {
    expect(() => add(text)).toThrow(message);
  });

  it.each([
    ["is not there", `[a]`, `it has no server "ours"`],
    [
      "is within another table",
      `[mcp_servers]\nours = { url = "u" }\n`,
      `must be a table with a header; write "[mcp_servers.ours]" first`,
    ],
  ])("loses no server when the server %s", (_name, text, message) => {
    expect(() => remove(text)).toThrow(message);
  });

  it("has one more server after an addition, and the same lines after its removal, for any file", () => {
    const lines = fc.constantFrom("# c", "", "[mcp_servers.x]", "[b.c]", "[[d]]", "[[d]]", '[mcp_servers."o.urs"]');
    fc.assert(
      fc.property(fc.array(lines), (drawn) => {
        const seen = new Set<string>();
        const own = drawn.filter(
          (line) => line === "[[d]]" || !line.startsWith("[") || (!seen.has(line) && seen.add(line)),
        );
        const text = own.map((line) => (line.startsWith("[") ? `${line}\nk = "[v]"\n` : `${line}\n`)).join("");
        const meant: Readonly<Record<string, unknown>> = parse(text);
        const added = add(text);
        expect(parse(added)).toEqual({ ...meant, mcp_servers: { ...Object(meant["mcp_servers"]), ours: entry } });
        expect(remove(added)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });
});
