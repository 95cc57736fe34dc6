import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/catalog/caller.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import { SurfaceError } from "../../src/errors.ts";
import { GatewayBench, callOf, catalogOf, operation } from "./support.ts";

/** The words of a text, written otherwise than the index does: letter by letter. */
function wordsOf(text: string): { readonly whole: string; readonly parts: readonly string[] }[] {
  const chunks: string[] = [];
  let chunk = "";
  for (const character of `${text.normalize("NFKC")} `) {
    if (/[\p{L}\p{N}\p{M}]/u.test(character)) chunk += character;
    else if (chunk !== "") {
      chunks.push(chunk);
      chunk = "";
    }
  }
  return chunks.map((one) => {
    const spaced = one.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, "$1 ").replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1 ");
    return { whole: one.toLowerCase(), parts: spaced.split(" ").map((part) => part.toLowerCase()) };
  });
}

/** Every place where a word may be, the best first, in the words that are there. */
function placesOf(entry: ToolEntry): readonly (readonly string[])[] {
  const segments = entry.id.split(".");
  const texts = [
    segments.slice(-1).join("."),
    segments.slice(0, -1).join("."),
    (entry.tags ?? []).join(" "),
    `${entry.title ?? ""} ${entry.description ?? ""}`,
  ];
  return texts.map((text) => wordsOf(text).flatMap(({ whole, parts }) => [whole, ...parts]));
}

function costOfWord(places: readonly (readonly string[])[], word: string): number {
  const exact = places.findIndex((words) => words.includes(word));
  const begun = word.length < 3 ? -1 : places.findIndex((words) => words.some((one) => one.startsWith(word)));
  const costs = [exact === -1 ? Infinity : exact * 2, begun === -1 ? Infinity : begun * 2 + 1];
  return Math.min(...costs);
}

/** How well an operation fits, the less the better, by looking at everything. */
function rankOf(entry: ToolEntry, q: string): number {
  const text = q.normalize("NFKC").trim().toLowerCase();
  const id = entry.id.toLowerCase();
  const wireName = id.replaceAll(".", "_");
  if (id === text || wireName === text) return 0;
  if (id.split(".").at(-1) === text) return 1;
  if (id.startsWith(text) || wireName.startsWith(text)) return 2;
  const places = placesOf(entry);
  const chunks = new Map(wordsOf(q).map((chunk) => [chunk.whole, chunk]));
  let sum = 3;
  for (const { whole, parts } of chunks.values()) {
    const together = Math.max(...parts.map((part) => costOfWord(places, part)));
    sum += Math.min(costOfWord(places, whole), together);
  }
  return sum;
}

function scan(entries: readonly ToolEntry[], q: string): readonly string[] {
  const sorted = entries.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  if (wordsOf(q).length === 0) return sorted.map(({ id }) => id);
  return sorted
    .map((entry) => ({ id: entry.id, rank: rankOf(entry, q) }))
    .filter(({ rank }) => rank !== Infinity)
    .toSorted((left, right) => left.rank - right.rank)
    .map(({ id }) => id);
}

const word = fc.constantFrom(
  ..."run reruns branch branchCreate create_branch HTTPServer http server gitHub git hub x v2 naïve größe ﬁle 作成 Ö".split(
    " ",
  ),
);
const segment = fc.constantFrom(
  ..."run reruns branch branchCreate create_branch HTTPServer git hub x v2 Node node".split(" "),
);
const id = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("."));
const sentence = fc.array(word, { maxLength: 5 }).map((words) => words.join(" "));
const entry = fc
  .record({ id, title: fc.option(sentence), description: fc.option(sentence), tags: fc.array(word, { maxLength: 2 }) })
  .map((drawn) =>
    operation(drawn.id, {
      title: drawn.title ?? undefined,
      description: drawn.description ?? undefined,
      tags: drawn.tags,
    }),
  );
const entries = fc.uniqueArray(entry, {
  maxLength: 12,
  selector: (one) => one.name,
});
const query = fc.oneof(
  fc.array(word, { maxLength: 3 }).map((words) => words.join(" ")),
  id,
  id.map((text) => text.slice(0, Math.ceil(text.length / 2))),
  id.map((text) => text.toUpperCase()),
  fc.string({ maxLength: 8, unit: "binary" }),
);

