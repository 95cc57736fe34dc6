import { describe, expect, it } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { LargeValues, type Excerpt } from "../../src/mcp/large-values.ts";
import { bytesOver } from "../../src/mcp/protocol.ts";
import { isJsonObject, type JsonObject } from "../../src/schema/json.ts";
import { Budget } from "../../src/spine/budget.ts";
import { ManualClock } from "../links/manual-clock.ts";

const minute = 60_000;
const mebi = 1024 * 1024;

function create(): { clock: ManualClock; large: LargeValues } {
  const clock = new ManualClock();
  return { clock, large: new LargeValues({ uriPrefix: "app://", clock }) };
}

const rules = "rules";

const known = (id: string): Caller => ({ id, isAnonymous: false, scopes: [] });

function keep(large: LargeValues, text: string, caller = anonymous): Excerpt {
  return large.keep(text, Buffer.byteLength(text), { caller, rules, scopes: [] });
}

async function read(large: LargeValues, uri: unknown, caller = anonymous): Promise<JsonObject | undefined> {
  const content = await large.resolve(String(uri), { caller, rules })?.read(new CallContext());
  const value: unknown = typeof content === "string" ? JSON.parse(content) : undefined;
  return isJsonObject(value) ? value : undefined;
}

/** The whole text, as somebody would read it who follows from part to part. */
async function readOn(large: LargeValues, { excerpt, next }: Excerpt): Promise<string> {
  let text = excerpt;
  for (let uri: unknown = next; uri !== undefined;) {
    const part = await read(large, uri);
    const more: unknown = part?.["text"];
    text += typeof more === "string" ? more : "";
    uri = part?.["next"];
  }
  return text;
}

describe("LargeValues", () => {
  it("returns a whole text, part by part", async () => {
    const { large } = create();
    const text = JSON.stringify(Array.from({ length: 40_000 }, (_, index) => `zeile ü\u{1f3fa} "${index}"`));
    const excerpt = keep(large, text);
    expect(excerpt).toMatchObject({ truncated: true, bytes: Buffer.byteLength(text) });
    expect(Buffer.byteLength(JSON.stringify(excerpt))).toBeLessThan(130 * 1024);
    expect(await readOn(large, excerpt)).toBe(text);
    expect(await read(large, excerpt.next)).toMatchObject({ part: 2 });
  });

  it("makes parts that fit when less than usual is given whole", async () => {
    const large = new LargeValues({ uriPrefix: "app://", maxResultBytes: 4096, clock: new ManualClock() });
    const text = '"'.repeat(10_000);
    const excerpt = keep(large, text);
    expect(JSON.stringify(await read(large, excerpt.next)).length).toBeLessThan(4096);
    expect(await readOn(large, excerpt)).toBe(text);
  });

  it("names a text that it has already by the same id", () => {
    const { large } = create();
    const first = keep(large, "a".repeat(mebi));
    expect(keep(large, "a".repeat(mebi))).toEqual(first);
    expect(keep(large, "b".repeat(mebi)).next).not.toBe(first.next);
  });

  it("names nothing but its parts", async () => {
    const { large } = create();
    const { next = "" } = keep(large, "a".repeat(mebi));
    const base = next.slice(0, -1);
    expect(base).toMatch(/^app:\/\/_parts\/[\da-f]{32}\/$/);
    expect(await read(large, `${base}1`)).toMatchObject({ part: 1 });
    for (const odd of ["", "0", "-1", "01", "1.0", "1e0", "99", "9".repeat(400), "1/", "1/1", "+1", " 1"]) {
      expect(large.resolve(`${base}${odd}`, { caller: anonymous, rules })).toBeUndefined();
    }
    for (const odd of ["app://_parts", "app://_parts/", "app://_parts//1", "app://_parts/__proto__/1", "x"]) {
      expect(large.resolve(odd, { caller: anonymous, rules })).toBeUndefined();
    }
  });

  it("drops texts that were not read for ten minutes, and clears its timer when none is left", async () => {
    const { clock, large } = create();
    const { next } = keep(large, "a".repeat(mebi));
    await clock.pass(6 * minute);
    expect(await read(large, next)).toMatchObject({ part: 2 });
    await clock.pass(6 * minute);
    expect(await read(large, next)).toMatchObject({ part: 2 });
    await clock.pass(11 * minute);
    expect(await read(large, next)).toBeUndefined();
    expect(clock.size).toBe(0);
  });

  it("keeps a bounded number of bytes, and drops the least recently used first", async () => {
    const { large } = create();
    const first = keep(large, "1".repeat(16 * mebi));
    const second = keep(large, "2".repeat(15 * mebi));
    expect(await read(large, first.next)).toBeDefined();
    keep(large, "3".repeat(8 * mebi));
    expect(await read(large, second.next)).toBeUndefined();
    expect(await read(large, first.next)).toBeDefined();
    for (const text of ["4", "5", "6"]) keep(large, text.repeat(8 * mebi));
    expect(await read(large, first.next)).toBeUndefined();
  });

  it("shows how a text begins that is too large to be kept, and leads nowhere", () => {
    const { large } = create();
    const kept = keep(large, "1".repeat(mebi));
    const excerpt = keep(large, "2".repeat(33 * mebi));
    expect(excerpt).toMatchObject({ truncated: true, bytes: 33 * mebi });
    expect(excerpt).not.toHaveProperty("next");
    expect(large.resolve(kept.next ?? "", { caller: anonymous, rules })).toBeDefined();
  });

  it("counts its bytes in the given budget, and releases all of them", async () => {
    const { clock, large } = create();
    const budget = new Budget({ total: 2 * mebi, perKey: mebi });
    large.countIn(budget);
    const first = keep(large, "a".repeat(mebi));
    expect(keep(large, "a".repeat(mebi))).toEqual(first);
    expect(keep(large, "b".repeat(2 * mebi + 1))).not.toHaveProperty("next");
    expect(budget.use).toEqual({ used: mebi, limit: 2 * mebi, refused: 1, evicted: 0 });
    await clock.pass(11 * minute);
    expect(budget.use.used).toBe(0);
    keep(large, "c".repeat(mebi), known("ann"));
    large.close();
    expect(budget.use.used).toBe(0);
  });

  it("forgets everything and sets no timer when it was closed", () => {
    const { clock, large } = create();
    const { next = "" } = keep(large, "a".repeat(mebi));
    large.close();
    large.close();
    expect(large.resolve(next, { caller: anonymous, rules })).toBeUndefined();
    expect(clock.size).toBe(0);
  });
});

