import { describe, expect, it } from "vitest";
import type { Leaving } from "../../../src/http/auth/verifications.ts";
import { bearer } from "../../../src/http/auth/http-auth.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { createAuthHarness, requestWith, resource, verdict } from "./setup.ts";

type Verdict = ReturnType<typeof verdict> | undefined;

/** An authenticator whose verifier answers when the test calls `says`. */
function createWaiting() {
  const signals: AbortSignal[] = [];
  const verified: string[] = [];
  const says: ((said: Verdict) => void)[] = [];
  const clock = new ManualClock();
  const verify = (token: string, { signal }: { readonly signal: AbortSignal }): Promise<Verdict> => {
    verified.push(token);
    signals.push(signal);
    return new Promise((resolve) => says.push(resolve));
  };
  const door = createAuthHarness(bearer({ resource, verify }), { clock });
  const ask = (address?: string, reply?: Leaving, token = "a") =>
    door.authenticator.authenticate({ ...requestWith(`Bearer ${token}`), address }, reply);
  const askMany = (count: number, address?: string, name = "unknown") =>
    Array.from({ length: count }, (_, at) => ask(address, undefined, `${name}${at}`));
  return { ...door, ask, askMany, signals, verified, says, clock };
}

/** Resolves when everything that is settled already has been acted on. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

const busy = { status: 503, headers: { "retry-after": "1" } };
const attacker = "192.0.2.7";

describe("an authenticator", () => {
  it("verifies 32 unknown tokens of one address at once, then the newest waiting one", async () => {
    const { askMany, ask, says, verified } = createWaiting();
    const [first] = askMany(32, attacker);
    const older = ask(attacker, undefined, "older");
    const newer = ask(attacker, undefined, "newer");
    void ask("192.0.2.8", undefined, "other");
    expect(verified.slice(32)).toEqual(["other"]);
    says[0]?.(verdict());
    expect(await first).toMatchObject({ id: "alice" });
    expect(verified.slice(33)).toEqual(["newer"]);
    says[33]?.(verdict({ id: "bob" }));
    expect(await newer).toMatchObject({ id: "bob" });
    expect(verified.slice(34)).toEqual(["older"]);
    says[34]?.(undefined);
    expect(await older).toMatchObject({ status: 401 });
  });

  it("counts all addresses of one IPv6 network as one", () => {
    const { askMany, ask, verified } = createWaiting();
    void askMany(32, "2001:db8:1:2::1");
    void ask("2001:db8:1:2:3:4:5:6%eth0", undefined, "same");
    void ask("2001:db8::2:3:4:5:6", undefined, "other");
    expect(verified.slice(32)).toEqual(["other"]);
  });

  it("verifies at most 256 unknown tokens at once, and next one from the network with the fewest", async () => {
    const { askMany, ask, verified, says, faults } = createWaiting();
    for (let at = 0; at < 8; at += 1) void askMany(32, `192.0.2.${at}`, `n${at}-`);
    const waiting = ask("198.51.100.1", undefined, "new");
    void askMany(40, "192.0.2.0", "more");
    expect([verified.length, faults.length]).toEqual([256, 0]);
    says[0]?.(undefined);
    await settled();
    expect(verified.slice(256)).toEqual(["new"]);
    says[256]?.(verdict());
    expect(await waiting).toMatchObject({ id: "alice" });
  });

  it("refuses the oldest waiting token of the network with the most when too many wait", async () => {
    const { askMany, ask, says, verified } = createWaiting();
    const asked = askMany(32 + 1024, attacker);
    const other = Array.from({ length: 33 }, (_, at) => ask("192.0.2.8", undefined, `other${at}`));
    expect(await asked[32]).toMatchObject(busy);
    expect(await Promise.race([asked[33], other[32], Promise.resolve("waiting")])).toBe("waiting");
    const at = verified.indexOf("other0");
    says[at]?.(undefined);
    await other[0];
    expect(verified).toContain("other0");
    expect(verified.at(-1)).toBe("other32");
  });

  it("answers an unknown token with 503 when it waited as long as a verification may take", async () => {
    const { askMany, ask, clock, verified } = createWaiting();
    void askMany(16, attacker);
    await clock.pass(2500);
    void askMany(16, attacker, "later");
    const waiting = ask(attacker, undefined, "a");
    void askMany(32, attacker, "newer");
    await clock.pass(2500);
    expect(verified).toHaveLength(48);
    await clock.pass(2499);
    expect(await Promise.race([waiting, Promise.resolve("waiting")])).toBe("waiting");
    await clock.pass(1);
    expect(await waiting).toMatchObject(busy);
    expect([verified.length, verified.includes("a")]).toEqual([64, false]);
  });

  it("gives the permit of a client that left to the next one", async () => {
    const { askMany, ask, says, verified, clock } = createWaiting();
    const [first] = askMany(32, attacker);
    void ask(attacker, undefined, "older");
    const reply: Leaving = { isOver: false, onGone: undefined };
    const left = ask(attacker, reply, "left");
    reply.onGone?.();
    expect(await left).toEqual({ status: 499 });
    says[0]?.(undefined);
    await first;
    expect(verified.slice(32)).toEqual(["older"]);
    expect(clock.size).toBe(32);
  });

  it("calls the verifier once for concurrent requests with one token", async () => {
    const { ask, says, verified } = createWaiting();
    const asked = Array.from({ length: 100 }, (_, at) => ask(`192.0.2.${at}`));
    expect(verified).toEqual(["a"]);
    says[0]?.(verdict());
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    const again = ask();
    expect(verified).toEqual(["a", "a"]);
    says[1]?.(undefined);
    expect(await again).toMatchObject({ status: 401 });
  });

  it("aborts a shared verification when the last of its clients has left, and never for a client that stays", async () => {
    const { ask, signals, says, verified } = createWaiting();
    const replies = [1, 2].map((): Leaving => ({ isOver: false, onGone: undefined }));
    const asked = replies.map((reply) => ask(attacker, reply));
    replies[0]?.onGone?.();
    expect([await asked[0], signals[0]?.aborted]).toEqual([{ status: 499 }, false]);
    replies[1]?.onGone?.();
    expect([await asked[1], signals[0]?.aborted]).toEqual([{ status: 499 }, true]);
    const later = ask(attacker);
    expect(verified).toHaveLength(2);
    says[1]?.(verdict());
    expect(await later).toMatchObject({ id: "alice" });
  });

  it("lets at most 1,024 requests wait for the verification of one token", async () => {
    const { ask } = createWaiting();
    for (let count = 0; count < 1024; count += 1) void ask();
    expect(await ask()).toMatchObject(busy);
  });

  it("verifies a known token while unknown ones hold all their permits, until the verifier refuses it", async () => {
    const { askMany, ask, says, verified } = createWaiting();
    const once = ask(attacker, undefined, "good");
    says[0]?.(verdict());
    expect(await once).toMatchObject({ id: "alice" });
    void askMany(300);
    const again = ask(attacker, undefined, "good");
    expect(verified.slice(256)).toEqual(["unknown255", "good"]);
    says[257]?.(undefined);
    expect(await again).toMatchObject({ status: 401 });
  });

  it("verifies at most 64 known tokens of one caller at once, and other callers' meanwhile", async () => {
    const { ask, says, verified } = createWaiting();
    const tokens = Array.from({ length: 65 }, (_, at) => `mallory${at}`);
    for (const [at, token] of [...tokens, "ada"].entries()) {
      const once = ask(undefined, undefined, token);
      says[at]?.(verdict({ id: token === "ada" ? "ada" : "mallory" }));
      await once;
    }
    const asked = tokens.map((token) => ask(undefined, undefined, token));
    const ada = ask(undefined, undefined, "ada");
    expect(verified.slice(66 + 63)).toEqual(["mallory63", "ada"]);
    says[66 + 64]?.(verdict({ id: "ada" }));
    expect(await ada).toMatchObject({ id: "ada" });
    says[66]?.(verdict({ id: "mallory" }));
    expect(await asked[0]).toMatchObject({ id: "mallory" });
    expect(verified.at(-1)).toBe("mallory64");
  });

  it("refuses a token for two seconds after it was refused, without asking, and not after its verifier failed", async () => {
    const { ask, says, signals, clock } = createWaiting();
    const refused = ask();
    says[0]?.(undefined);
    expect(await refused).toMatchObject({ status: 401 });
    expect(await ask()).toMatchObject({ status: 401 });
    expect(signals).toHaveLength(1);
    await clock.pass(2000);
    const late = ask();
    await clock.pass(5000);
    expect(await late).toMatchObject({ status: 503 });
    const last = ask();
    says[2]?.(verdict());
    expect(await last).toMatchObject({ id: "alice" });
  });

  it("remembers no more than 4,096 refused tokens, the newest", async () => {
    let asked = 0;
    const verify = async (): Promise<undefined> => void (asked += 1);
    const { ask } = createAuthHarness(bearer({ resource, verify }), { clock: new ManualClock() });
    for (let at = 0; at < 4097; at += 1) await ask(`Bearer t${at}`);
    await ask("Bearer t1");
    expect(asked).toBe(4097);
    await ask("Bearer t0");
    expect(asked).toBe(4098);
  });

  it("frees the permit of a verifier that never answers after its timeout", async () => {
    const { ask, askMany, clock, faults } = createWaiting();
    const asked = askMany(32, attacker);
    await clock.pass(5000);
    expect(await Promise.all(asked)).toEqual(asked.map(() => expect.objectContaining({ status: 503 })));
    void ask(attacker);
    expect(faults).toHaveLength(1);
    expect(clock.size).toBe(1);
  });

  it("aborts the verifier's signal when the client leaves, and reports nothing", async () => {
    const { ask, signals, says, faults, clock } = createWaiting();
    const reply: Leaving = { isOver: false, onGone: undefined };
    const asked = ask(undefined, reply);
    reply.onGone?.();
    expect(signals[0]?.aborted).toBe(true);
    expect(await asked).toEqual({ status: 499 });
    expect(reply.onGone).toBeUndefined();
    says[0]?.(verdict());
    await clock.pass(0);
    expect([faults.length, clock.size]).toEqual([0, 0]);
  });

  it("reports a failing verifier once in ten seconds, under one id, with the number of failures since", async () => {
    const clock = new ManualClock();
    const broken = async (): Promise<never> => {
      throw new TypeError("the store is down");
    };
    const { ask, faults } = createAuthHarness(bearer({ resource, verify: broken }), { clock });
    const answers = await Promise.all([1, 2, 3].map(() => ask("Bearer a")));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(faults).toMatchObject([{ where: "the verifier of tokens" }]);
    expect(answers[0]).toMatchObject({ status: 503, body: expect.stringContaining(faults[0]?.correlationId ?? "?") });
    await clock.pass(10_000);
    await ask("Bearer a");
    expect(faults).toHaveLength(2);
    expect(faults[1]?.where).toContain("2 times more");
  });

  it("reports different faults of its verifier under different ids, each with the id of its answer", async () => {
    const answers = [
      true,
      verdict({ id: undefined }),
      verdict({ scopes: undefined }),
      new Error("database is down"),
      new Error("database is down", { cause: new Error("connection refused") }),
      new Error("database is down", { cause: new Error("connection timed out") }),
      verdict({ resource: "https://other.example/mcp" }),
    ];
    const verify = async (token: string): Promise<Verdict> => {
      const answer = answers[Number(token)];
      if (answer instanceof Error) throw answer;
      // What a verifier in plain JavaScript may return.
      return answer as Verdict;
    };
    const { ask, faults } = createAuthHarness(bearer({ resource, verify }), { clock: new ManualClock() });
    expect(await ask("Bearer 6")).toMatchObject({ status: 401 });
    const ids: unknown[] = [];
    for (const token of [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]) {
      const found = await ask(`Bearer ${token}`);
      ids.push(/"correlationId":"([^"]+)"/.exec("body" in found ? (found.body ?? "") : "")?.[1]);
    }
    const [, ...reported] = faults.map(({ correlationId }) => correlationId);
    expect(ids).toEqual([...reported, ...reported]);
    expect(new Set(ids).size).toBe(6);
    expect(String(faults[4]?.cause)).toContain("database is down");
    expect(String(faults[5]?.cause)).toContain("connection refused");
  });

  it("reports no more than 32 different faults in ten seconds, and then how many it left out", async () => {
    const clock = new ManualClock();
    const failing = async (token: string): Promise<never> => {
      throw new TypeError(`odd length ${token.length}`);
    };
    const { ask, faults } = createAuthHarness(bearer({ resource, verify: failing }), { clock });
    const answers = [];
    for (let length = 1; length <= 40; length += 1) answers.push(await ask(`Bearer ${"a".repeat(length)}`));
    expect(faults).toHaveLength(32);
    expect(answers[31]).toMatchObject({ body: expect.stringContaining("correlationId") });
    expect(answers[32]).toMatchObject({ status: 503, body: expect.not.stringContaining("correlationId") });
    await clock.pass(10_000);
    await ask(`Bearer ${"a".repeat(99)}`);
    expect(faults[32]?.where).toContain("8 other failures");
  });
});
