import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Refusal, SurfaceError } from "../../errors.ts";
import { isObject } from "../../options/is-object.ts";
import { createIssue } from "../../schema/render-issues.ts";
import { standardOf, type Schema } from "../../schema/standard.ts";
import { validateInput } from "../../schema/validate.ts";
import { isThenable } from "../is-thenable.ts";
import type { MaybeSchema, MemberOfKind } from "../member.ts";
import type {
  CollectionChange,
  CollectionPage,
  KeyedSource,
  MapSource,
  PagedSource,
  PageUse,
  SourceUse,
} from "../source.ts";
import { canonical, createSteady } from "./canonical.ts";
import { whenThere } from "./waiting.ts";

type AnyKeyed = KeyedSource<unknown, unknown>;
type AnyPaged = PagedSource<unknown, unknown, unknown>;
type AnyMap = ReadonlyMap<unknown, unknown>;
type AnyPage = CollectionPage<unknown, unknown>;

/** Implementation of a collection: a source of a map, key by key, or page by page. */
export type CollectionSource = MapSource<unknown, unknown> | AnyKeyed | AnyPaged;

/** Any kind of source, read key by key or page by page, at once or later. */
export interface CollectionReader {
  /** An iterable of raw keys, or a promise of one. A source that pages gets the filter of all items. */
  keys(use: SourceUse, all: unknown): unknown;
  item(wanted: RequestedKey, use: SourceUse): unknown;
  page(asked: PageRequest, use: SourceUse): unknown;
  /** A change without keys may concern them all. Without it, the source is polled. */
  readonly subscribe: ((fn: (change?: CollectionChange<unknown>) => void) => unknown) | undefined;
  readonly pollMs: number | undefined;
}

/** A key as its caller gave it, and its output by the key's schema. */
export interface RequestedKey {
  readonly given: unknown;
  readonly valid: unknown;
}

/** A requested page, checked. */
export type PageRequest = Omit<PageUse<unknown>, "signal">;

const defaultLimit = 100;

/** Highest number of items of a page, and of the keys of a collection that pages. */
const maxPage = 1000;

/** Returns the context of the read of a page. Its signal is created only if the source uses it. */
function toPageUse(asked: PageRequest, use: SourceUse): PageUse<unknown> {
  return {
    ...asked,
    get signal() {
      return use.signal;
    },
  };
}

function fromPaged(source: AnyPaged): CollectionReader {
  const page = (asked: PageRequest, use: SourceUse): unknown => source.list(toPageUse(asked, use));
  return {
    // By its type, the source returns pages.
    keys: (use, filter) =>
      whenThere(page({ after: undefined, limit: maxPage, filter }, use), (first) =>
        (first as AnyPage).items.map(([key]) => key),
      ),
    item: (wanted, use) => getItem(source, wanted, use),
    page,
    subscribe: source.subscribe && ((fn) => source.subscribe?.(fn)),
    pollMs: source.pollMs,
  };
}

/** Creates a page of keys and their items, without items that have gone since their keys were read. */
export function toPage(keys: readonly unknown[], items: readonly unknown[], next: string | undefined): AnyPage {
  const pairs = keys.map((key, index) => [key, items[index]] as const);
  return { items: pairs.filter(([, item]) => item !== undefined), next };
}

function fromKeyed(source: AnyKeyed): CollectionReader {
  const item = (wanted: RequestedKey, use: SourceUse): unknown => readItem(source, wanted, use);
  return {
    keys: (use) => source.keys(use),
    item,
    page: (asked, use) =>
      whenThere(source.keys(use), (all) => {
        // By its type, the source returns an iterable of keys.
        const { keys, next } = pageOfKeys(all as Iterable<unknown>, asked);
        const items = keys.map((key) => item({ given: key, valid: key }, use));
        return items.some(isThenable)
          ? Promise.all(items).then((values) => toPage(keys, values, next))
          : toPage(keys, items, next);
      }),
    subscribe: source.subscribe && ((fn) => source.subscribe?.(fn)),
    pollMs: source.pollMs,
  };
}