describe("search", () => {
  it("finds what a scan of everything finds, in its order, when ids, words and queries are drawn", async () => {
    await fc.assert(
      fc.asyncProperty(entries, fc.array(query, { minLength: 1, maxLength: 4 }), async (drawn, queries) => {
        const bench = GatewayBench.over(drawn);
        for (const q of queries) expect({ q, found: await bench.find({ q }) }).toEqual({ q, found: scan(drawn, q) });
      }),
      { numRuns: 300 },
    );
  });

  it("finds what a new index would find when operations have come, gone and been replaced", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(entries, query), { minLength: 1, maxLength: 6 }), async (steps) => {
        let catalog = catalogOf([]);
        const bench = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
        let kept: readonly ToolEntry[] = [];
        for (const [drawn] of steps) {
          // Every other operation of the step before stays, as the same object.
          const stays = kept.filter((_one, index) => index % 2 === 0);
          const names = new Set(stays.map(({ name }) => name));
          kept = [...stays, ...drawn.filter(({ name }) => !names.has(name))];
          catalog = catalogOf(kept);
          // All of them each time: what is known of a word that was looked for has to follow.
          for (const [, q] of steps) expect({ q, found: await bench.find({ q }) }).toEqual({ q, found: scan(kept, q) });
          const { operations } = await bench.ask("list");
          expect(operations).toMatchObject(scan(kept, "").map((tool) => ({ tool })));
        }
      }),
      { numRuns: 150 },
    );
  });

  it("puts the better place first when the same word is in each of them", async () => {
    const bench = GatewayBench.over([
      operation("g.describes", { description: "the branch" }),
      operation("f.tagged", { tags: ["branch"] }),
      operation("branch.e"),
      operation("d.branch_new"),
      operation("a.branches"),
      operation("branch"),
      operation("z.branch"),
      operation("y.other"),
    ]);
    expect(await bench.find({ q: "Branch" })).toEqual([
      "branch",
      "z.branch",
      "branch.e",
      "d.branch_new",
      "a.branches",
      "f.tagged",
      "g.describes",
    ]);
  });

  it("understands names on the wire and names that are written together when they are looked for", async () => {
    const bench = GatewayBench.over([
      operation("git.worktreeCreate"),
      operation("git.list", { description: "On GitHub" }),
    ]);
    expect(await bench.find({ q: "git_worktreeCreate" })).toEqual(["git.worktreeCreate"]);
    expect(await bench.find({ q: "create worktree" })).toEqual(["git.worktreeCreate"]);
    expect(await bench.find({ q: "worktreecreate" })).toEqual(["git.worktreeCreate"]);
    expect(await bench.find({ q: "github" })).toEqual(["git.list"]);
    expect(await bench.find({ q: "GitHub" })).toEqual(["git.list"]);
  });

  it("puts first what has exactly this name on the wire when others begin with it", async () => {
    const bench = GatewayBench.over([operation("z.A1"), operation("z.a")]);
    expect(await bench.find({ q: "z_a" })).toEqual(["z.a", "z.A1"]);
  });

  it("finds everything when nothing is looked for", async () => {
    const bench = GatewayBench.over([operation("b.two"), operation("a.one"), operation("loose")]);
    const all = ["a.one", "b.two", "loose"];
    for (const args of [{}, { q: "" }, { q: " \t" }, { q: "*?!" }, { q: "", namespace: "" }]) {
      expect(await bench.find(args)).toEqual(all);
    }
  });

  it("keeps to a namespace and those below it when it is named", async () => {
    const bench = GatewayBench.over([operation("a.b.run"), operation("a.run"), operation("ab.run"), operation("run")]);
    expect(await bench.find({ q: "run", namespace: "a" })).toEqual(["a.b.run", "a.run"]);
    expect(await bench.find({ namespace: "a.b" })).toEqual(["a.b.run"]);
    expect(await bench.ask("search", { namespace: "nowhere" })).toEqual({ tools: [], total: 0 });
  });

  it("counts only what its caller was granted when there is more", async () => {
    const caller: Caller = { id: "ada", isAnonymous: false, scopes: ["hub:read"] };
    const catalog = catalogOf(Array.from({ length: 30 }, (_none, index) => operation(`n${index}.run`)));
    const bench = new GatewayBench({
      catalog: () => catalog,
      isGranted: ({ id: of }, { id: who }) => who === "ada" && of.startsWith("n1"),
    });
    const answer = await bench.ask("search", { q: "run", limit: 2 }, callOf({ caller }));
    expect(answer).toEqual({
      tools: [
        { tool: "n1.run", description: "" },
        { tool: "n10.run", description: "" },
      ],
      total: 11,
    });
    expect(await bench.ask("search", { q: "run" })).toEqual({ tools: [], total: 0 });
  });

  it("tells 50 operations when nobody says how many, and the number of all", async () => {
    const bench = GatewayBench.over(Array.from({ length: 80 }, (_none, index) => operation(`n${index}.run`)));
    expect(await bench.find({ q: "run" })).toHaveLength(50);
    expect(await bench.ask("search", { q: "run" })).toMatchObject({ total: 80 });
  });

  it("finds what has just been registered, and not what has just gone, when several search at once", async () => {
    const many = Array.from({ length: 900 }, (_none, index) => operation(`n${index}.run`));
    let catalog = catalogOf(many);
    const bench = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
    const before = bench.find({ q: "fresh run" });
    catalog = catalogOf([...many.slice(1), operation("fresh.run")]);
    const after = bench.find({ q: "fresh run" });
    const gone = bench.find({ q: "n0.run" });
    expect(await Promise.all([before, after, gone])).toEqual([[], ["fresh.run"], []]);
  });

  it.each([
    ["q", { q: 1 }],
    ["q", { q: "x".repeat(257) }],
    ["q", { q: "😀".repeat(100_000) }],
    ["q", { q: Array.from({ length: 17 }, (_none, index) => `w${index}`).join(" ") }],
    ["q", { q: Array.from({ length: 17 }, (_none, index) => `W${index}x`).join("") }],
    ["q", { q: Array.from({ length: 6 }, (_none, index) => `one${index}Two${index}Three${index}`).join(" ") }],
    ["namespace", { namespace: null }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 501 }],
    ["limit", { limit: "5" }],
  ])("refuses %s when it does not fit: case %#", (path, args) => {
    const bench = GatewayBench.over([]);
    const attempt = (): unknown => bench.tool("search").input.decode(args);
    expect(attempt).toThrow(SurfaceError);
    expect(attempt).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", issues: [{ path, message: expect.any(String) }] }),
    );
  });

  it("takes what is just short enough when it is long", async () => {
    const bench = GatewayBench.over([operation("a.run")]);
    expect(await bench.find({ q: "😀".repeat(256) })).toEqual(["a.run"]);
    expect(await bench.find({ q: "x".repeat(256) })).toEqual([]);
    expect(await bench.find({ q: "A.Run ".repeat(40) })).toEqual(["a.run"]);
    expect(await bench.find({ q: Array.from({ length: 16 }, (_none, index) => `W${index}x`).join("") })).toEqual([]);
  });
});
