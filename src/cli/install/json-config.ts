import {
  applyEdits,
  createScanner,
  getNodeValue,
  parseTree,
  type Edit,
  type Node,
  type ParseError,
} from "jsonc-parser";
import type { JsonObject } from "../../schema/json.ts";
import { refused, taken } from "../cli-errors.ts";
import { isTable, toTable, type ConfigFormat, type ListedServer } from "./config-format.ts";

/** A token or a comment, without white space. */
interface Mark {
  readonly start: number;
  readonly end: number;
  readonly isComma: boolean;
}

const endOf = ({ offset, length }: Node): number => offset + length;

/** Returns the tokens and comments between two offsets. */
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

/** Returns the indentation and line end of a text. */
function layoutOf(text: string): { readonly unit: string; readonly eol: string } {
  return {
    unit: /^(?<unit>[ \t]+)"/m.exec(text)?.groups?.["unit"] ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** Returns the indentation of the line at an offset. */
function indentOf(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** Returns whether properties of an object go on lines of their own. An empty object is spread unless the whole text is one line. */
function isSpread(text: string, object: Node): boolean {
  if (text.slice(object.offset, endOf(object)).includes("\n")) return true;
  return object.children?.length === 0 && (text.includes("\n") || object.parent === undefined);
}

/** Renders a property with the white space that fits the layout of the object. */
function render(text: string, object: Node, [name, value]: readonly [string, JsonObject]): string {
  const key = JSON.stringify(name);
  if (!isSpread(text, object)) return `${text[object.offset + 1] === " " ? " " : ""}${key}:${JSON.stringify(value)}`;
  const { unit, eol } = layoutOf(text);
  const last = object.children?.at(-1);
  const before = eol + (last === undefined ? indentOf(text, endOf(object) - 1) + unit : indentOf(text, last.offset));
  return `${before}${key}: ${JSON.stringify(value, null, unit).replaceAll("\n", before)}`;
}

/** Returns the line end and indentation before the closing brace, if the first property spreads the object. */
function closing(text: string, object: Node): string {
  const isOpen = object.children?.length !== 0 || text.slice(object.offset, endOf(object)).includes("\n");
  return isOpen || !isSpread(text, object) ? "" : layoutOf(text).eol + indentOf(text, object.offset);
}

/**
 * Adds a property after the last one of an object and the comments there. If the file has a trailing comma, it has one afterwards.
 */
function addProperty(text: string, object: Node, property: readonly [string, JsonObject]): Edit[] {
  const last = object.children?.at(-1);
  const from = last === undefined ? object.offset + 1 : endOf(last);
  const marks = marksOf(text, from, endOf(object) - 1);
  const hasComma = marks.some(({ isComma }) => isComma);
  const content = `${render(text, object, property)}${hasComma ? "," : ""}${closing(text, object)}`;
  const joint = last === undefined || hasComma ? [] : [{ offset: from, length: 0, content: "," }];
  return [...joint, { offset: marks.at(-1)?.end ?? from, length: 0, content }];
}

/** Returns the edit that cuts a range: with its line end if the line has nothing else, or with the space on one side. */
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

/** Returns the comma to cut with a property: the one after it, or for the last property the one before it. */
function commaOf(text: string, object: Node, property: Node): Mark | undefined {
  const siblings = object.children ?? [];
  const index = siblings.indexOf(property);
  const next = siblings[index + 1]?.offset ?? endOf(object) - 1;
  const behind = marksOf(text, endOf(property), next).find(({ isComma }) => isComma);
  const previous = siblings[index - 1];
  if (behind !== undefined || previous === undefined) return behind;
  return marksOf(text, endOf(previous), property.offset).find(({ isComma }) => isComma);
}

/** Cuts a property and one comma. All comments stay. */
function removeProperty(text: string, property: Node): Edit[] {
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

/** Returns the line of an offset, counted from 1. */
const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

function parse(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors.at(0);
  if (first !== undefined) throw refused(`it is not JSON in line ${lineOf(text, first.offset)}`);
  if (root?.type !== "object") throw refused("it must hold a JSON object");
  return root;
}

/** Returns a property by its name. Refuses a duplicate name: some readers use the first one, others the last. */
function propertyOf(object: Node, name: string): Node | undefined {
  const named = (object.children ?? []).filter(({ children }) => children?.at(0)?.value === name);
  if (named.length > 1) throw refused(`it has "${name}" twice; remove one`);
  return named.at(0);
}

function containerOf(root: Node, container: string): Node | undefined {
  const value = propertyOf(root, container)?.children?.at(1);
  if (value !== undefined && value.type !== "object") throw refused(`"${container}" must be an object`);
  return value;
}

function valueOf(text: string): unknown {
  const value: unknown = getNodeValue(parse(text));
  return value;
}

/** Returns the value that the changed text must have: with the entry under the name, or without the name. */
function expectedValue(
  text: string,
  container: string,
  [alias, entry]: readonly [string, JsonObject | undefined],
): unknown {
  const value = toTable(valueOf(text));
  const { [alias]: _replaced, ...others } = toTable(value[container]);
  return { ...value, [container]: entry === undefined ? others : { ...others, [alias]: entry } };
}

function assertValue(changed: string, expected: unknown): string {
  if (JSON.stringify(valueOf(changed)) !== JSON.stringify(expected))
    throw refused("the change would lose other content; edit it by hand");
  return changed;
}

/** JSON with comments and trailing commas, as desktop programs write it. */
export const jsonConfig: ConfigFormat = {
  list(text, container): readonly ListedServer[] {
    const held = containerOf(parse(text), container);
    const value: unknown = held === undefined ? {} : getNodeValue(held);
    return Object.entries(toTable(value)).flatMap(([alias, entry]) => (isTable(entry) ? [{ alias, entry }] : []));
  },

  add(text, container, { alias, entry }): string {
    const from = text.trim() === "" ? "{}\n" : text;
    const root = parse(from);
    const held = containerOf(root, container);
    if (held !== undefined && propertyOf(held, alias) !== undefined) throw taken(alias);
    const edits =
      held === undefined
        ? addProperty(from, root, [container, { [alias]: entry }])
        : addProperty(from, held, [alias, entry]);
    return assertValue(applyEdits(from, edits), expectedValue(from, container, [alias, entry]));
  },

  remove(text, container, alias): string {
    const held = containerOf(parse(text), container);
    const property = held === undefined ? undefined : propertyOf(held, alias);
    if (property === undefined) throw refused(`it has no server "${alias}"`);
    const changed = applyEdits(text, removeProperty(text, property));
    return assertValue(changed, expectedValue(text, container, [alias, undefined]));
  },
};