function pageOfMap(map: AnyMap, asked: PageRequest): AnyPage {
  const { keys, next } = pageOfKeys(map.keys(), asked);
  return { items: keys.map((key) => [key, map.get(key)]), next };
}

function fromMap(source: MapSource<unknown, unknown>): CollectionReader {
  // The function of `polled()` takes the context. By its type, the source returns maps.
  const read = <TOut>(use: SourceUse, fn: (map: AnyMap) => TOut): TOut | Promise<TOut> =>
    whenThere((source.get as (use: SourceUse) => unknown).call(source, use), (map) => fn(map as AnyMap));
  return {
    keys: (use) => read(use, (map) => map.keys()),
    item: (wanted, use) => read(use, (map) => findItem(map, wanted)),
    page: (asked, use) => read(use, (map) => pageOfMap(map, asked)),
    subscribe: source.subscribe && ((fn) => source.subscribe?.(() => fn())),
    pollMs: source.pollMs,
  };
}

/** Adapts any kind of source. */
export function createCollectionReader(source: CollectionSource): CollectionReader {
  if ("list" in source) return fromPaged(source);
  return "keys" in source ? fromKeyed(source) : fromMap(source);
}

function isSame(key: unknown, wanted: RequestedKey): boolean {
  if (!isObject(key)) return Object.is(key, wanted.valid) || Object.is(key, wanted.given);
  const text = canonical(key);
  return canonical(wanted.valid) === text || canonical(wanted.given) === text;
}

// A source has the input side of its keys, which differs from the validated key if the schema transforms: so the key as it was given is
// tried second. Keys that are objects are compared by their fields.

function orElse(found: unknown, find: () => unknown): unknown {
  return found === undefined ? find() : found;
}

function findItem(map: AnyMap, wanted: RequestedKey): unknown {
  if (!isObject(wanted.valid)) return orElse(map.get(wanted.valid), () => map.get(wanted.given));
  for (const key of map.keys()) if (isSame(key, wanted)) return map.get(key);
  return undefined;
}

function getItem(source: Pick<AnyKeyed, "get">, { valid, given }: RequestedKey, use: SourceUse): unknown {
  const found = source.get(valid, use);
  if (isObject(valid) || Object.is(given, valid)) return found;
  return whenThere(found, (item) => orElse(item, () => source.get(given, use)));
}

function readItem(source: AnyKeyed, wanted: RequestedKey, use: SourceUse): unknown {
  const found = getItem(source, wanted, use);
  if (found !== undefined || !isObject(wanted.valid)) return found;
  const keys = source.keys(use);
  // A source that answers later compares the fields of a key itself: a search here would load all of its keys.
  if (isThenable(keys)) return undefined;
  for (const key of keys) if (isSame(key, wanted)) return source.get(key, use);
  return undefined;
}

/** Returns true if a change may concern a key. */
export function concerns(change: CollectionChange<unknown> | undefined, wanted: RequestedKey): boolean {
  if (!Array.isArray(change?.set) || !Array.isArray(change.removed)) return true;
  const concernsIt = (key: unknown): boolean => isSame(key, wanted);
  return change.set.some(concernsIt) || change.removed.some(concernsIt);
}

/** Creates the error of a requested page that does not fit. */
export function createPageError(where: string, field: string, message: string): SurfaceError {
  const issues = [createIssue([field], message)];
  return new SurfaceError("VALIDATION_ERROR", `Cannot list ${where}: the page does not fit`, { issues });
}

/** Checks a requested page, except for its filter. @throws SurfaceError `VALIDATION_ERROR`. */
export function readPage(given: unknown, where: string): PageRequest {
  const page: { readonly after?: unknown; readonly limit?: unknown; readonly filter?: unknown } =
    typeof given === "object" && given !== null ? given : {};
  const { after, limit = defaultLimit, filter } = page;
  if (after !== undefined && typeof after !== "string")
    throw createPageError(where, "after", "expected the `next` of a page");
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > maxPage) {
    throw createPageError(where, "limit", `expected a whole number from 1 to ${maxPage}`);
  }
  return { after, limit, filter };
}

