import { describe, expect, it } from "vitest";
import { bearer } from "../../../src/http/auth/http-auth.ts";
import {
  tokenRegistry,
  type TokenRegistry,
  type TokenRecord,
  type TokenStore,
} from "../../../src/http/auth/token-registry.ts";
import { revocationOf } from "../../../src/http/auth/verdict.ts";
import { callerOf, createAuthHarness, resource, told, type AuthHarness } from "./setup.ts";

const signal = new AbortController().signal;

function doorTo(registry: TokenRegistry): AuthHarness {
  return createAuthHarness(bearer({ resource, verify: registry.verify }));
}

/** A store that keeps what it is given, and answers when it is told to. */
class SlowStore implements TokenStore {
  readonly records: TokenRecord[] = [];
  wait: Promise<void> = Promise.resolve();
  /** Resolves when a token is looked for. */
  readonly asked: Promise<void>;
  #onAsked = (): void => {};

  constructor() {
    this.asked = new Promise((resolve) => (this.#onAsked = resolve));
  }

  async add(record: TokenRecord): Promise<void> {
    this.records.push(record);
  }

  async find(hash: string): Promise<TokenRecord | undefined> {
    const found = this.records.find((one) => one.hash.toLowerCase() === hash.toLowerCase());
    this.#onAsked();
    await this.wait;
    return found;
  }

  async remove(tokenId: string): Promise<boolean> {
    const at = this.records.findIndex((one) => one.tokenId === tokenId);
    if (at >= 0) this.records.splice(at, 1);
    return at >= 0;
  }

  async list(): Promise<readonly TokenRecord[]> {
    return [...this.records];
  }
}

describe("a registry of tokens", () => {
  it("verifies a token that it minted, with its whole grant", async () => {
    const registry = tokenRegistry({ resource: new URL(resource) });
    const grant = {
      id: "runner 7",
      scopes: ["ci:read", "ci:read"],
      resources: { "repo:web": ["write"] },
      clientId: "runner",
      claims: { site: "fra" },
    };
    const { token, expiresAt } = await registry.mint(grant);
    expect(token).toMatch(/^smcp_[\w-]{43}$/);
    expect(expiresAt).toBeUndefined();
    const caller = callerOf(await doorTo(registry).ask(`Bearer ${token}`));
    expect({ ...caller }).toMatchObject({ ...grant, scopes: ["ci:read"], isAnonymous: false });
    // What tells of its end is for nobody behind the door: a worker can be sent who asks.
    expect(structuredClone(caller)).toEqual({ ...grant, scopes: ["ci:read"], isAnonymous: false });
  });

  it("never makes the same token twice", async () => {
    const registry = tokenRegistry({ resource });
    const all = await Promise.all(Array.from({ length: 500 }, () => registry.mint({ id: "a", scopes: [] })));
    expect(new Set(all.map(({ token }) => token)).size).toBe(500);
    expect(new Set(all.map(({ tokenId }) => tokenId)).size).toBe(500);
  });

  it("keeps and lists nothing that could be used", async () => {
    const store = new SlowStore();
    const registry = tokenRegistry({ resource, store, now: () => 1_000_000 });
    const { token, tokenId } = await registry.mint({ id: "a", scopes: ["ci:read"], expiresInMs: 5000 });
    const listed = await registry.list();
    const times = { createdAt: 1000, expiresAt: 1005 };
    expect(listed).toEqual([{ tokenId, id: "a", scopes: ["ci:read"], resource, ...times }]);
    const secret = token.slice("smcp_".length);
    expect(JSON.stringify([store.records, listed, tokenId])).not.toContain(secret);
    expect(JSON.stringify(listed)).not.toContain(store.records[0]?.hash);
    expect(store.records[0]?.hash).toMatch(/^[\w-]{43}$/);
  });

  it.each<[string, (token: string) => string]>([
    ["one character is another", (token) => token.slice(0, -1) + (token.endsWith("A") ? "B" : "A")],
    ["its capitals are none", (token) => token.toLowerCase()],
    ["it has no prefix", (token) => token.slice("smcp_".length)],
    ["it is longer", (token) => `${token}A`],
    ["it is empty", () => ""],
  ])("knows no token when %s", async (_, change) => {
    const registry = tokenRegistry({ resource });
    const { token } = await registry.mint({ id: "a", scopes: [] });
    expect(await registry.verify(token, { signal })).toBeDefined();
    expect(await registry.verify(change(token), { signal })).toBeUndefined();
  });

  it("refuses a hash as a token", async () => {
    const store = new SlowStore();
    const registry = tokenRegistry({ resource, store });
    await registry.mint({ id: "a", scopes: [] });
    const hash = store.records[0]?.hash ?? "";
    expect(await registry.verify(hash, { signal })).toBeUndefined();
    expect(await registry.verify(`smcp_${hash}`, { signal })).toBeUndefined();
  });

  it("refuses a record of another hash from a store that ignores case", async () => {
    const store = new SlowStore();
    const registry = tokenRegistry({ resource, store });
    const { token } = await registry.mint({ id: "a", scopes: [] });
    const [record] = store.records.splice(0);
    if (record !== undefined) store.records.push({ ...record, hash: record.hash.toUpperCase() });
    expect(await registry.verify(token, { signal })).toBeUndefined();
  });

  it("knows a token no more when its time is over", async () => {
    let now = Date.now();
    const registry = tokenRegistry({ resource, now: () => now });
    const { token, expiresAt } = await registry.mint({ id: "a", scopes: [], expiresInMs: 1000 });
    expect(expiresAt).toBe((now + 1000) / 1000);
    now += 999;
    expect(await registry.verify(token, { signal })).toMatchObject({ expiresAt });
    now += 1;
    expect(await registry.verify(token, { signal })).toBeUndefined();
    expect(await registry.list()).toEqual([]);
  });

  it("refuses a revoked token with 401 from the next request on, and fires its signal", async () => {
    const registry = tokenRegistry({ resource });
    const { ask } = doorTo(registry);
    const one = await registry.mint({ id: "a", scopes: [] });
    const other = await registry.mint({ id: "a", scopes: [] });
    const [caller, caller2] = [
      callerOf(await ask(`Bearer ${one.token}`)),
      callerOf(await ask(`Bearer ${other.token}`)),
    ];
    expect(await registry.revoke(one.tokenId)).toBe(true);
    expect([revocationOf(caller)?.aborted, revocationOf(caller2)?.aborted]).toEqual([true, false]);
    expect(told(await ask(`Bearer ${one.token}`)).status).toBe(401);
    expect(told(await ask(`Bearer ${other.token}`)).status).toBe(200);
    expect(await registry.revoke(one.tokenId)).toBe(false);
    expect(await registry.revoke("never")).toBe(false);
  });

  it("revokes all tokens of one caller, and no other caller's", async () => {
    const registry = tokenRegistry({ resource });
    const mint = async (id: string): Promise<string> => (await registry.mint({ id, scopes: [] })).token;
    const [first, second, foreign] = [await mint("a"), await mint("a"), await mint("b")];
    expect(await registry.revokeCaller("a")).toBe(2);
    expect(await registry.revokeCaller("a")).toBe(0);
    const known = await Promise.all([first, second, foreign].map((token) => registry.verify(token, { signal })));
    expect(known.map((one) => one?.id)).toEqual([undefined, undefined, "b"]);
  });

  it("does not find a token that was revoked while a slow store had it still", async () => {
    const store = new SlowStore();
    const registry = tokenRegistry({ resource, store });
    const { token, tokenId } = await registry.mint({ id: "a", scopes: [] });
    let answer = (): void => {};
    store.wait = new Promise((resolve) => (answer = resolve));
    const verdict = registry.verify(token, { signal });
    // The platform makes the hash in its own time.
    await store.asked;
    await registry.revoke(tokenId);
    answer();
    expect(await verdict).toBeUndefined();
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    "refuses a token that is revoked %i turns after the store found it",
    async (turns) => {
      const store = new SlowStore();
      const registry = tokenRegistry({ resource, store });
      const { token, tokenId } = await registry.mint({ id: "a", scopes: [] });
      const [record] = store.records;
      let find = (_found: TokenRecord | undefined): void => {};
      let remove = (_wasThere: boolean): void => {};
      const asked = new Promise<void>((ask) => {
        store.find = () => {
          ask();
          return new Promise((resolve) => (find = resolve));
        };
      });
      store.remove = () => new Promise((resolve) => (remove = resolve));
      const verdict = registry.verify(token, { signal });
      await asked;
      const revoking = registry.revoke(tokenId);
      find(record);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      remove(true);
      await revoking;
      const verified = await verdict;
      expect(verified === undefined || verified.revoked?.aborted).toBe(true);
    },
  );

  it("refuses every token when its store fails", async () => {
    const store = new SlowStore();
    const registry = tokenRegistry({ resource, store });
    const { token } = await registry.mint({ id: "a", scopes: [] });
    store.find = async () => {
      throw new Error(`no row for ${token}`);
    };
    const { ask, faults } = doorTo(registry);
    const found = await ask(`Bearer ${token}`);
    expect(told(found).status).toBe(503);
    expect(JSON.stringify([found, faults.map(({ cause }) => String(cause))])).not.toContain(token.slice(5));
  });

  it("refuses a token for another server that shares its store", async () => {
    const store = new SlowStore();
    const { token } = await tokenRegistry({ resource: "https://other.example/mcp", store }).mint({
      id: "a",
      scopes: [],
    });
    const { ask } = doorTo(tokenRegistry({ resource, store }));
    expect(told(await ask(`Bearer ${token}`)).status).toBe(401);
  });

  it("mints at most 10,000 tokens in memory, and replaces expired ones", async () => {
    let now = Date.now();
    const registry = tokenRegistry({ resource, now: () => now });
    const grants = Array.from({ length: 10_000 }, () => ({ id: "a", scopes: [], expiresInMs: 1000 }));
    await Promise.all(grants.map((grant) => registry.mint(grant)));
    await expect(registry.mint({ id: "a", scopes: [] })).rejects.toMatchObject({ code: "OVERFLOW" });
    now += 1000;
    await expect(registry.mint({ id: "a", scopes: [] })).resolves.toMatchObject({ token: expect.any(String) });
    expect((await registry.list()).length).toBe(1);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;

  it.each<[string, object]>([
    ["it names nobody", { id: "" }],
    ["its caller's name is longer than 1 KiB", { id: "é".repeat(513) }],
    ["it has no scopes", { scopes: undefined }],
    ["a scope has a space", { scopes: ["a b"] }],
    ["there are too many scopes", { scopes: Array.from({ length: 1025 }, (_, at) => `a:${at}`) }],
    ["there is too much of scopes", { scopes: Array.from({ length: 200 }, (_, at) => `a:${at}`.padEnd(99, "x")) }],
    ["its resources are a list", { resources: [] }],
    ["an action is no text", { resources: { "repo:a": [1] } }],
    [
      "there are too many resources",
      { resources: Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [i, []])) },
    ],
    ["there is too much of resources", { resources: { a: ["x".repeat(16 * 1024)] } }],
    ["its claims are cyclic", { claims: cyclic }],
    ["there is too much of claims", { claims: { a: "x".repeat(16 * 1024) } }],
    ["its client is no text", { clientId: 7 }],
    ["its time is over before it begins", { expiresInMs: 0 }],
    ["its time has no end", { expiresInMs: Number.POSITIVE_INFINITY }],
    ["an option is misspelt", { scope: ["a"] }],
  ])("mints nothing when %s", async (_, changes) => {
    const registry = tokenRegistry({ resource });
    const grant = { id: "a", scopes: [], ...changes };
    await expect(registry.mint(grant)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(await registry.list()).toEqual([]);
  });

  it.each<[string, object]>([
    ["there is no resource", { resource: undefined }],
    ["its store is none", { store: {} }],
    ["an option is misspelt", { stores: {} }],
  ])("is refused when %s", (_, changes) => {
    const make = (): unknown => tokenRegistry({ resource, ...changes });
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
