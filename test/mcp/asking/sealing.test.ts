import * as fc from "fast-check";
import { createCipheriv, hkdfSync, randomBytes } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type { Asking } from "../../../src/catalog/asking/asking.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { AskStates, Claims, Sealer, type AskSubject } from "../../../src/mcp/asking/ask-states.ts";

const secret = new Uint8Array(32).fill(7);

describe("Sealer", () => {
  const sealer = new Sealer(secret);

  it("opens its own state for the same request, and reveals nothing of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, about) => {
        const sealed = sealer.seal(text, about);
        expect(sealed).toMatch(/^s2\.[\w-]+$/);
        expect(sealer.open(sealed, about)).toBe(text);
      }),
    );
    expect(sealer.seal("secret answer", "x")).not.toContain(Buffer.from("secret").toString("base64url").slice(0, 6));
  });

  it("seals the same text in another way each time", () => {
    expect(sealer.seal("text", "x")).not.toBe(sealer.seal("text", "x"));
  });

  it("opens nothing when it is about something else, or another secret sealed it", () => {
    const sealed = sealer.seal("text", "x");
    expect(sealer.open(sealed, "y")).toBeUndefined();
    expect(new Sealer().open(sealed, "x")).toBeUndefined();
    expect(new Sealer().open(new Sealer().seal("text", "x"), "x")).toBeUndefined();
    expect(new Sealer(Uint8Array.from(secret)).open(sealed, "x")).toBe("text");
  });

  it("keeps its secret when the author overwrites the buffer", () => {
    const given = Uint8Array.from(secret);
    const own = new Sealer(given);
    given.fill(0);
    expect(own.open(sealer.seal("text", "x"), "x")).toBe("text");
  });

  it("opens nothing when any bit was flipped, or anything cut off, added or written otherwise", () => {
    const sealed = sealer.seal("some text", "x");
    const bytes = Buffer.from(sealed.slice(3), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(sealer.open(`s2.${flipped.toString("base64url")}`, "x")).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(sealer.open(sealed.slice(0, length), "x")).toBeUndefined();
    }
    for (const other of [
      `${sealed}-TAMPERED`,
      `${sealed}=`,
      `${sealed} `,
      ` ${sealed}`,
      sealed.replace("s2.", "s1."),
    ]) {
      expect(sealer.open(other, "x")).toBeUndefined();
    }
    expect(sealer.open(`s2.${bytes.toString("base64")}=`, "x")).toBeUndefined();
    expect(sealer.open(`s2.${"A".repeat(1_000_000)}`, "x")).toBeUndefined();
  });

  it("opens nothing that was sealed in the format before", () => {
    const key = Buffer.from(hkdfSync("sha256", secret, "", "surface-mcp requestState", 32));
    const iv = randomBytes(12);
    const seal = (version: string): string => {
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(`${version}x`));
      const sealed = [iv, cipher.update("text", "utf8"), cipher.final(), cipher.getAuthTag()];
      return version + Buffer.concat(sealed).toString("base64url");
    };
    expect(sealer.open(seal("s2."), "x")).toBe("text");
    expect(sealer.open(seal("s1."), "x")).toBeUndefined();
  });

  it("never throws for any input", () => {
    const opened = fc.sample(fc.string(), 1000).map((text) => sealer.open(`s2.${text}`, "x"));
    expect(opened.filter((text) => text !== undefined)).toEqual([]);
  });
});

