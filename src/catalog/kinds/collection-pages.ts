import { SurfaceError } from "../../errors.ts";
import type { JsonValue } from "../../schema/json.ts";
import { toInputSchema } from "../../schema/compile-schema.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { PageOptions } from "../../surface/client.ts";
import { isThenable } from "../../surface/is-thenable.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import type { CollectionPage } from "../../surface/source.ts";
import type { SummariseItem } from "../../tags/tool-options.ts";
import { encodeBare, renderCarried } from "../resource-value.ts";
import { toTemplateShape, type TemplateShape } from "../template-variables.ts";
import { compileOutput } from "../compile-output.ts";
import type { TemplateEntry, TemplateVariable } from "../entry.ts";
import { originOf, type Exposed } from "../mapping.ts";
import { toTemplateEntry, type ResourceView } from "../resource-entries.ts";

/** The words of a list: the description of a collection is often that of its items. */
export function toListWords({ options, member }: Exposed, what: string): Pick<TemplateEntry, "description"> {
  const description = options.description ?? member.description;
  return {
    description: options.listDescription ?? (description === undefined ? undefined : `${what} of: ${description}`),
  };
}

type ExposedCollection = Exposed<MemberOfKind<"collection">>;

type PageViews = (page: PageOptions) => ResourceView<unknown>;

type AnySummary = SummariseItem<unknown, unknown>;

/** @throws SurfaceError `INVALID_OUTPUT`, for a summary that comes later; `UNSERIALISABLE` for one that is no JSON. */
function summarise(toSummary: AnySummary, [key, item]: readonly [unknown, unknown], origin: string): JsonValue {
  const summary = toSummary(item, key);
  if (!isThenable(summary)) return anyCodec.encode(summary);
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot list ${origin}: "list" returned a promise; return the summary itself`,
  );
}

/** Returns how pages of a collection are read, and written as `{ items: [{ key, item }, …], next? }`. */
export function toPageViews(exposed: ExposedCollection): PageViews {
  const { key: member, options } = exposed;
  const origin = originOf(exposed);
  const keySchema = compileOutput(exposed.member.key, `key of ${origin}`);
  const itemSchema = compileOutput(exposed.member.schema, origin);
  // It was typed against this member where it was given.
  const list = options.list as "items" | AnySummary;
  const toItem = (pair: readonly [unknown, unknown]): JsonValue =>
    list === "items" ? encodeBare(itemSchema, pair[1]) : summarise(list, pair, origin);
  const render = ({ items, next }: CollectionPage<unknown, unknown>): string =>
    JSON.stringify({ items: items.map((pair) => ({ key: encodeBare(keySchema, pair[0]), item: toItem(pair) })), next });
  return (page) => ({
    fetch: (channel, use) => channel.request({ verb: "list", member, argument: page, options: use }),
    follow: (channel, use) => channel.subscribe({ verb: "watchList", member, argument: page, options: use }),
    render: (carried) => renderCarried(carried, render),
  });
}

/** The variables of every page. */
const pageVariables: readonly TemplateVariable[] = Object.freeze([
  Object.freeze({ name: "after", json: Object.freeze({ type: "string" }), required: false }),
  Object.freeze({
    name: "limit",
    json: Object.freeze({ type: "integer", minimum: 1, maximum: 1000 }),
    required: false,
  }),
]);

/**
 * The variables of a filter, and how they become one; `undefined` without a filter.
 *
 * @throws SurfaceError `INVALID_MEMBER` for a field that is required, or that every page has.
 */
function toFilterShape({ key, member: { filter } }: ExposedCollection): TemplateShape | undefined {
  if (filter === undefined) return undefined;
  const origin = `the filter of collection "${key}"`;
  const shape = toTemplateShape({ schema: toInputSchema(filter, origin), single: "filter", origin });
  for (const { name, required } of shape.variables) {
    const problem = required ? "must be optional" : "has the name of a variable that every page takes";
    if (!required && pageVariables.every((variable) => variable.name !== name)) continue;
    throw new SurfaceError("INVALID_MEMBER", `Exposing ${origin} as a resource: its field "${name}" ${problem}`);
  }
  return shape;
}

/** The shape of the pages of a collection: `{?after,limit}`, and the fields of its filter. */
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

/** The template of the pages of a collection. */
export function toPages(exposed: ExposedCollection, viewOf: PageViews): TemplateEntry {
  const shape = toPageShape(exposed);
  // Its owner checks what the variables are.
  const pages = toTemplateEntry(exposed, { shape, viewOf: (page) => viewOf(page as PageOptions) });
  const { description = "A page of the list" } = toListWords(exposed, "A page");
  return { ...pages, isQuery: true, description: `${description} ("after" is the "next" of the page before)` };
}
