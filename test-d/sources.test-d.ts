import { computed, signal as signalOf } from "@preact/signals-core";
import { atom, computed as computedAtom } from "nanostores";
import { BehaviorSubject, type Observable, Subject } from "rxjs";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  fromSignal,
  implementSurface,
  mcpResource,
  polled,
  type AsyncSource,
  type CellImplementation,
  type ObservableLike,
  type CollectionPage,
  type PolledSource,
  type PushedSource,
  type Reading,
  type Source,
  type Staleness,
  type SurfaceClient,
  type ValueObserver,
} from "surface-mcp";
import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import { z } from "zod";

const surface = defineSurface("s", { size: cell({ schema: z.string().transform((text) => text.length) }) });
type Size = CellImplementation<string>;

// What can be read at any time: our own source, an atom, a signal by its adapter.
implementSurface(surface, { size: cellSource("a") });
implementSurface(surface, { size: atom("a") });
implementSurface(surface, { size: computedAtom(atom(1), String) });
implementSurface(surface, { size: fromSignal(signalOf("a")) });
implementSurface(surface, { size: fromSignal(computed(() => "a")) });
expectType<Source<string>>(fromSignal(signalOf("a")));

// Written in place: what `subscribe` is called with has the type of the value.
implementSurface(surface, {
  size: {
    get: () => "a",
    subscribe: (changed) => {
      expectType<(value?: string) => void>(changed);
      return () => {};
    },
  },
});
expectError(implementSurface(surface, { size: { get: () => "a", subscribe: (changed) => () => changed(1) } }));
expectError(implementSurface(surface, { size: { get: () => 1, subscribe: () => () => {} } }));

// Asked for its value, which may come later; polled where it does not tell of changes.
implementSurface(surface, { size: { get: async () => "a" } });
implementSurface(surface, { size: { get: () => "a", pollMs: 100 } });
implementSurface(surface, { size: { get: async ({ signal }) => String(signal.aborted), subscribe: () => () => {} } });
implementSurface(surface, { size: polled(() => "a") });
implementSurface(surface, { size: polled(async ({ signal }) => String(signal.aborted), { everyMs: 100 }) });
expectType<PolledSource<number>>(polled(async () => 1));
expectAssignable<AsyncSource<string>>(cellSource("a"));
expectError(implementSurface(surface, { size: { get: async () => 1 } }));
expectError(implementSurface(surface, { size: { get: () => "a", pollMs: "fast" } }));
expectError(implementSurface(surface, { size: polled(async () => 1) }));
expectError(polled(() => 1, { pollMs: 100 }));

// Collections: key by key, or as a map.
const shelf = defineSurface("shelf", { rows: collection({ key: z.string(), schema: z.number() }) });
const rows = new Map([["a", 1]]);
implementSurface(shelf, { rows });
implementSurface(shelf, { rows: polled(async () => rows) });
implementSurface(shelf, { rows: { get: async () => rows } });
implementSurface(shelf, {
  rows: {
    keys: async ({ signal }) => (expectType<AbortSignal>(signal), ["a"]),
    get: async (key, { signal }) => (expectType<string>(key), expectType<AbortSignal>(signal), 1),
    pollMs: 5000,
  },
});
implementSurface(shelf, {
  rows: {
    list: async ({ after, limit, signal }) => {
      expectType<string | undefined>(after);
      expectType<number>(limit);
      expectType<AbortSignal>(signal);
      return { items: [["a", 1]], next: "a" };
    },
    get: async (key) => (expectType<string>(key), undefined),
  },
});
implementSurface(shelf, { rows: { list: () => ({ items: [...rows] }), get: (key) => rows.get(key) } });
expectError(implementSurface(shelf, { rows: { list: () => ({ items: [...rows] }) } }));
expectError(implementSurface(shelf, { rows: { list: () => ({ items: [["a", "1"]] }), get: () => 1 } }));
expectError(implementSurface(shelf, { rows: { list: () => ["a"], get: () => 1 } }));
declare const shelves: SurfaceClient<(typeof shelf)["members"]>;
expectType<Promise<CollectionPage<string, number>>>(shelves.rows.list({ after: "a", limit: 5 }));
expectType<AsyncIterable<CollectionPage<string, number>>>(shelves.rows.watchList());
expectError(shelves.rows.list({ limit: "5" }));
expectError(shelves.rows.list({ filter: {} }));

