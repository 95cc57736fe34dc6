import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createBudgets, readUse, resolveLimits } from "../../src/http/budgets.ts";
import { Health } from "../../src/http/health.ts";
import type { HttpAnswer, HttpReply, HttpRequest } from "../../src/http/message.ts";
import { Budget } from "../../src/spine/budget.ts";

interface Asked {
  readonly health: Health;
  readonly ask: (target: string, method?: string) => HttpAnswer[];
  /** Lets the time pass for which it waits. */
  readonly pass: () => void;
  readonly questions: ((isReady: boolean) => void)[];
  readonly signals: AbortSignal[];
}

const budgets = createBudgets(resolveLimits(), () => {});
const schemaBytes = new Budget({ total: 100, perKey: 10 });

function create(): Asked {
  const timers = new Set<() => void>();
  const questions: ((isReady: boolean) => void)[] = [];
  const signals: AbortSignal[] = [];
  const isReady = (signal: AbortSignal): Promise<boolean> => {
    signals.push(signal);
    return new Promise((resolve) => {
      questions.push(resolve);
      signal.addEventListener("abort", () => resolve(false));
    });
  };
  const after = (_ms: number, run: () => void): (() => void) => {
    timers.add(run);
    return () => timers.delete(run);
  };
  const health = new Health({ runtime: { isReady, schemaBytes }, clock: { now: () => 0, after }, budgets });
  const ask = (target: string, method = "GET"): HttpAnswer[] => {
    const answers: HttpAnswer[] = [];
    // Nothing else of either is looked at.
    const request = { target, method } as HttpRequest;
    // As above.
    const reply = { answer: (answer: HttpAnswer) => void answers.push(answer) } as unknown as HttpReply;
    expect(health.answer(request, reply)).toBe(true);
    return answers;
  };
  return { health, ask, questions, signals, pass: () => timers.forEach((run) => run()) };
}

describe("health", () => {
  it("answers /healthz without asking the surface", () => {
    const { ask, questions } = create();
    expect(ask("/healthz?x=1")).toMatchObject([{ status: 200, body: "ok" }]);
    expect(questions).toHaveLength(0);
  });

  it("answers many requests for /readyz with one check of the live surface", async () => {
    const { ask, questions } = create();
    const answers = [ask("/readyz"), ask("/readyz"), ask("/readyz", "HEAD")];
    expect(questions).toHaveLength(1);
    questions[0]?.(true);
    await turn();
    expect(answers.map(([answer]) => answer?.status)).toEqual([200, 200, 200]);
    const again = ask("/readyz");
    questions[1]?.(false);
    await turn();
    expect(again).toMatchObject([{ status: 503 }]);
    expect(again.map(({ body = "" }) => JSON.parse(body))).toEqual([
      { status: "unavailable", limits: readUse(budgets, schemaBytes) },
    ]);
  });

  it("answers /readyz with 503 when the check takes too long", async () => {
    const { ask, pass, signals } = create();
    const answers = ask("/readyz");
    pass();
    await turn();
    expect(answers).toMatchObject([{ status: 503 }]);
    expect(signals[0]?.aborted).toBe(true);
  });

  it("sends everybody elsewhere when it is about to close", async () => {
    const { health, ask, questions } = create();
    const asked = ask("/readyz");
    health.leave();
    expect([...ask("/healthz"), ...ask("/readyz")]).toMatchObject([{ status: 503 }, { status: 503 }]);
    questions[0]?.(true);
    await turn();
    expect(asked).toMatchObject([{ status: 503 }]);
  });

  it("aborts its check when it is closed", async () => {
    const { health, ask } = create();
    const asked = ask("/readyz");
    health.close();
    health.close();
    await turn();
    expect(asked).toMatchObject([{ status: 503 }]);
  });

  it("is read and nothing else when another method is used", () => {
    expect(create().ask("/healthz", "POST")).toMatchObject([{ status: 405, headers: { allow: "GET, HEAD" } }]);
  });

  it.each(["/", "/mcp", "/healthz/", "/mcp/healthz", "/HEALTHZ"])("does not answer %s", (target) => {
    // As above: it goes by the target alone.
    expect(create().health.answer({ target, method: "GET" } as HttpRequest, {} as HttpReply)).toBe(false);
  });
});
