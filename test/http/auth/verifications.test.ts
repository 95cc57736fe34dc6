import { describe, expect, it } from "vitest";
import type { Leaving } from "../../../src/http/auth/authenticator.ts";
import { bearer } from "../../../src/http/auth/bearer.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { doorOf, requestWith, resource, verdict } from "./setup.ts";

type Verdict = ReturnType<typeof verdict> | undefined;

/** An authenticator whose verifier says nothing until it is told to. */
function createWaiting() {
  const signals: AbortSignal[] = [];
  const says: ((said: Verdict) => void)[] = [];
  const clock = new ManualClock();
  const verify = (_token: string, { signal }: { readonly signal: AbortSignal }): Promise<Verdict> => {
    signals.push(signal);
    return new Promise((resolve) => says.push(resolve));
  };
  const door = doorOf(bearer({ resource, verify }), { clock });
  const ask = (address?: string, reply?: Leaving, token = "a") =>
    door.authenticator.authenticate({ ...requestWith(`Bearer ${token}`), address }, reply);
  return { ...door, ask, signals, says, clock };
}

const busy = { status: 503, headers: { "retry-after": "1" } };
const attacker = "192.0.2.7";

describe("an authenticator", () => {
  it("verifies no more than 32 unknown tokens of one address at once, and more when one is done", async () => {
    const { ask, says, signals } = createWaiting();
    const asked = Array.from({ length: 32 }, (_, at) => ask(attacker, undefined, `t${at}`));
    expect(await ask(attacker)).toMatchObject(busy);
    void ask("192.0.2.8");
    expect(signals).toHaveLength(33);
    says[0]?.(verdict());
    expect(await asked[0]).toMatchObject({ id: "alice" });
    void ask(attacker);
    expect(signals).toHaveLength(34);
  });

  it("takes all addresses of one IPv6 network for one", async () => {
    const { ask } = createWaiting();
    for (let at = 0; at < 32; at += 1) void ask(`2001:db8:1:2::${at}`);
    expect(await ask("2001:db8:1:2:3:4:5:6%eth0")).toMatchObject(busy);
    const other = ask("2001:db8::2:3:4:5:6");
    const first = await Promise.race([other, Promise.resolve("verifying")]);
    expect(first).toBe("verifying");
  });

  it("verifies no more than 256 unknown tokens at once", async () => {
    const { ask, signals, faults } = createWaiting();
    for (let count = 0; count < 256; count += 1) void ask();
    expect(await ask()).toMatchObject(busy);
    expect([signals.length, faults.length]).toEqual([256, 0]);
  });

  it("verifies a token that was good before while unknown ones take all their places, until it is refused", async () => {
    const { ask, says, signals } = createWaiting();
    const once = ask(attacker, undefined, "good");
    says[0]?.(verdict());
    expect(await once).toMatchObject({ id: "alice" });
    for (let count = 0; count < 256; count += 1) void ask();
    const again = ask(attacker, undefined, "good");
    expect(signals).toHaveLength(258);
    says[257]?.(undefined);
    expect(await again).toMatchObject({ status: 401 });
  });

  it("verifies no more than 64 times at once for one token that was good before", async () => {
    const { ask, says } = createWaiting();
    const once = ask(attacker);
    says[0]?.(verdict());
    await once;
    for (let count = 0; count < 64; count += 1) void ask(attacker);
    expect(await ask("192.0.2.8")).toMatchObject(busy);
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
    const { ask } = doorOf(bearer({ resource, verify }), { clock: new ManualClock() });
    for (let at = 0; at < 4097; at += 1) await ask(`Bearer t${at}`);
    await ask("Bearer t1");
    expect(asked).toBe(4097);
    await ask("Bearer t0");
    expect(asked).toBe(4098);
  });

  it("gives the place of a verifier that never answers to another when its time is over", async () => {
    const { ask, clock, faults } = createWaiting();
    const asked = Array.from({ length: 32 }, () => ask(attacker));
    await clock.pass(5000);
    expect(await Promise.all(asked)).toEqual(asked.map(() => expect.objectContaining({ status: 503 })));
    void ask(attacker);
    expect(faults).toHaveLength(1);
    expect(clock.size).toBe(1);
  });

  it("tells its verifier when a client leaves, and neither lets anybody in nor reports it", async () => {
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

  it("reports a verifier that fails once in ten seconds, under one id, and says how often it has failed since", async () => {
    const clock = new ManualClock();
    const broken = async (): Promise<never> => {
      throw new TypeError("the store is down");
    };
    const { ask, faults } = doorOf(bearer({ resource, verify: broken }), { clock });
    const answers = await Promise.all([1, 2, 3].map(() => ask("Bearer a")));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(faults).toMatchObject([{ where: "the verifier of tokens" }]);
    expect(answers[0]).toMatchObject({ status: 503, body: expect.stringContaining(faults[0]?.correlationId ?? "?") });
    await clock.pass(10_000);
    await ask("Bearer a");
    expect(faults).toHaveLength(2);
    expect(faults[1]?.where).toContain("2 times more");
  });
});