// A filter that a collection declares, for clients and for its source, which has to page.
const find = defineSurface("find", {
  rows: mcpResource(
    collection({
      key: z.string(),
      schema: z.number(),
      filter: z.object({ least: z.string().transform(Number).optional() }),
    }),
    { list: "items" },
  ),
});
implementSurface(find, {
  rows: {
    list: ({ filter }) => {
      expectType<number | undefined>(filter.least);
      return { items: [] };
    },
    get: () => 1,
  },
});
declare const found: SurfaceClient<(typeof find)["members"]>;
found.rows.list({ filter: { least: "5" } });
found.rows.watchList({ filter: {} });
expectError(found.rows.list({ filter: { least: 5 } }));
expectError(found.rows.list({ filter: { most: "5" } }));
expectError(implementSurface(find, { rows: { get: () => rows } }));
expectError(implementSurface(find, { rows: { keys: () => ["a"], get: () => 1 } }));
expectError(collection({ key: z.string(), schema: z.number(), filter: 5 }));
expectError(implementSurface(shelf, { rows: { keys: async () => ["a"], get: async () => "1" } }));
expectError(implementSurface(shelf, { rows: { keys: async () => [1], get: async () => 1 } }));
expectError(implementSurface(shelf, { rows: polled(async () => new Map([["a", "1"]])) }));

// What gives its values by and by.
declare const observable: Observable<string>;
declare const derived: PushedSource<string>;
declare const iterable: AsyncIterable<string>;
async function* generate(): AsyncGenerator<string> {
  yield "a";
}
implementSurface(surface, { size: observable });
implementSurface(surface, { size: new BehaviorSubject("a") });
implementSurface(surface, { size: new Subject<string>() });
implementSurface(surface, { size: derived });
implementSurface(surface, { size: iterable });
implementSurface(surface, { size: generate() });
expectAssignable<ObservableLike<string>>(observable);
implementSurface(surface, {
  size: {
    subscribe(observer: ValueObserver<string>) {
      observer.next("a");
      return { unsubscribe: () => {} };
    },
  },
});
// An observable is told by an object: one that calls what it is given does not fit.
expectError(
  implementSurface(surface, {
    size: { subscribe: (tell: (value: string) => void) => ({ unsubscribe: () => tell("a") }) },
  }),
);

// A value of another type, however it comes.
expectNotAssignable<Size>(cellSource(1));
const count = atom(1);
expectNotAssignable<Size>(count);
expectNotAssignable<Size>(fromSignal(signalOf(1)));
expectNotAssignable<Size>(new BehaviorSubject(1));
declare const derivedCount: PushedSource<number>;
declare const counting: AsyncIterable<number>;
expectError(implementSurface(surface, { size: cellSource(1) }));
expectError(implementSurface(surface, { size: count }));
expectError(implementSurface(surface, { size: new BehaviorSubject(1) }));
expectError(implementSurface(surface, { size: derivedCount }));
expectError(implementSurface(surface, { size: counting }));

// Nothing that could be watched; a signal by itself; a generator function that was not called.
expectError(implementSurface(surface, { size: "a" }));
expectError(implementSurface(surface, { size: () => "a" }));
expectError(implementSurface(surface, { size: signalOf("a") }));
expectError(implementSurface(surface, { size: generate }));
expectError(implementSurface(surface, { size: Promise.resolve("a") }));
expectError(implementSurface(surface, { size: undefined }));
declare const anything: unknown;
expectNotAssignable<Size>(anything);

// A client hands out the value, and says whether it is the newest to those who ask.
declare const client: SurfaceClient<(typeof surface)["members"]>;
expectType<Promise<number>>(client.size.get());
expectType<Promise<Reading<number>>>(client.size.reading());
expectType<AsyncIterable<Reading<number>>>(client.size.readings());
declare const reading: Reading<number>;
expectType<number>(reading.value);
expectType<Staleness | undefined>(reading.stale);
expectType<"lost" | "invalid" | "ended" | undefined>(reading.stale?.reason);