describe("LargeValues, for known callers", () => {
  const [ann, bob] = [known("ann"), known("bob")];

  it("returns a part to its own caller only", async () => {
    const { large } = create();
    const { next } = keep(large, "a".repeat(mebi), ann);
    expect(await read(large, next, ann)).toMatchObject({ part: 2 });
    for (const other of [bob, anonymous, known("anybody"), known("caller ann"), known("")]) {
      expect(large.resolve(String(next), { caller: other, rules })).toBeUndefined();
    }
    // Somebody of that name who did not prove it.
    expect(large.resolve(String(next), { caller: { ...ann, isAnonymous: true }, rules })).toBeUndefined();
    // The next token of hers.
    expect(await read(large, next, known("ann"))).toMatchObject({ part: 2 });
  });

  it("keeps the same text for two callers separately", async () => {
    const { large } = create();
    const [hers, his] = [keep(large, "a".repeat(mebi), ann), keep(large, "a".repeat(mebi), bob)];
    expect(hers.next).not.toBe(his.next);
    expect(keep(large, "a".repeat(mebi), ann).next).toBe(hers.next);
    expect(large.resolve(String(his.next), { caller: ann, rules })).toBeUndefined();
  });

  it("finds no part through a caller whose key begins with another key", () => {
    const { large } = create();
    const { next = "" } = keep(large, "a".repeat(mebi), known("ann/x"));
    const id = next.split("/").at(-2) ?? "";
    for (const crafted of [`app://_parts/x/${id}/2`, `app://_parts/${id}/2`, `app://_parts/x%2f${id}/2`]) {
      expect(large.resolve(crafted, { caller: ann, rules })).toBeUndefined();
    }
  });

  it("requires the grants of the whole for a part", () => {
    const { large } = create();
    const text = "a".repeat(mebi);
    const { next = "" } = large.keep(text, mebi, { caller: ann, rules, scopes: ["s:read", "more"] });
    expect(large.resolve(next, { caller: ann, rules })?.scopes).toEqual(["s:read", "more"]);
  });

  it("drops texts of the caller with too many, and no other caller's", async () => {
    const { large } = create();
    const his = keep(large, "b".repeat(mebi), bob);
    const hers = Array.from({ length: 9 }, (_none, index) => keep(large, `${index}`.repeat(mebi), ann));
    expect(await read(large, hers[0]?.next, ann)).toBeUndefined();
    expect(await read(large, hers[1]?.next, ann)).toBeDefined();
    for (let index = 0; index < 100; index += 1) keep(large, `more ${index} `.repeat(30_000), ann);
    expect(await read(large, his.next, bob)).toBeDefined();
  });

  it("keeps a quarter of the bytes for one caller, and the beginning of larger texts", async () => {
    const { large } = create();
    const his = keep(large, "b".repeat(8 * mebi), bob);
    expect(keep(large, "c".repeat(8 * mebi + 1), ann)).not.toHaveProperty("next");
    const [first, second] = [keep(large, "1".repeat(5 * mebi), ann), keep(large, "2".repeat(5 * mebi), ann)];
    expect(await read(large, first.next, ann)).toBeUndefined();
    expect(await read(large, second.next, ann)).toBeDefined();
    expect(await read(large, his.next, bob)).toBeDefined();
  });

  it("keeps its total bound for any number of callers", async () => {
    const { large } = create();
    const first = keep(large, "0".repeat(8 * mebi), known("0"));
    for (const id of ["1", "2", "3", "4"]) keep(large, id.repeat(8 * mebi), known(id));
    expect(await read(large, first.next, known("0"))).toBeUndefined();
  });
});

describe("bytesOver()", () => {
  it("counts bytes, not characters, and returns undefined for a text that fits", () => {
    expect(bytesOver("ü".repeat(10), 20)).toBeUndefined();
    expect(bytesOver("ü".repeat(10), 19)).toBe(20);
    expect(bytesOver("", 0)).toBeUndefined();
  });
});
