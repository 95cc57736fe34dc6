import { describe, expect, it } from "vitest";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { CallContext } from "../../src/call/call-context.ts";
import type { Asking } from "../../src/catalog/asking/asking.ts";
import { bearer } from "../../src/http/auth/http-auth.ts";
import {
  tokenRegistry,
  type TokenRecord,
  type TokenRegistry,
  type TokenStore,
} from "../../src/http/auth/token-registry.ts";
import type { CallLimiter, LimitVerdict } from "../../src/call/limit-call.ts";
import { createCallLimiter } from "../../src/http/limiters.ts";
import type { RateLimits } from "../../src/http/options.ts";
import { AskStates, type AskStatesOptions, type AskSubject } from "../../src/mcp/asking/ask-states.ts";
import { LargeValues } from "../../src/mcp/large-values.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { memoryHub } from "./memory-hub.ts";

const resource = "https://demo.example/mcp";
const app = { app: "demo", report: () => {} };

/** Lets everything run that waits for no timer. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

type Three<TEach> = readonly [TEach, TEach, TEach];

/** Creates a hub and open replicas. */
function replicas(now?: () => number) {
  const hub = memoryHub(now);
  const all: Three<Cluster> = [hub.join(), hub.join(), hub.join()];
  for (const each of all) each.open(app).ready.catch(() => {});
  return { hub, all };
}

const subject: AskSubject = { caller: anonymous, method: "tools/call", target: "pay", args: {} };
const asking: Asking = {
  kind: "asking",
  open: { sure: { kind: "elicit", params: {}, timeoutMs: 60_000 } },
  record: { asked: { sure: { digest: "d" } }, salt: "s" },
};

