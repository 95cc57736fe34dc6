import { isDeepStrictEqual } from "node:util";
import { parse as parseToml, TomlError } from "smol-toml";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { refused, taken } from "../cli-errors.ts";
import { isTable, toTable, type ConfigFormat, type ListedServer, type Table } from "./config-format.ts";

const read = (text: string): Table => parseToml(text, { integersAsBigInt: "asNeeded" });

function tryParse(text: string): Table | undefined {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

function parse(text: string): Table {
  try {
    return read(text);
  } catch (error) {
    throw refused(error instanceof TomlError ? `it is not TOML in line ${error.line}` : "it is not TOML");
  }
}

/** Returns a value without a server, and without the container if it becomes empty. */
function without(value: Table, container: string, alias: string): Table {
  const { [container]: held, ...rest } = value;
  const { [alias]: _removed, ...others } = toTable(held);
  return Object.keys(others).length === 0 ? rest : { ...rest, [container]: others };
}

/** Renders a string or a list of strings, which are the same in TOML and JSON. Entries have nothing else. */
function renderValue(value: JsonValue | undefined): string {
  return Array.isArray(value) ? `[${value.map((one) => JSON.stringify(one)).join(", ")}]` : JSON.stringify(value);
}

function headerOf(container: string, alias: string): string {
  return `[${container}.${/^[\w-]+$/.test(alias) ? alias : JSON.stringify(alias)}]`;
}

/** Creates the error of servers that are not tables with headers. */
function notTables(container: string, value: Table): Error {
  const [first] = Object.keys(toTable(value[container]));
  const how = first === undefined ? "remove it first" : `write "${headerOf(container, first)}" first`;
  return refused(`"${container}" must consist of tables with headers; ${how}`);
}

function toBlock(container: string, alias: string, entry: JsonObject): readonly string[] {
  return [headerOf(container, alias), ...Object.entries(entry).map(([key, value]) => `${key} = ${renderValue(value)}`)];
}

/** One line of a file, with its line end. */
interface Line {
  readonly text: string;
  /** Whether it is the header of the table of a server, or of a table within that. */
  readonly isOurs: boolean;
  readonly isHeader: boolean;
}

/** Splits a text into lines. A line that looks like a header is part of a value if the text before it is not complete TOML. */
function readLines(text: string, container: string, alias: string): readonly Line[] {
  let before = "";
  return text.split(/(?<=\n)/).map((own) => {
    const alone = own.trimStart().startsWith("[") ? tryParse(own) : undefined;
    const isHeader = alone !== undefined && tryParse(before) !== undefined;
    before += own;
    return { text: own, isHeader, isOurs: isHeader && Object.hasOwn(toTable(alone[container]), alias) };
  });
}

const isBlank = ({ text }: Line): boolean => text.trim() === "";
const isBlankOrComment = (line: Line): boolean => isBlank(line) || line.text.trimStart().startsWith("#");

/** Drops the blocks of a server. A block ends with its last line of content: comments after it belong to what follows. */
function dropBlocks(lines: readonly Line[]): readonly Line[] {
  const start = lines.findIndex(({ isOurs }) => isOurs);
  if (start === -1) return lines;
  const next = lines.findIndex(({ isHeader }, index) => index > start && isHeader);
  const block = lines.slice(start, next === -1 ? undefined : next);
  const length = block.findLastIndex((line) => !isBlankOrComment(line)) + 1;
  const before = lines.slice(0, start);
  const spare = before.at(-1);
  const kept = spare !== undefined && isBlank(spare) ? before.slice(0, -1) : before;
  return dropBlocks([...kept, ...lines.slice(start + length)]);
}

/** The configuration of Codex, with one table for each server. */
export const tomlConfig: ConfigFormat = {
  list(text, container): readonly ListedServer[] {
    const held = toTable(parse(text)[container]);
    return Object.entries(held).flatMap(([alias, entry]) => (isTable(entry) ? [{ alias, entry }] : []));
  },

  add(text, container, { alias, entry }): string {
    const value = parse(text);
    if (Object.hasOwn(toTable(value[container]), alias)) throw taken(alias);
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const ended = text === "" || text.endsWith("\n") ? text : text + eol;
    const block = toBlock(container, alias, entry).map((line) => line + eol);
    const changed = `${ended}${ended === "" ? "" : eol}${block.join("")}`;
    const after = tryParse(changed);
    const isThere = after !== undefined && isDeepStrictEqual({ ...toTable(toTable(after[container])[alias]) }, entry);
    if (!isThere || !isDeepStrictEqual(without(after, container, alias), without(value, container, alias))) {
      throw notTables(container, value);
    }
    return changed;
  },

  remove(text, container, alias): string {
    const value = parse(text);
    if (!Object.hasOwn(toTable(value[container]), alias)) throw refused(`it has no server "${alias}"`);
    const changed = dropBlocks(readLines(text, container, alias))
      .map((line) => line.text)
      .join("");
    const after = tryParse(changed);
    const isGone = after !== undefined && !Object.hasOwn(toTable(after[container]), alias);
    if (!isGone || !isDeepStrictEqual(without(after, container, alias), without(value, container, alias))) {
      throw refused(`"${alias}" must be a table with a header; write "${headerOf(container, alias)}" first`);
    }
    return changed;
  },
};
