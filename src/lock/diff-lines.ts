import { isJsonObject, type JsonValue } from "../schema/json.ts";
import { escapeInvisible } from "../schema/visible-text.ts";

/** The product of line counts up to which lines are compared with one another. */
const maxCells = 1_000_000;

/** Returns the lengths of the longest common subsequences of all ends of two lists. */
function toLengths(before: readonly string[], after: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let at = before.length - 1; at >= 0; at -= 1) {
    for (let to = after.length - 1; to >= 0; to -= 1) {
      const [here, below] = [lengths[at], lengths[at + 1]];
      if (here === undefined || below === undefined) continue;
      const isSame = before[at] === after[to];
      here[to] = isSame ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, here[to + 1] ?? 0);
    }
  }
  return lengths;
}

function signed(sign: "-" | "+", lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${sign} ${line}`);
}

/** Returns the lines of both lists in one order: `- ` before a line that went, `+ ` before one that came, two spaces before others. */
function diffLines(before: readonly string[], after: readonly string[]): readonly string[] {
  const lengths = toLengths(before, after);
  const lengthAt = (at: number, to: number): number => lengths[at]?.[to] ?? 0;
  const lines: string[] = [];
  let [at, to] = [0, 0];
  while (at < before.length && to < after.length) {
    const [old = "", next = ""] = [before[at], after[to]];
    if (old === next) {
      lines.push(`  ${old}`);
      at += 1;
      to += 1;
    } else if (lengthAt(at + 1, to) >= lengthAt(at, to + 1)) {
      lines.push(`- ${old}`);
      at += 1;
    } else {
      lines.push(`+ ${next}`);
      to += 1;
    }
  }
  return [...lines, ...signed("-", before.slice(at)), ...signed("+", after.slice(to))];
}

/** Returns a text by its sentences, or another value as JSON, a field a line. Escapes characters that a reader would not see. */
function toLines(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return [];
  const lines = typeof value === "string" ? value.split(/(?<=[.!?]) +|\n/) : JSON.stringify(value, null, 2).split("\n");
  return lines.map(escapeInvisible);
}

/** Returns the fields of a record that came or went, one a line, with a sign before each. */
export function listFields(record: JsonValue | undefined, sign: "-" | "+"): readonly string[] {
  const fields = isJsonObject(record) ? Object.entries(record) : [];
  const lines = fields.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return signed(sign, lines.map(escapeInvisible));
}

/** Returns the difference of two values with a sign before each line: texts by sentence, others as JSON. */
export function diffValues(before: JsonValue | undefined, after: JsonValue | undefined): readonly string[] {
  const [was, is] = [toLines(before), toLines(after)];
  const isLong = was.length * is.length > maxCells;
  const lines = isLong ? [...signed("-", was), ...signed("+", is)] : diffLines(was, is);
  if (lines.some((line) => !line.startsWith("  "))) return lines;
  // Only the spaces between sentences differ.
  return [`- ${JSON.stringify(before)}`, `+ ${JSON.stringify(after)}`].map(escapeInvisible);
}
