import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toAskTimeouts } from "../../src/catalog/ask-timeouts.ts";
import { resolveServerOptions } from "../../src/http/resolve-options.ts";
import { root, toSource } from "../architecture/source.ts";

const page = readFileSync(join(root, "docs/guide/options.md"), "utf8");

/** The option names in the first column of the table below a heading, without those of nested objects. */
function tabled(heading: string): readonly string[] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const rows = (section.split("\n## ")[0] ?? "").matchAll(/^\| `(\w+)(?:\.\w+)?`/gm);
  return [...new Set([...rows].map(([, name = ""]) => name))].toSorted();
}

/** The cell "default" of an option's row. */
function defaultOf(option: string): string | undefined {
  const row = page.split("\n").find((line) => line.startsWith(`| \`${option}\``));
  return row?.split("|")[3]?.trim();
}

/** The names that an interface declares itself. */
function declared(path: string, name: string): readonly string[] {
  const { program } = toSource(path, readFileSync(join(root, path), "utf8"));
  const found = program.body.flatMap((node) =>
    node.type === "ExportNamedDeclaration" && node.declaration?.type === "TSInterfaceDeclaration"
      ? [node.declaration]
      : [],
  );
  const members = found.find(({ id }) => id.name === name)?.body.body ?? [];
  return members.flatMap((one) =>
    one.type === "TSPropertySignature" && one.key.type === "Identifier" ? [one.key.name] : [],
  );
}

describe("docs/guide/options.md", () => {
  it.each([
    ["`mcp(surface, options)`", [["src/builder/app-definition.ts", "McpOptions"]]],
    ["`asking` of `mcp(surface, options)`", [["src/builder/app-definition.ts", "AskingOptions"]]],
    [
      "`stdio(options)`",
      [
        ["src/stdio/stdio.ts", "StdioOptions"],
        ["src/stdio/local-caller.ts", "LocalCallerOptions"],
      ],
    ],
    ["`http(options)` and `httpHandler(app, options)`", [["src/http/http-options.ts", "HttpHandlerOptions"]]],
    ["`http(options)` only", [["src/http/http-options.ts", "HttpOptions"]]],
  ] as const)("lists every option under %s, and no other", (heading, interfaces) => {
    const names = interfaces.flatMap(([path, name]) => declared(path, name)).toSorted();
    expect(names.length).toBeGreaterThan(0);
    expect(tabled(heading)).toEqual(names);
  });

  const { bounds, port, headersTimeoutMs, requestTimeoutMs, drainMs } = resolveServerOptions({});
  // The default of the sixteenth is in words.
  const { maxSessionsPerPrincipal: _, ...numbers } = { ...bounds, headersTimeoutMs, requestTimeoutMs, drainMs };
  const asking = Object.entries(toAskTimeouts()).map(([kind, ms]) => [`timeoutMs.${kind}`, ms] as const);

  it.each([...Object.entries(numbers), ...asking])("states the default of %s", (option, value) => {
    expect(defaultOf(option)).toBe(value.toLocaleString("en-US"));
  });

  it("states the default of port", () => {
    expect([defaultOf("port"), port]).toEqual(["0: a free one", 0]);
  });
});
