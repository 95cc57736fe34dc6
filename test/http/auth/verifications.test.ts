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
  const ask = (connection?: object, reply?: Leaving) =>
    door.authenticator.authenticate({ ...requestWith("Bearer a"), connection }, reply);
  return { ...door, ask, signals, says, clock };
}

const busy = { status: 503, headers: { "retry-after": "1" } };

describe("an authenticator", () => {
  it("verifies no more than 8 tokens of one connection at once, and more when one is done", async () => {
    const { ask, says, signals } = createWaiting();
    const connection = {};
    const asked = Array.from({ length: 8 }, () => ask(connection));
    expect(await ask(connection)).toMatchObject(busy);
    void ask({});
    expect(signals).toHaveLength(9);
    says[0]?.(verdict());
    expect(await asked[0]).toMatchObject({ id: "alice" });
    void ask(connection);
    expect(signals).toHaveLength(10);
  });

  it("verifies no more than 256 at once", async () => {
    const { ask, signals, faults } = createWaiting();
    for (let count = 0; count < 256; count += 1) void ask();
    expect(await ask()).toMatchObject(busy);
    expect([signals.length, faults.length]).toEqual([256, 0]);
  });

  it("gives the place of a verifier that never answers to another when its time is over", async () => {
    const { ask, clock, faults } = createWaiting();
    const connection = {};
    const asked = Array.from({ length: 8 }, () => ask(connection));
    await clock.pass(5000);
    expect(await Promise.all(asked)).toEqual(asked.map(() => expect.objectContaining({ status: 503 })));
    void ask(connection);
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
