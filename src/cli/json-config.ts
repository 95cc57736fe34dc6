import { applyEdits, getNodeValue, parseTree, type Node, type ParseError } from "jsonc-parser";
import type { JsonObject } from "../schema/json.ts";
import { refused, taken } from "./cli-errors.ts";
import type { ConfigFormat, ListedServer } from "./config-format.ts";
import { isTable, toTable } from "./config-format.ts";
import { addProperty, removeProperty } from "./json-edits.ts";

/** Which line an offset is in, counted from 1. */
const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

function parse(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors.at(0);
  if (first !== undefined) throw refused(`it is not JSON in line ${lineOf(text, first.offset)}`);
  if (root?.type !== "object") throw refused("it must hold a JSON object");
  return root;
}

/** A property by its name. A name that is there twice means the last to some readers and the first to others. */
function propertyOf(object: Node, name: string): Node | undefined {
  const named = (object.children ?? []).filter(({ children }) => children?.at(0)?.value === name);
  if (named.length > 1) throw refused(`"${name}" is in it twice`);
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

/** The file's value with a server in its place, or with none: what a changed text has to mean. */
function meant(text: string, container: string, [alias, entry]: readonly [string, JsonObject | undefined]): unknown {
  const value = toTable(valueOf(text));
  const { [alias]: _replaced, ...others } = toTable(value[container]);
  return { ...value, [container]: entry === undefined ? others : { ...others, [alias]: entry } };
}

function assertMeans(changed: string, expected: unknown): string {
  if (JSON.stringify(valueOf(changed)) !== JSON.stringify(expected))
    throw refused("it cannot be changed without losing something");
  return changed;
}

/** JSON as programs of the desktop write it: with comments and last commas, where they take them. */
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
    return assertMeans(applyEdits(from, edits), meant(from, container, [alias, entry]));
  },

  remove(text, container, alias): string {
    const held = containerOf(parse(text), container);
    const property = held === undefined ? undefined : propertyOf(held, alias);
    if (property === undefined) throw refused(`there is no "${alias}" in it`);
    const changed = applyEdits(text, removeProperty(text, property));
    return assertMeans(changed, meant(text, container, [alias, undefined]));
  },
};