describe("Claims", () => {
  it("takes each id once, and none when there is room for no more until some cannot be used any more", () => {
    let now = 0;
    const claims = new Claims(() => now, { most: 3, share: 3 });
    const take = (id: string, expiresAt: number): boolean => claims.take(id, expiresAt, "ada");
    expect(take("a", 100)).toBe(true);
    expect(take("a", 100)).toBe(false);
    expect([take("b", 50), take("c", 100), take("d", 100)]).toEqual([true, true, false]);
    now = 49;
    expect(take("d", 100)).toBe(false);
    now = 50;
    expect(take("d", 100)).toBe(true);
    expect([take("a", 100), take("e", 200), claims.size]).toEqual([false, false, 3]);
    now = 100;
    expect([take("e", 200), claims.size]).toEqual([true, 1]);
  });

  it("accepts another caller's when one share is full, and any when it is free again", () => {
    let now = 0;
    const claims = new Claims(() => now, { most: 4, share: 2 });
    expect([claims.take("a", 50, "eve"), claims.take("b", 50, "eve"), claims.take("c", 50, "eve")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([claims.take("d", 99, "ada"), claims.take("e", 99, "bo"), claims.take("f", 99, "cy")]).toEqual([
      true,
      true,
      false,
    ]);
    now = 50;
    expect([claims.take("f", 99, "cy"), claims.size]).toEqual([true, 3]);
  });
});

const subject: AskSubject = { caller: anonymous, method: "tools/call", target: "greet", args: { a: 1, b: { c: [2] } } };

const asking: Asking = {
  kind: "asking",
  open: {
    who: { kind: "elicit", params: {}, timeoutMs: 300_000 },
    where: { kind: "roots", params: {}, timeoutMs: 10_000 },
  },
  record: { asked: { who: { digest: "d" }, where: { digest: "e" } }, salt: "s" },
};

describe("AskStates", () => {
  function create(more: ConstructorParameters<typeof AskStates>[0] = {}) {
    const clock = { now: 1_000_000 };
    return { clock, states: new AskStates({ now: () => clock.now, ...more }) };
  }

  it("opens its own state with its keys, once", async () => {
    const { states } = create();
    const sealed = states.seal(asking, subject);
    const [one, two] = [states.open(sealed, subject), states.open(sealed, subject)];
    expect(one).toMatchObject({ open: ["who", "where"], record: asking.record });
    expect([await two?.claim(), await one?.claim(), await states.open(sealed, subject)?.claim()]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("opens it when the arguments are the same in another order", () => {
    const { states } = create();
    const sealed = states.seal(asking, subject);
    expect(states.open(sealed, { ...subject, args: { b: { c: [2] }, a: 1 } })).toBeDefined();
  });

  const others: Partial<AskSubject>[] = [
    { method: "prompts/get" },
    { target: "other" },
    { args: {} },
    { args: { a: 1, b: { c: ["2"] } } },
    { caller: { ...anonymous, id: "somebody" } },
    { caller: { ...anonymous, isAnonymous: false } },
    { caller: { ...anonymous, scopes: ["asks:read"] } },
    { caller: { ...anonymous, resources: { "repo:x": ["read"] } } },
    { caller: { ...anonymous, view: { surface: "other" } } },
    { caller: { ...anonymous, view: { surface: "default", project: "p" } } },
  ];

  it.each(others)("opens nothing when it is another request's: %j", (other) => {
    const { states } = create();
    const sealed = states.seal(asking, subject);
    expect(states.open(sealed, { ...subject, ...other })).toBeUndefined();
    expect(states.open(sealed, subject)).toBeDefined();
  });

  it("opens nothing when the slowest of its questions has taken too long", () => {
    const { states, clock } = create();
    const [sealed, late] = [states.seal(asking, subject), states.seal(asking, subject)];
    clock.now += 299_999;
    expect(states.open(sealed, subject)).toBeDefined();
    clock.now += 1;
    expect(states.open(late, subject)).toBeUndefined();
  });

  it("calls the author's claim if there is one, and accepts only true", async () => {
    const claimed: [string, number][] = [];
    const said: unknown[] = [true, Promise.resolve(true), false, Promise.resolve(false), undefined, 1, "yes"];
    const results: boolean[] = [];
    for (const say of said) {
      const claim = (id: string, expiresAt: number): never => {
        claimed.push([id, expiresAt]);
        // What an honest author's types would not let through.
        return say as never;
      };
      const { states } = create({ secret, claim });
      results.push((await states.open(states.seal(asking, subject), subject)?.claim()) === true);
    }
    expect(results).toEqual([true, true, false, false, false, false, false]);
    expect(new Set(claimed.map(([id]) => id)).size).toBe(said.length);
    expect(claimed[0]?.[1]).toBe(1_300_000);
  });

  it("opens the state of another process with the same secret", () => {
    const [one, two] = [create({ secret }), create({ secret })];
    expect(two.states.open(one.states.seal(asking, subject), subject)).toBeDefined();
    expect(create().states.open(one.states.seal(asking, subject), subject)).toBeUndefined();
  });

  it("opens no state of another app with the same secret", () => {
    const [one, two] = [create({ secret, app: "staging" }), create({ secret, app: "production" })];
    const sealed = one.states.seal(asking, subject);
    expect(two.states.open(sealed, subject)).toBeUndefined();
    expect(create({ secret, app: "staging" }).states.open(sealed, subject)).toBeDefined();
  });

  it("opens it for the same grants in another order", () => {
    const { states } = create();
    const by = (scopes: string[], resources: Record<string, string[]>): AskSubject => ({
      ...subject,
      caller: { id: "ada", isAnonymous: false, scopes, resources },
    });
    const sealed = states.seal(asking, by(["a", "b"], { x: ["r", "w"], y: ["r"] }));
    expect(states.open(sealed, by(["b", "a"], { y: ["r"], x: ["w", "r"] }))).toBeDefined();
    expect(states.open(sealed, by(["b", "a"], { y: ["r"], x: ["r"] }))).toBeUndefined();
  });

  it("rejects when the claim throws, or does not answer within 5 s", async () => {
    vi.useFakeTimers();
    try {
      const never = create({ claim: () => new Promise(() => {}) }).states;
      const claimed = never.open(never.seal(asking, subject), subject)?.claim();
      await Promise.all([
        expect(claimed).rejects.toMatchObject({ code: "TIMEOUT" }),
        vi.advanceTimersByTimeAsync(5000),
      ]);
      expect(vi.getTimerCount()).toBe(0);
      const broken = create({
        claim: () => {
          throw new Error("mine");
        },
      }).states;
      await expect(broken.open(broken.seal(asking, subject), subject)?.claim()).rejects.toThrow("mine");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("leaves room for other callers when one has used its share", async () => {
    const { states } = create();
    const by = (id: string): AskSubject => ({ ...subject, caller: { id, isAnonymous: false, scopes: [] } });
    const use = (id: string): Promise<unknown> | undefined => states.open(states.seal(asking, by(id)), by(id))?.claim();
    for (let used = 0; used < 8192; used += 1) await use("eve");
    expect([await use("eve"), await use("ada")]).toEqual([false, true]);
  });
});
