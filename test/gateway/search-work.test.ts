import SearchableMap from "minisearch/SearchableMap";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WordIndex } from "../../src/gateway/word-index.ts";
import { GatewayBench, catalogOf, operation } from "./support.ts";

const syllables = "dep loy inv oic use rol bac tok ens cre ate del ete lis upd".split(" ");

function syllable(index: number): string {
  return syllables[index % syllables.length] ?? "";
}

/** 16 words of three syllables and a letter, of no operation. */
function manyWords(seed: number): string {
  return Array.from(
    { length: 16 },
    (_none, at) => `${[at + seed, at * 3 + seed, at * 5 + 2 * seed].map(syllable).join("")}${"xyzw"[at % 4]}`,
  ).join(" ");
}

/** One word of 255 letters, of which each third one begins a syllable. */
function longWord(seed: number): string {
  return Array.from({ length: 85 }, (_none, at) => syllable(at * (seed + 1) + seed)).join("");
}

const bench = GatewayBench.over(
  Array.from({ length: 2000 }, (_none, index) =>
    operation(`op${index}.${syllable(index)}${syllable(index * 7)}`, {
      description: `${syllable(index * 2)} the ${syllable(index * 3)} of ${syllables.join(" ")}`,
    }),
  ),
);

/** Counts how often the index is asked for terms while something runs. */
async function countLookups(work: () => Promise<unknown>): Promise<number> {
  // The index is made by the first search.
  await bench.find({ q: "warm" });
  vi.restoreAllMocks();
  const spies = (["get", "atPrefix", "fuzzyGet"] as const).map((name) => vi.spyOn(SearchableMap.prototype, name));
  await work();
  return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
}

/** Counts the turns of the event loop while something runs. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(turn);
  };
  turn();
  await work();
  isOver = true;
  return turns;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** A gateway with many operations, and the record of those that were indexed. */
function openMany() {
  const catalog = catalogOf(Array.from({ length: 1500 }, (_none, index) => operation(`many.op${index}`)));
  const own = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
  return { own, catalog, added: vi.spyOn(WordIndex.prototype, "add") };
}

describe("the index of a gateway", () => {
  it("is made before the first search when there are many operations", async () => {
    const { own, catalog, added } = openMany();
    own.index.prepare(catalog);
    await expect.poll(() => added).toHaveBeenCalledTimes(1500);
    expect(await own.find({ q: "op7" })).toContain("many.op7");
    expect(added).toHaveBeenCalledTimes(1500);
  });

  it("is made by the first search when there are few operations", async () => {
    const { own, catalog, added } = openMany();
    await bench.find({ q: "warm" });
    added.mockClear();
    own.index.prepare(catalogOf(catalog.tools.slice(0, 999)));
    const pauses = vi.spyOn(globalThis, "setTimeout");
    await Promise.all([bench.find({ q: "warm" }), bench.ask("list")]);
    expect(pauses).not.toHaveBeenCalled();
    expect(added).not.toHaveBeenCalled();
  });

  it("is finished by a search that comes before it is made, each operation once and with pauses", async () => {
    const { own, catalog, added } = openMany();
    own.index.prepare(catalog);
    await expect.poll(() => added, { interval: 1 }).toHaveBeenCalled();
    const before = added.mock.calls.length;
    expect(before).toBeLessThan(1500);
    expect(await countTurns(() => own.find({ q: "op1499" }))).toBeGreaterThan(2);
    expect(added).toHaveBeenCalledTimes(1500);
  });

  it("keeps the process alive only while a request waits for it", async () => {
    const { own, catalog } = openMany();
    const pauses = vi.spyOn(globalThis, "setTimeout");
    own.index.prepare(catalog);
    await expect.poll(() => pauses).toHaveBeenCalled();
    const last = (): NodeJS.Timeout | undefined => pauses.mock.results.at(-1)?.value;
    expect(last()?.hasRef()).toBe(false);
    const found = own.find({ q: "op7" });
    expect(last()?.hasRef()).toBe(true);
    const count = pauses.mock.calls.length;
    await found;
    expect(pauses).toHaveBeenCalledTimes(count);
  });
});

describe("the work of a search", () => {
  // Each word and each pair as it is, by its beginning and with a slip, and two halves at each letter of words of up to 24 letters.
  it.each([
    ["16 words", manyWords(0), 31 * 3 + 16 * 2 * 5],
    ["a word of 24 letters", longWord(0).slice(0, 24), 3 + 2 * 19],
    ["a word of 25 letters", longWord(0).slice(0, 25), 3],
    ["a word of 255 letters", longWord(0), 3],
  ])("is bounded by the number of words and pairs for %s", async (_what, q, most) => {
    const count = await countLookups(() => bench.find({ q }));
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(most);
  });

  it("is done for three unknown names of a batch at most, and without pairs and halves", async () => {
    for (const name of [manyWords, longWord]) {
      const calls = Array.from({ length: 50 }, (_none, seed) => ({ tool: name(seed) }));
      for (const parallel of [false, true]) {
        const count = await countLookups(() => bench.ask("call", { calls, parallel }));
        expect(count).toBeGreaterThan(0);
        expect(count).toBeLessThanOrEqual(3 * 16 * 3);
      }
    }
  });

  it("lets the event loop turn within a search and between searches", async () => {
    await bench.find({ q: "warm" });
    expect(await countTurns(() => bench.find({ q: manyWords(1) }))).toBeGreaterThan(1);
    const searches = async (): Promise<unknown> =>
      Promise.all(Array.from({ length: 100 }, async (_none, index) => bench.find({ q: `${syllable(index)} of` })));
    expect(await countTurns(searches)).toBeGreaterThan(10);
  });
});
