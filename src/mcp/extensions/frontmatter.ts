import { SurfaceError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";

/** A line of the frontmatter that is neither blank nor a comment, or a line of a block of text. */
interface Line {
  readonly number: number;
  readonly indent: number;
  /** Without white space at both ends. */
  readonly text: string;
  readonly raw: string;
}

function refuse({ number }: Pick<Line, "number">, problem: string): SurfaceError {
  const what = `Cannot read frontmatter: line ${number} ${problem}`;
  return new SurfaceError(
    "INVALID_OPTION",
    `${what}; write "key: value", a quoted text, a list of "- item" or a block after "|"`,
  );
}

const constants: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ...["", "~", "null", "Null", "NULL"].map((text) => [text, null] as const),
  ...["true", "True", "TRUE"].map((text) => [text, true] as const),
  ...["false", "False", "FALSE"].map((text) => [text, false] as const),
]);
const decimal = /^[+-]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][+-]?\d+)?$/;
// Tags, anchors, flow collections, numbers of other bases: other YAML readers give them a meaning that this one does not.
const special = /^(?:[[\]{}&*!|>%@`"',#]|[-?:](?:\s|$)|---|\.\.\.|0[ox]|[+-]?\.(?:inf|nan))/i;

/** Reads a scalar of YAML 1.2's core schema. */
function readScalar(line: Line, text: string): JsonValue {
  const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:\s#.*)?$/.exec(text)?.[1];
  if (quoted?.startsWith("'") === true) return quoted.slice(1, -1).replaceAll("''", "'");
  if (quoted !== undefined) {
    try {
      // A text in double quotes, with the escapes that YAML shares with JSON.
      return JSON.parse(quoted) as string;
    } catch {
      throw refuse(line, "has an escape that JSON does not have");
    }
  }
  const plain = trim(text.replace(/(?:^|[ \t])#.*$/, ""));
  if (special.test(plain) || /:(?:\s|$)/.test(plain)) throw refuse(line, "has a value that must be quoted");
  const constant = constants.get(plain);
  if (constant !== undefined) return constant;
  return decimal.test(plain) ? Number(plain) : plain;
}

/** Removes the white space of YAML: spaces and tabs, and no others. */
function trim(text: string): string {
  return text.replace(/^[ \t]+/, "").replace(/[ \t]+$/, "");
}

/** Reads the lines of one frontmatter, in order. */
class FrontmatterReader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines.map((text, index) => ({
      number: index + 2,
      indent: text.search(/[^ ]|$/),
      text: trim(text),
      raw: text,
    }));
  }

  readMapping(indent: number): JsonObject {
    const fields = new Map<string, JsonValue>();
    for (let line = this.#peek(); line !== undefined && line.indent >= indent; line = this.#peek()) {
      const [, key = "", value = ""] = /^([A-Za-z0-9_][\w.-]*):(?:[ \t]+(.*))?$/.exec(line.text) ?? [];
      if (key === "" || line.indent > indent) throw refuse(line, "is not a field");
      if (key === "__proto__" || fields.has(key)) throw refuse(line, `must not have the key "${key}"`);
      this.#at += 1;
      fields.set(key, this.#readValue(line, value));
    }
    return Object.fromEntries(fields);
  }

  /** Returns the next line that has a meaning. */
  #peek(): Line | undefined {
    while (/^(?:#.*)?$/.test(this.#lines[this.#at]?.text ?? "end")) this.#at += 1;
    return this.#lines[this.#at];
  }

  #readValue(line: Line, value: string): JsonValue {
    const block = /^([|>]-?)$/.exec(value)?.[1];
    if (block !== undefined) return this.#readBlock(line, block);
    const next = this.#peek();
    if (/^(?:#.*)?$/.test(value)) return this.#readNested(line, next);
    return next === undefined || next.indent <= line.indent ? readScalar(line, value) : this.#readFolded(line, value);
  }

  /** The value of a key with nothing behind it. */
  #readNested({ indent }: Line, next: Line | undefined): JsonValue {
    if (next === undefined || next.indent < indent) return null;
    if (next.text.startsWith("- ")) return this.#readList(next.indent);
    if (next.indent === indent) return null;
    if (indent > 0) throw refuse(next, "is nested too deep");
    return this.readMapping(next.indent);
  }

  #readList(indent: number): JsonValue {
    const items: JsonValue[] = [];
    for (let line = this.#peek(); line?.indent === indent && line.text.startsWith("- "); line = this.#peek()) {
      this.#at += 1;
      items.push(readScalar(line, trim(line.text.slice(2))));
    }
    return items;
  }

  /** A plain text that goes on in further lines. */
  #readFolded(first: Line, value: string): JsonValue {
    const parts = [value];
    for (let line = this.#peek(); line !== undefined && line.indent > first.indent; line = this.#peek()) {
      const isNext = line.number === first.number + parts.length;
      if (!isNext || line.text.includes("#") || /^["']/.test(value)) {
        throw refuse(line, "goes on with a text that must be a block");
      }
      this.#at += 1;
      parts.push(line.text);
    }
    const text = readScalar(first, parts.join(" "));
    if (typeof text !== "string") throw refuse(first, "goes on with a text");
    return text;
  }

  /** @param style - `|` keeps line ends, `>` folds them; `-` removes the last one. */
  #readBlock(first: Line, style: string): string {
    const rest = this.#lines.slice(this.#at);
    const length = rest.findIndex(({ text, indent }) => text !== "" && indent <= first.indent);
    const block = length === -1 ? rest : rest.slice(0, length);
    const indent = block.find(({ text }) => text !== "")?.indent ?? 0;
    const odd = block.find((line) => (line.text === "" ? line.raw.length > indent : line.indent !== indent));
    if (odd !== undefined) throw refuse(odd, "is indented unlike the first line of its block");
    this.#at += block.length;
    const text = block
      .map((line) => line.raw.slice(indent))
      .join("\n")
      .replace(/\n+$/, "");
    const folded = text.replaceAll(/\n+/g, (ends, at) => (at === 0 ? ends : ends.slice(1) || " "));
    const body = style.startsWith("|") ? text : folded;
    return style.endsWith("-") || body === "" ? body : `${body}\n`;
  }
}

/**
 * Reads the frontmatter of a `SKILL.md`: fields, nested fields of one level, lists of values, quoted texts and blocks. Refuses other
 * YAML, which another reader could understand in another way.
 *
 * @throws SurfaceError `INVALID_OPTION`, which names the line.
 */
export function readFrontmatter(markdown: string): JsonObject {
  const lines = markdown.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && /^---[\t ]*$/.test(line));
  if (lines[0]?.trimEnd() !== "---" || end === -1) {
    throw refuse({ number: 1 }, 'must be "---", and another "---" must end it');
  }
  const own = lines.slice(1, end);
  const tab = own.findIndex((line) => /^ *\t/.test(line));
  if (tab !== -1) throw refuse({ number: tab + 2 }, "is indented by a tab");
  const reader = new FrontmatterReader(own);
  return reader.readMapping(0);
}