describe("questions of replicas", () => {
  async function create({ aheadMs = [0, 0, 0], ...more }: AskStatesOptions & { aheadMs?: Three<number> } = {}) {
    const { hub, all } = replicas();
    let later = 0;
    const join = (at: 0 | 1 | 2): AskStates => {
      const states = new AskStates({ now: () => Date.now() + aheadMs[at] + later, ...more });
      states.shareIn(all[at]);
      return states;
    };
    const states: Three<AskStates> = [join(0), join(1), join(2)];
    await settle();
    return { hub, states, pass: (ms: number) => void (later += ms) };
  }

  it("open on every replica, and are answered once over all of them", async () => {
    const [a, b, c] = (await create()).states;
    const sealed = a.seal(asking, subject);
    const opened = [b, c, a, b].map((each) => each.open(sealed, subject));
    expect(opened.every((each) => each !== undefined)).toBe(true);
    const claims = await Promise.all(opened.map(async (each) => each?.claim()));
    expect(claims.filter((claim) => claim === true)).toHaveLength(1);
  });

  it("expire by the time of the store, also where the clock of a replica is an hour off", async () => {
    const hourMs = 3_600_000;
    const { states, pass } = await create({ aheadMs: [0, hourMs, -hourMs] });
    const [, ahead, behind] = states;
    const sealed = ahead.seal(asking, subject);
    expect(behind.open(sealed, subject)).toBeDefined();
    expect(ahead.open(behind.seal(asking, subject), subject)).toBeDefined();
    pass(61_000);
    expect(behind.open(sealed, subject)).toBeUndefined();
  });

  it("cannot be claimed while the store is away, and can be afterwards", async () => {
    const { hub, states } = await create();
    const [a, b] = states;
    const sealed = a.seal(asking, subject);
    hub.setAvailable(false);
    await expect(b.open(sealed, subject)?.claim()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    hub.setAvailable(true);
    await settle();
    expect(await b.open(sealed, subject)?.claim()).toBe(true);
  });

  it("still open on every replica when the store has lost everything", async () => {
    const { hub, states } = await create();
    hub.clear();
    await settle();
    const [a, b] = states;
    expect(b.open(a.seal(asking, subject), subject)).toBeDefined();
  });

  it("are sealed by the author's secret and claimed by the author's function where they are set", async () => {
    const claimed: string[] = [];
    const secret = new Uint8Array(32).fill(1);
    const claim = (id: string): boolean => claimed.push(id) > 0;
    const { states } = await create({ secret, claim });
    const alone = new AskStates({ secret, claim });
    const opened = alone.open(states[0].seal(asking, subject), subject);
    expect(await opened?.claim()).toBe(true);
    expect(claimed).toHaveLength(1);
  });
});

describe("large values of replicas", () => {
  const text = Array.from({ length: 40_000 }, (_, line) => `line ${line}\n`).join("");
  const ada: Caller = { ...anonymous, id: "ada", isAnonymous: false, scopes: ["demo:read"] };
  const rules = "rules";

  function create() {
    const { hub, all } = replicas();
    const join = ({ store }: Cluster): LargeValues => {
      const large = new LargeValues({ uriPrefix: "surface://demo/" });
      large.shareIn(store);
      return large;
    };
    return { hub, a: join(all[0]), b: join(all[1]) };
  }

  const keep = (large: LargeValues, caller: Caller = ada) =>
    large.keep(text, Buffer.byteLength(text), { caller, rules, scopes: ["demo:read"] });

  async function read(large: LargeValues, uri: string, reader = { caller: ada, rules }): Promise<unknown> {
    return large.resolve(uri, reader)?.read(new CallContext({ caller: reader.caller }));
  }

  it("can be read to their end on another replica than the one that made them", async () => {
    const { a, b } = create();
    const { excerpt, next } = keep(a);
    const parts = [excerpt];
    for (let uri = next; uri !== undefined;) {
      const part = JSON.parse(String(await read(b, uri)));
      parts.push(part.text);
      uri = part.next;
    }
    expect(parts.join("")).toBe(text);
    a.close();
  });

  it("are written to the store once, however often the same answer is given", async () => {
    const { hub, all } = replicas();
    const written: string[] = [];
    const large = new LargeValues({ uriPrefix: "surface://demo/" });
    large.shareIn({ ...all[0].store, set: async (key) => void written.push(key) });
    keep(large);
    const { length } = written;
    keep(large);
    expect(length).toBeGreaterThan(1);
    expect(written).toHaveLength(length);
    large.close();
    hub.clear();
  });

  it("are not found by another caller, other grants, or other rules", async () => {
    const { a, b } = create();
    const { next = "" } = keep(a);
    for (const reader of [
      { caller: { ...ada, id: "bob" }, rules },
      { caller: { ...ada, scopes: [] }, rules },
      { caller: anonymous, rules },
      { caller: ada, rules: "others" },
    ]) {
      expect(await read(b, next, reader)).toBeUndefined();
    }
    expect(await read(b, next)).toContain("line");
    a.close();
  });

  it("are read here while the store is away, and elsewhere with a clear error", async () => {
    const { hub, a, b } = create();
    const { next = "" } = keep(a);
    hub.setAvailable(false);
    expect(await read(a, next)).toContain("line");
    await expect(read(b, next)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(keep(a, { ...ada, id: "eve" }).next).toBeDefined();
    a.close();
  });

  it("take no more bytes in the store than their replica keeps", async () => {
    const { all } = replicas();
    const { store } = all[0];
    const bytes = new Map<string, number>();
    const large = new LargeValues({ uriPrefix: "surface://demo/" });
    large.shareIn({
      ...store,
      set(key, value, ttlMs) {
        bytes.set(key, value.length);
        return store.set(key, value, ttlMs);
      },
      delete(key) {
        bytes.delete(key);
        return store.delete(key);
      },
    });
    for (let at = 0; at < 60; at += 1) {
      const each = `${at} ${text}`;
      large.keep(each, Buffer.byteLength(each), { caller: ada, rules, scopes: [] });
    }
    await settle();
    const sum = [...bytes.values()].reduce((before, one) => before + one, 0);
    expect(sum).toBeGreaterThan(4 * 1024 * 1024);
    expect(sum).toBeLessThan(10 * 1024 * 1024);
    // The others read on after this replica has ended.
    large.close();
    await settle();
    expect([...bytes.values()].reduce((before, one) => before + one, 0)).toBe(sum);
  });

  it("asks the store for no URI that names no part", () => {
    const { b } = create();
    for (const odd of [
      "x/2",
      `${"a".repeat(32)}/0`,
      `${"a".repeat(32)}/2/3`,
      `${"A".repeat(32)}/2`,
      `../${"a".repeat(32)}`,
    ]) {
      expect(b.resolve(`surface://demo/_parts/${odd}`, { caller: ada, rules })).toBeUndefined();
    }
  });
});

describe("revoked tokens of replicas", () => {
  function create() {
    const records: TokenRecord[] = [];
    let isAway = false;
    const store: TokenStore = {
      add: (record) => void records.push(record),
      find: (hash) => records.find((one) => one.hash === hash),
      remove(tokenId) {
        const at = records.findIndex((one) => one.tokenId === tokenId);
        return at >= 0 && records.splice(at, 1).length > 0;
      },
      list() {
        if (isAway) throw new Error("away");
        return [...records];
      },
    };
    const { hub, all } = replicas();
    const join = (cluster: Cluster): TokenRegistry => tokenRegistry({ resource, store, cluster });
    return { hub, a: join(all[0]), b: join(all[1]), leave: () => (isAway = true) };
  }

  async function verified(registry: TokenRegistry, token: string): Promise<AbortSignal> {
    const { revoked } = (await registry.verify(token, { signal: new AbortController().signal })) ?? {};
    if (revoked === undefined) throw new Error("the token is not known");
    return revoked;
  }

  it("end on every replica", async () => {
    const { a, b } = create();
    const [mine, other] = [await a.mint({ id: "ada", scopes: [] }), await a.mint({ id: "bob", scopes: [] })];
    const [revoked, stays] = [await verified(b, mine.token), await verified(b, other.token)];
    await a.revoke(mine.tokenId);
    await settle();
    expect([revoked.aborted, stays.aborted]).toEqual([true, false]);
  });

  it("end after a gap, and no others", async () => {
    const { hub, a, b } = create();
    const [mine, other] = [await a.mint({ id: "ada", scopes: [] }), await a.mint({ id: "bob", scopes: [] })];
    const [revoked, stays] = [await verified(b, mine.token), await verified(b, other.token)];
    hub.drop(() => true);
    await a.revoke(mine.tokenId);
    await settle();
    expect(revoked.aborted).toBe(false);
    hub.drop(() => false);
    hub.beat();
    await settle();
    expect([revoked.aborted, stays.aborted]).toEqual([true, false]);
  });

  it("count as revoked after a gap if the store cannot tell", async () => {
    const { hub, a, b, leave } = create();
    const { token } = await a.mint({ id: "ada", scopes: [] });
    const revoked = await verified(b, token);
    leave();
    hub.clear();
    await settle();
    expect(revoked.aborted).toBe(true);
  });

  it("need a store that the replicas share", () => {
    const [cluster] = replicas().all;
    expect(() => tokenRegistry({ resource, cluster })).toThrow(/"cluster" needs a "store"/);
  });
});

describe("rate limits of replicas", () => {
  const auth = bearer({ resource, verify: async () => undefined });
  const join = (cluster: Cluster, rateLimit: RateLimits): CallLimiter => {
    const limiter = createCallLimiter({ auth, rateLimit, cluster });
    if (limiter === undefined) throw new Error("there is no limit");
    return limiter;
  };

  it("count the calls on all replicas together, and more slowly those that change something", async () => {
    let now = 1_000_000;
    const [one, other] = replicas(() => now).all;
    const rateLimit = { perMinute: 60, burst: 4 };
    const [a, b] = [join(one, rateLimit), join(other, rateLimit)];
    const verdicts: LimitVerdict[] = [];
    for (const limiter of [a, b, a, b, a]) verdicts.push(await limiter.limit("ada", 1));
    expect(verdicts.map(({ ok }) => ok)).toEqual([true, true, true, true, false]);
    expect(verdicts.at(-1)).toEqual({ ok: false, retryAfterMs: 1000 });
    expect(await b.limit("bob", 4)).toEqual({ ok: true });
    now += 60_000;
    for (let call = 0; call < 4; call += 1) expect((await a.limit("ada", 4)).ok).toBe(true);
    now += 1000;
    expect(await b.limit("ada", 4)).toEqual({ ok: false, retryAfterMs: 3000 });
    expect(await b.limit("ada", 1)).toEqual({ ok: true });
  });

  it("are counted by each replica while the store is away", async () => {
    const { hub, all } = replicas();
    const [a, b] = [join(all[0], { burst: 1 }), join(all[1], { burst: 1 })];
    hub.setAvailable(false);
    expect(await a.limit("ada", 1)).toEqual({ ok: true });
    expect(await a.limit("ada", 1)).toMatchObject({ ok: false });
    expect(await b.limit("ada", 1)).toEqual({ ok: true });
  });
});
