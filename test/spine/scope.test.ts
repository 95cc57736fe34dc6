import { getEventListeners } from "node:events";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Scope } from "../../src/spine/scope.ts";

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function faultsOf(closing: Promise<void>): Promise<unknown[]> {
  const outcome: unknown = await closing.catch((cause: unknown) => cause);
  return outcome instanceof AggregateError ? outcome.errors : [];
}

describe("Scope", () => {
  it("close() runs every disposer once, in reverse order, waiting for each, when some fail", async () => {
    const plan = fc.array(fc.record({ late: fc.boolean(), fails: fc.boolean(), taken: fc.boolean() }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const scope = new Scope("a thing");
        const ran: number[] = [];
        let under = 0;
        for (const [index, step] of steps.entries()) {
          const takeBack = scope.add(async () => {
            under += 1;
            expect(under).toBe(1);
            if (step.late) await tick();
            ran.push(index);
            under -= 1;
            if (step.fails) throw new Error(String(index));
          });
          if (step.taken) takeBack();
        }
        const faults = await faultsOf(scope.close());
        const kept = steps.map((step, index) => ({ ...step, index })).filter((step) => !step.taken);
        expect(ran).toEqual(kept.map((step) => step.index).toReversed());
        expect(faults).toHaveLength(kept.filter((step) => step.fails).length);
        expect(await faultsOf(scope.close())).toHaveLength(faults.length);
        expect(ran).toHaveLength(kept.length);
      }),
      { numRuns: 100 },
    );
  });

  it("close() keeps errors of every sort and names the owner when it rejects", async () => {
    const scope = new Scope("the shop");
    scope.add(() => {
      // oxlint-disable-next-line only-throw-error -- whatever an author's code throws
      throw undefined;
    });
    scope.add(() => Promise.reject(new Error("late")));
    const failure = await scope.close().catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(AggregateError);
    expect(failure).toMatchObject({ message: "Closing the shop: 2 disposers failed" });
    expect(await faultsOf(scope.close())).toEqual([new Error("late"), undefined]);
  });

  it("close() rejects with the error of one failed disposer", async () => {
    const scope = new Scope("it");
    scope.add(() => Promise.reject(new Error("x")));
    await expect(scope.close()).rejects.toThrow("Closing it: 1 disposer failed");
  });

  it("close() gives every caller the same promise when it is called twice, also while it runs", async () => {
    const scope = new Scope("it");
    let release = (): void => {};
    scope.add(() => new Promise<void>((resolve) => (release = resolve)));
    const first = scope.close();
    await tick();
    expect(scope.close()).toBe(first);
    release();
    await first;
    expect(scope.close()).toBe(first);
  });

  it("close() does not deadlock when a disposer closes the same scope and waits for it", async () => {
    const scope = new Scope("it");
    const ran: string[] = [];
    scope.add(() => void ran.push("outer"));
    scope.add(() => scope.close());
    scope.add(async () => {
      await scope.close();
      ran.push("inner");
    });
    await scope.close();
    expect(ran).toEqual(["inner", "outer"]);
  });

  it("close() runs a function twice when it was added twice, and once when one of them was removed", async () => {
    const scope = new Scope("it");
    let ran = 0;
    const disposer = (): void => void (ran += 1);
    scope.add(disposer);
    scope.add(disposer)();
    scope.add(disposer);
    await scope.close();
    expect(ran).toBe(2);
  });

  it("close() does not run a disposer that an earlier one has removed", async () => {
    const scope = new Scope("it");
    let ran = false;
    const takeBack = scope.add(() => void (ran = true));
    scope.add(() => takeBack());
    await scope.close();
    expect(ran).toBe(false);
  });

  it("add() disposes at once when the scope is closed, and throws the disposer's error", async () => {
    const scope = new Scope("it");
    await scope.close();
    let ran = 0;
    scope.add(() => void (ran += 1))();
    expect(ran).toBe(1);
    expect(() =>
      scope.add(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
  });

  it("add() makes a running close wait for a late disposer, and report its error", async () => {
    const scope = new Scope("it");
    let done = false;
    scope.add(async () => {
      scope.add(async () => {
        await tick();
        await tick();
        done = true;
        throw new Error("late");
      });
    });
    expect(await faultsOf(scope.close())).toEqual([new Error("late")]);
    expect(done).toBe(true);
  });

  it("add() causes no unhandled rejection when a disposer fails after the close has settled", async () => {
    const unhandled: unknown[] = [];
    const note = (cause: unknown): void => void unhandled.push(cause);
    process.on("unhandledRejection", note);
    const scope = new Scope("it");
    await scope.close();
    scope.add(() => Promise.reject(new Error("nobody")));
    await tick();
    await tick();
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("signal fires before the first disposer, and is fired when it is first read after the close", async () => {
    const scope = new Scope("the shop");
    const { signal } = scope;
    const seen: boolean[] = [];
    scope.add(() => void seen.push(signal.aborted));
    expect(scope.signal).toBe(signal);
    await scope.close();
    expect(seen).toEqual([true]);
    expect(signal.reason).toMatchObject({ code: "CLOSED", message: "Using the shop: it is closed" });
    const other = new Scope("it");
    await other.close();
    expect(other.signal.aborted).toBe(true);
  });

  it("signal takes as many listeners as there are uses when it warns of none", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const scope = new Scope("it");
    for (let index = 0; index < 50; index += 1) scope.signal.addEventListener("abort", () => {});
    await tick();
    process.off("warning", note);
    expect(getEventListeners(scope.signal, "abort")).toHaveLength(50);
    expect(warnings).toEqual([]);
  });

  it("assertOpen() throws CLOSED when close() has been called", () => {
    const scope = new Scope("it");
    expect(() => scope.assertOpen()).not.toThrow();
    void scope.close();
    expect(scope.closed).toBe(true);
    expect(() => scope.assertOpen()).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });
});
