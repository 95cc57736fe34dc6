import type { StandardSchemaV1 } from "@standard-schema/spec";
import { assert as assertThat, property, string, uniqueArray } from "fast-check";
import { assert, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import type { ListedItem } from "../../../src/catalog/entry.ts";
import { createUriResolver } from "../../../src/catalog/resolve-uri.ts";
import { type CollectionKey, collection } from "../../../src/surface/define-members.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { catalogOf } from "../support.ts";

const base = "surface://probe/jobs";

/** The catalog of one collection with keys of a schema, and what it lists of some keys. */
function listing(key: StandardSchemaV1<unknown, CollectionKey>): {
  readonly catalog: Catalog;
  readonly list: (...keys: unknown[]) => readonly ListedItem[];
} {
  // The compiler cannot tell that the keys of a schema that is not known can be spelled.
  const jobs = collection({ key: key as z.ZodString, schema: z.number() });
  const catalog = catalogOf({ jobs: mcpResource(jobs, { listItems: true }) });
  const toItems = catalog.resources[0]?.toItems;
  assert(toItems !== undefined);
  return { catalog, list: (...keys) => toItems(JSON.stringify(keys)) };
}

const uris = (items: readonly ListedItem[]): readonly string[] => items.map(({ uri }) => uri);

/** Whether no path of a URI can hold a text as one segment. */
function isUnfit(key: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is for
  return /^\.?$|(?:^|[/\\])\.\.[. ]*(?:$|[/\\])|[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u.test(key);
}

describe("the items that a collection lists", () => {
  it("have the URI of the template and a name of the member and the key, and are sorted", () => {
    const { list } = listing(z.string());
    expect(list("b", "a", "a b/c?#%", "\u00fc")).toEqual([
      { uri: `${base}/%C3%BC`, name: "jobs/\u00fc" },
      { uri: `${base}/a`, name: "jobs/a" },
      { uri: `${base}/a%20b%2Fc%3F%23%25`, name: "jobs/a b/c?#%" },
      { uri: `${base}/b`, name: "jobs/b" },
    ]);
  });

  it.each(["", ".", "..", "../a", "a\\..", "%2e%2e", "a\u0000", "\ud83d", "x".repeat(9000)])(
    "leave out the key %j, which no URI spells",
    (key) => {
      expect(uris(listing(z.string()).list(key, "a"))).toEqual([`${base}/a`]);
    },
  );

  it("are spelled in numbers, booleans and fields, an optional one last", () => {
    expect(uris(listing(z.number()).list(10, -1.5, 1e21))).toEqual([`${base}/-1.5`, `${base}/10`, `${base}/1e%2B21`]);
    expect(uris(listing(z.boolean()).list(true, false))).toEqual([`${base}/false`, `${base}/true`]);
    const { list } = listing(z.object({ os: z.string(), bits: z.number().optional() }));
    expect(list({ os: "linux", bits: 64 }, { os: "mac" })).toEqual([
      { uri: `${base}/linux/64`, name: "jobs/linux/64" },
      { uri: `${base}/mac`, name: "jobs/mac" },
    ]);
  });

  it("leave out a key whose URI names another one, and one that says nothing", () => {
    // "1" reads as the number.
    expect(uris(listing(z.union([z.number(), z.string()])).list("1", 2, "x"))).toEqual([`${base}/2`, `${base}/x`]);
    expect(listing(z.object({ a: z.string().optional() })).list({})).toEqual([]);
    expect(listing(z.object({ a: z.string().optional(), b: z.string().optional() })).list({ b: "x" })).toEqual([]);
  });

  it("are the first 1,000 of more, and the list of keys says so", () => {
    const { catalog, list } = listing(z.string());
    const keys = Array.from({ length: 1500 }, (_none, index) => `k${String(9999 - index)}`);
    const items = list(...keys);
    expect(items).toHaveLength(1000);
    expect(items.at(0)?.name).toBe("jobs/k8500");
    expect(items.at(-1)?.name).toBe("jobs/k9499");
    expect(catalog.resources[0]?.description).toBe("Every key; at most 1000 items are listed");
    const told = collection({ key: z.string(), schema: z.number(), description: "The jobs" });
    const { resources } = catalogOf({ jobs: mcpResource(told, { listItems: true }) });
    expect(resources[0]?.description).toBe("The keys of: The jobs (Every key; at most 1000 items are listed)");
  });

  it("all resolve, each to something of its own, whatever the keys", () => {
    const { catalog, list } = listing(z.string());
    const resolve = createUriResolver(catalog);
    assertThat(
      property(uniqueArray(string({ unit: "binary", maxLength: 12 })), (keys) => {
        const items = list(...keys);
        expect(new Set(uris(items)).size).toBe(items.length);
        for (const { uri } of items) expect(resolve(uri)?.id).toBe("jobs");
        const left = keys.filter((key) => !items.some(({ name }) => name === `jobs/${key}`));
        expect(left.filter((key) => !isUnfit(key))).toEqual([]);
      }),
    );
  });

  it("are not there where their author did not ask for them", () => {
    const jobs = collection({ key: z.string(), schema: z.number() });
    for (const member of [mcpResource(jobs), mcpResource(jobs, { listItems: false })]) {
      const [resource] = catalogOf({ jobs: member }).resources;
      expect(resource).toMatchObject({ uri: base, description: undefined });
      expect(resource?.toItems).toBeUndefined();
    }
  });
});
