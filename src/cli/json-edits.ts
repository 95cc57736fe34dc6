import { createScanner, type Edit, type Node } from "jsonc-parser";
import type { JsonObject } from "../schema/json.ts";

/** A token or a comment: what is more than white space. */
interface Mark {
  readonly start: number;
  readonly end: number;
  readonly isComma: boolean;
}

const endOf = ({ offset, length }: Node): number => offset + length;

/** What stands between two places, white space left out. */
function marksOf(text: string, from: number, to: number): readonly Mark[] {
  const scanner = createScanner(text, false);
  const marks: Mark[] = [];
  scanner.setPosition(from);
  for (scanner.scan(); scanner.getTokenLength() > 0 && scanner.getTokenOffset() < to; scanner.scan()) {
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    const own = text.slice(start, end);
    if (own.trim() !== "") marks.push({ start, end, isComma: own === "," });
  }
  return marks;
}

/** How a text is laid out, by its first lines that say so. */
function layoutOf(text: string): { readonly unit: string; readonly eol: string } {
  return {
    unit: /^(?<unit>[ \t]+)"/m.exec(text)?.groups?.["unit"] ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** What a line begins with, up to its first letter. */
function indentOf(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** An object of one line stays one; one that is empty is opened, unless everything is in one line. */
function isSpread(text: string, object: Node): boolean {
  if (text.slice(object.offset, endOf(object)).includes("\n")) return true;
  return object.children?.length === 0 && (text.includes("\n") || object.parent === undefined);
}

/** A property as text, with the white space that makes it one of the lines, or one of the line, that it stands in. */
function render(text: string, object: Node, [name, value]: readonly [string, JsonObject]): string {
  const key = JSON.stringify(name);
  if (!isSpread(text, object)) return `${text[object.offset + 1] === " " ? " " : ""}${key}:${JSON.stringify(value)}`;
  const { unit, eol } = layoutOf(text);
  const last = object.children?.at(-1);
  const before = eol + (last === undefined ? indentOf(text, endOf(object) - 1) + unit : indentOf(text, last.offset));
  return `${before}${key}: ${JSON.stringify(value, null, unit).replaceAll("\n", before)}`;
}

/** What an object that was opened for a first property needs in front of its end. */
function closing(text: string, object: Node): string {
  const isOpen = object.children?.length !== 0 || text.slice(object.offset, endOf(object)).includes("\n");
  return isOpen || !isSpread(text, object) ? "" : layoutOf(text).eol + indentOf(text, object.offset);
}

/**
 * Adds a property behind the others of an object, and behind the comments there. A last comma that nothing follows is a
 * manner of the file, and is kept.
 */
export function addProperty(text: string, object: Node, property: readonly [string, JsonObject]): Edit[] {
  const last = object.children?.at(-1);
  const from = last === undefined ? object.offset + 1 : endOf(last);
  const marks = marksOf(text, from, endOf(object) - 1);
  const hasComma = marks.some(({ isComma }) => isComma);
  const content = `${render(text, object, property)}${hasComma ? "," : ""}${closing(text, object)}`;
  const joint = last === undefined || hasComma ? [] : [{ offset: from, length: 0, content: "," }];
  return [...joint, { offset: marks.at(-1)?.end ?? from, length: 0, content }];
}

/** A whole line is cut with its end; of a line with more in it only the space on one side. */
function widen(text: string, start: number, end: number): Edit {
  const behind = /^[ \t]*/.exec(text.slice(end))?.[0] ?? "";
  const rest = text.slice(end + behind.length);
  const before = /(?<lead>\r?\n[ \t]*)$/.exec(text.slice(0, start))?.groups?.["lead"];
  if (before !== undefined && /^\r?\n/.test(rest)) {
    return { offset: start - before.length, length: end + behind.length - start + before.length, content: "" };
  }
  if (!rest.startsWith("}")) return { offset: start, length: end + behind.length - start, content: "" };
  const space = /[ \t]*$/.exec(text.slice(0, start))?.[0] ?? "";
  return { offset: start - space.length, length: end - start + space.length, content: "" };
}

/** The comma that goes with a property: the one behind it, or, of the last, the one in front of it. */
function commaOf(text: string, object: Node, property: Node): Mark | undefined {
  const siblings = object.children ?? [];
  const index = siblings.indexOf(property);
  const next = siblings[index + 1]?.offset ?? endOf(object) - 1;
  const behind = marksOf(text, endOf(property), next).find(({ isComma }) => isComma);
  const previous = siblings[index - 1];
  if (behind !== undefined || previous === undefined) return behind;
  return marksOf(text, endOf(previous), property.offset).find(({ isComma }) => isComma);
}

/** Cuts a property and one comma, and nothing else: every comment stays. */
export function removeProperty(text: string, property: Node): Edit[] {
  const object = property.parent;
  if (object === undefined) return [];
  const close = endOf(object) - 1;
  const end = endOf(property);
  const around = [...marksOf(text, object.offset + 1, property.offset), ...marksOf(text, end, close)];
  if (around.length === 0) return [{ offset: object.offset + 1, length: close - object.offset - 1, content: "" }];
  const comma = commaOf(text, object, property);
  if (comma !== undefined && comma.start >= end && text.slice(end, comma.start).trim() === "") {
    return [widen(text, property.offset, comma.end)];
  }
  const cut = widen(text, property.offset, end);
  return comma === undefined ? [cut] : [cut, { offset: comma.start, length: 1, content: "" }];
}
