import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askingFields, mcpFields } from "../../src/builder/app-definition.ts";
import { askTimeoutFields } from "../../src/catalog/asking/asking.ts";
import { inspectorListenFields } from "../../src/http/inspector/inspector-options.ts";
import { handlerFields, rateFields, serverFields } from "../../src/http/options.ts";
import type { Option } from "../../src/options/option.ts";
import { stdioFields } from "../../src/stdio/stdio.ts";
import { root } from "../architecture/source.ts";

type Fields = Readonly<Record<string, Option>>;

const page = readFileSync(join(root, "docs/guide/options.md"), "utf8");

/** Options of an option, as the page names them. */
function within(name: string, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([inner, field]) => [`${name}.${inner}`, field]));
}

const { timeoutMs: _, ...asking } = askingFields;
const serverOnly = Object.fromEntries(
  Object.entries(serverFields).filter(([name]) => !Object.hasOwn(handlerFields, name)),
);
const tables: Readonly<Record<string, Fields>> = {
  "`mcp(surface, options)`": mcpFields,
  "`asking` of `mcp(surface, options)`": { ...within("timeoutMs", askTimeoutFields), ...asking },
  "`stdio(options)`": stdioFields,
  "`http(options)` and `httpHandler(app, options)`": { ...handlerFields, ...within("rateLimit", rateFields) },
  "`http(options)` only": { ...serverOnly, ...within("inspector", inspectorListenFields) },
};

/** The cells "option" and "default" of the table below a heading; without backticks and quotes. */
function tabled(heading: string): ReadonlyMap<string, string> {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const rows = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  const cells = rows.map((row) =>
    row
      .replaceAll(/[`"]/g, "")
      .split("|")
      .map((cell) => cell.trim()),
  );
  return new Map(cells.map(([, option = "", , byDefault = ""]) => [option, byDefault]));
}

describe("docs/guide/options.md", () => {
  it.each(Object.entries(tables))("lists every option of %s, and no other", (heading, fields) => {
    expect([...tabled(heading).keys()].toSorted()).toEqual(Object.keys(fields).toSorted());
  });

  it.each(Object.entries(tables))("states the defaults of %s", (heading, fields) => {
    const cells = tabled(heading);
    const defaults = Object.entries(fields).filter(([, field]) => field.default !== undefined);
    expect(defaults.length).toBeGreaterThan(0);
    for (const [name, { default: value }] of defaults) {
      const stated = typeof value === "number" ? value.toLocaleString("en-US") : String(value);
      // What follows a colon or "for" says what the value means, or when it holds.
      expect([name, cells.get(name)?.split(/:| for /)[0]]).toEqual([name, stated]);
    }
  });
});
