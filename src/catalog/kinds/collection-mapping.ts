import { SurfaceError } from "../../errors.ts";
import { toInputSchema } from "../../schema/compile-schema.ts";
import type { JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { PageOptions } from "../../surface/client.ts";
import { isThenable } from "../../surface/is-thenable.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import type { CollectionPage } from "../../surface/source.ts";
import type { SummariseItem } from "../../tags/tool-options.ts";
import type { ResourceEntry, TemplateEntry, TemplateVariable } from "../entry.ts";
import { maxListedItems, toListedItems, withKeyCompleters } from "../resources/collection-keys.ts";
import { compileOutput } from "../tool-schemas.ts";
import { originOf, type ExposedMember, type KindMapping } from "./mapping.ts";
import {
  encodeBare,
  stringifyBare,
  toMemberView,
  toResourceEntry,
  toTemplateEntry,
  toTemplateShape,
  type ResourceView,
  type TemplateShape,
} from "./resource-entries.ts";

type ExposedCollection = ExposedMember<MemberOfKind<"collection">>;
type AnySummary = SummariseItem<unknown, unknown>;
type PageViews = (page: PageOptions) => ResourceView;

/** Returns the description of a list. The description of a collection often describes its items. */
function describeList({ options, member }: ExposedMember, list: string): Pick<TemplateEntry, "description"> {
  const description = options.description ?? member.description;
  return {
    description: options.listDescription ?? (description === undefined ? undefined : `${list} of: ${description}`),
  };
}

/** @throws SurfaceError `INVALID_OUTPUT` for a promise, `UNSERIALISABLE` for a value without a JSON form. */
function summarise(toSummary: AnySummary, [key, item]: readonly [unknown, unknown], origin: string): JsonValue {
  const summary = toSummary(item, key);
  if (!isThenable(summary)) return anyCodec.encode(summary);
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot list ${origin}: "list" returned a promise; return the summary itself`,
  );
}

/** Creates the views of pages, written as `{ items: [{ key, item }, …], next? }`. */
function toPageViews(exposed: ExposedCollection): PageViews {
  const { key: member, options } = exposed;
  const origin = originOf(exposed);
  const keySchema = compileOutput(exposed.member.key, `key of ${origin}`);
  const itemSchema = compileOutput(exposed.member.schema, origin);
  // The compiler has checked it against this member.
  const list = options.list as "items" | AnySummary;
  const toItem = (pair: readonly [unknown, unknown]): JsonValue =>
    list === "items" ? encodeBare(itemSchema, pair[1]) : summarise(list, pair, origin);
  const render = ({ items, next }: CollectionPage<unknown, unknown>): string =>
    JSON.stringify({ items: items.map((pair) => ({ key: encodeBare(keySchema, pair[0]), item: toItem(pair) })), next });
  return (argument) => toMemberView({ member, argument, read: "list", watch: "watchList" }, render);
}

/** The variables that every template of pages has. */
const pageVariables: readonly TemplateVariable[] = Object.freeze([
  Object.freeze({ name: "after", json: Object.freeze({ type: "string" }), required: false }),
  Object.freeze({
    name: "limit",
    json: Object.freeze({ type: "integer", minimum: 1, maximum: 1000 }),
    required: false,
  }),
]);

/** Returns the variables of a filter. @throws SurfaceError `INVALID_MEMBER` for a required field, and for a name of `pageVariables`. */
function toFilterShape({ key, member: { filter } }: ExposedCollection): TemplateShape | undefined {
  if (filter === undefined) return undefined;
  const origin = `the filter of collection "${key}"`;
  const shape = toTemplateShape({ schema: toInputSchema(filter, origin), single: "filter", origin });
  for (const { name, required } of shape.variables) {
    const problem = required ? "must be optional" : "has the name of a variable that every page takes";
    if (!required && pageVariables.every((variable) => variable.name !== name)) continue;
    throw new SurfaceError("INVALID_MEMBER", `Cannot expose ${origin} as a resource: its field "${name}" ${problem}`);
  }
  return shape;
}

/** Returns `{?after,limit}` and the fields of the filter. */
function toPageShape(exposed: ExposedCollection): TemplateShape {
  const filter = toFilterShape(exposed);
  const variables = [...pageVariables, ...(filter?.variables ?? [])];
  return {
    variables: Object.freeze(variables),
    suffix: `{?${variables.map(({ name }) => name).join(",")}}`,
    toInput({ after, limit, ...fields }) {
      const isFiltered = Object.keys(fields).length > 0;
      return { after, limit, ...(isFiltered ? { filter: filter?.toInput(fields) } : {}) };
    },
  };
}

/** Creates the template of the pages. */
function toPages(exposed: ExposedCollection, viewOf: PageViews): TemplateEntry {
  const shape = toPageShape(exposed);
  // The owner validates the variables.
  const pages = toTemplateEntry(exposed, { shape, viewOf: (page) => viewOf(page as PageOptions) });
  const { description = "A page of the list" } = describeList(exposed, "A page");
  return {
    ...pages,
    isQuery: true,
    description: `${description} (pass the "next" of a page as "after" to get the following page)`,
  };
}

function toKeyList(exposed: ExposedCollection): ResourceEntry {
  const { key: member } = exposed;
  const schema = compileOutput(exposed.member.key, `key of ${originOf(exposed)}`);
  const render = (keys: readonly unknown[]): string => JSON.stringify(keys.map((each) => encodeBare(schema, each)));
  return toResourceEntry(exposed, toMemberView({ member, read: "keys", watch: "watchKeys" }, render));
}

function toItemTemplate(exposed: ExposedCollection): TemplateEntry {
  const { key: member } = exposed;
  const origin = originOf(exposed);
  const schema = compileOutput(exposed.member.schema, origin);
  const render = (item: unknown): string | undefined => (item === undefined ? undefined : stringifyBare(schema, item));
  return toTemplateEntry(exposed, {
    shape: toTemplateShape({ schema: toInputSchema(exposed.member.key, `key of ${origin}`), single: "key", origin }),
    viewOf: (argument) => toMemberView({ member, argument, read: "item", watch: "watchItem" }, render),
  });
}

/** Adds items to `resources/list`, and says in the description that they may not be all. */
function withItems(resource: ResourceEntry, template: TemplateEntry, list: unknown): ResourceEntry {
  const some = `at most ${maxListedItems} items are listed`;
  const note = list === "keys" ? `Every key; ${some}` : some;
  const { description } = resource;
  return {
    ...resource,
    description: description === undefined ? note : `${description} (${note})`,
    toItems: (text) => toListedItems(text, template),
  };
}

/** A collection is a resource with its keys or a page of its items, and a template of one item. */
export const collectionMapping: KindMapping<"collection"> = {
  asResource(exposed) {
    const { list = "keys", listItems } = exposed.options;
    const keys = toKeyList(exposed);
    const template = withKeyCompleters(toItemTemplate(exposed), keys);
    const pages = list === "keys" ? undefined : toPageViews(exposed);
    const entry = pages === undefined ? keys : toResourceEntry(exposed, pages({}));
    const resource = { ...entry, ...describeList(exposed, list === "keys" ? "The keys" : "The items") };
    return {
      resource: listItems === true ? withItems(resource, template, list) : resource,
      template,
      ...(pages === undefined ? {} : { pages: toPages(exposed, pages) }),
    };
  },
};
