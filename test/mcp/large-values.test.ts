import { describe, expect, it } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { bytesOver, LargeValues, type Excerpt } from "../../src/mcp/large-values.ts";
import { isJsonObject, type JsonObject } from "../../src/schema/json.ts";
import { ManualClock } from "../links/manual-clock.ts";

const minute = 60_000;
const mebi = 1024 * 1024;

function create(): { clock: ManualClock; large: LargeValues } {
  const clock = new ManualClock();
  return { clock, large: new LargeValues({ uriPrefix: "app://", clock }) };
}

function keep(large: LargeValues, text: string): Excerpt {
  return large.keep(text, Buffer.byteLength(text));
}

async function read(large: LargeValues, uri: unknown): Promise<JsonObject | undefined> {
  const content = await large.resolve(String(uri))?.read(new CallContext());
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
  it("gives back all of a text, part by part, to who follows", async () => {
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
      expect(large.resolve(`${base}${odd}`)).toBeUndefined();
    }
    for (const odd of ["app://_parts", "app://_parts/", "app://_parts//1", "app://_parts/__proto__/1", "x"]) {
      expect(large.resolve(odd)).toBeUndefined();
    }
  });

  it("forgets what nobody has read for ten minutes, and sets no timer when nothing is left", async () => {
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

  it("keeps as many bytes and texts as it may, and forgets first what was used least recently", async () => {
    const { large } = create();
    const first = keep(large, "1".repeat(16 * mebi));
    const second = keep(large, "2".repeat(15 * mebi));
    expect(await read(large, first.next)).toBeDefined();
    keep(large, "3".repeat(8 * mebi));
    expect(await read(large, second.next)).toBeUndefined();
    expect(await read(large, first.next)).toBeDefined();
    for (let index = 0; index < 64; index += 1) keep(large, `${index} `.repeat(100_000));
    expect(await read(large, first.next)).toBeUndefined();
  });

  it("shows how a text begins that is too large to be kept, and leads nowhere", () => {
    const { large } = create();
    const kept = keep(large, "1".repeat(mebi));
    const excerpt = keep(large, "2".repeat(33 * mebi));
    expect(excerpt).toMatchObject({ truncated: true, bytes: 33 * mebi });
    expect(excerpt).not.toHaveProperty("next");
    expect(large.resolve(kept.next ?? "")).toBeDefined();
  });

  it("forgets everything and sets no timer when it was closed", () => {
    const { clock, large } = create();
    const { next = "" } = keep(large, "a".repeat(mebi));
    large.close();
    large.close();
    expect(large.resolve(next)).toBeUndefined();
    expect(clock.size).toBe(0);
  });
});

describe("bytesOver()", () => {
  it("counts bytes and not characters, and says nothing of what fits", () => {
    expect(bytesOver("ü".repeat(10), 20)).toBeUndefined();
    expect(bytesOver("ü".repeat(10), 19)).toBe(20);
    expect(bytesOver("", 0)).toBeUndefined();
  });
});