/** Returns the output of a filter's schema for `{}`, which leaves out nothing. @throws SurfaceError `INVALID_MEMBER` if it does not fit. */
export function emptyFilterOf(filter: MaybeSchema, where: string): unknown {
  if (filter === undefined) return undefined;
  const checked = validateInput(filter, {});
  if (!(checked instanceof Promise) && checked.ok) return checked.value;
  const message = `Cannot implement ${where}: its filter must accept {}, at once; make every field optional`;
  throw new SurfaceError("INVALID_MEMBER", message);
}

/** Returns the position behind a cursor, which has the key before it and the position of that: the key may have gone by now. */
function positionOf(after: string, keys: readonly unknown[]): number {
  const space = after.indexOf(" ");
  const position = Number(after.slice(0, space));
  const text = after.slice(space + 1);
  if (space === -1 || !Number.isSafeInteger(position)) {
    throw new Refusal("INVALID_CURSOR", "after is not the `next` of a page; list again without it");
  }
  if (position > 0 && canonical(keys[position - 1]) === text) return position;
  const found = keys.findIndex((key) => canonical(key) === text);
  return found === -1 ? Math.max(position - 1, 0) : found + 1;
}

/** Cuts a page out of all keys. `next` is the cursor of the next page. @throws Refusal `INVALID_CURSOR`. */
export function pageOfKeys(
  all: Iterable<unknown>,
  { after, limit }: PageRequest,
): { readonly keys: readonly unknown[]; readonly next?: string } {
  const keys = [...all];
  const start = after === undefined ? 0 : positionOf(after, keys);
  const page = keys.slice(start, start + limit);
  const end = start + page.length;
  return end < keys.length && page.length > 0
    ? { keys: page, next: `${end} ${canonical(page.at(-1))}` }
    : { keys: page };
}

type Result = StandardSchemaV1.Result<unknown>;

/** Creates a schema of a validator. */
export function createSchema(validate: (value: unknown) => Result | Promise<Result>): StandardSchemaV1 {
  return { "~standard": { version: 1, vendor: "surface-mcp", validate } };
}

function toList(results: readonly Result[]): Result {
  const issues = results.flatMap((result) => result.issues ?? []);
  if (issues.length > 0) return { issues };
  return { value: Object.freeze(results.map((result) => ("value" in result ? result.value : undefined))) };
}

/** Returns the schema of a list. It outputs the same list again while nothing in it changes. */
export function toListSchema(schema: Schema): Schema {
  const toSteady = createSteady<unknown>();
  return createSchema(async (value) => {
    if (!Array.isArray(value)) return { issues: [{ message: "it must be a list" }] };
    const result = toList(await Promise.all(value.map(async (item) => standardOf(schema).validate(item))));
    return result.issues === undefined ? { value: toSteady(result.value) } : result;
  });
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

/** Returns the schema of a page of at most `limit` items. */
export function toPageSchema({ key, schema: item }: MemberOfKind<"collection">, limit: number): Schema {
  return createSchema(async (page) => {
    // Its fields are checked next.
    const { items, next } = isObject(page) ? (page as Partial<AnyPage>) : {};
    if (!Array.isArray(items) || !items.every(isPair)) {
      return { issues: [{ message: "a page must be { items: [[key, item], …], next? }" }] };
    }
    if (items.length > limit) return { issues: [{ message: `a page of ${limit} items has ${items.length}` }] };
    if (next !== undefined && typeof next !== "string") return { issues: [{ message: '"next" must be a text' }] };
    const pairs = items.map(async ([each, value]) =>
      toList([await standardOf(key).validate(each), await standardOf(item).validate(value)]),
    );
    const checked = toList(await Promise.all(pairs));
    if (checked.issues !== undefined) return checked;
    return { value: Object.freeze({ items: checked.value, ...(next === undefined ? {} : { next }) }) };
  });
}

/** Returns the schema of an item that may be absent. */
export function toAbsentSchema(schema: Schema): Schema {
  return createSchema((value) => (value === undefined ? { value } : standardOf(schema).validate(value)));
}
