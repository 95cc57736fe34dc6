import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import type { CallEvent, CallNode } from "../../src/call/call-tree.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { OnAbort } from "../../src/catalog/entry.ts";
import { ada, toolsOf } from "./nesting-support.ts";

/** What one call does: it takes its time, and calls others before, all at once or one by one. */
interface Plan {
  readonly ms: number;
  readonly ownMs: number;
  readonly askedMs: number | undefined;
  readonly onAbort: OnAbort;
  /** Whether its handler stops when it is aborted. */
  readonly isObedient: boolean;
  readonly isParallel: boolean;
  /** Whether its handler waits for what it calls. */
  readonly isWaiting: boolean;
  readonly parts: readonly Plan[];
}

function plansOf(depth: number): fc.Arbitrary<Plan> {
  return fc.record({
    ms: fc.integer({ min: 0, max: 60 }),
    ownMs: fc.integer({ min: 1, max: 80 }),
    askedMs: fc.option(fc.integer({ min: -1, max: 80 }), { nil: undefined }),
    onAbort: fc.constantFrom<OnAbort>("abort-dependents", "continue-running"),
    isObedient: fc.boolean(),
    isParallel: fc.boolean(),
    isWaiting: fc.boolean(),
    parts: depth === 0 ? fc.constant([]) : fc.array(plansOf(depth - 1), { maxLength: 3 }),
  });
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => reject(new Error("stopped")));
  });
}

/** The tools of a plan, each under the path at which it stands. */
function toolsFor(plan: Plan, path: string, into: Record<string, AnyBespokeTool>): Record<string, AnyBespokeTool> {
  const ids = plan.parts.map((_part, index) => `${path}_${index}`);
  into[path] = {
    canCall: ["*"],
    timeoutMs: plan.ownMs,
    handler: async (_args, context) => {
      const calls = plan.parts.map(({ askedMs, onAbort }, index) => async (): Promise<void> => {
        const options = { onAbort, ...(askedMs === undefined ? {} : { timeoutMs: askedMs }) };
        await context.call(ids[index] ?? "", {}, options).catch(() => {});
      });
      const work = plan.isParallel
        ? Promise.all(calls.map((call) => call()))
        : calls.reduce((before, call) => before.then(call), Promise.resolve());
      if (plan.isWaiting) await work;
      await sleep(plan.ms, plan.isObedient ? context.signal : undefined);
      return "done";
    },
  };
  for (const [index, part] of plan.parts.entries()) toolsFor(part, ids[index] ?? "", into);
  return into;
}

type Pair = readonly [node: CallNode, above: CallNode | undefined];

function nodesOf(node: CallNode, above?: CallNode): readonly Pair[] {
  return [[node, above], ...node.children.flatMap((part) => nodesOf(part, node))];
}

const finals = new Set(["completed", "error", "aborted"]);

/** How often each call was told to have ended, and whether anything was told of it afterwards. */
function endsOf(events: readonly CallEvent[]): { readonly ends: Map<string, number>; readonly late: number } {
  const ends = new Map<string, number>();
  let late = 0;
  for (const { requestId, type } of events) {
    if (ends.has(requestId)) late += 1;
    if (finals.has(type)) ends.set(requestId, (ends.get(requestId) ?? 0) + 1);
  }
  return { ends, late };
}

/** The plan of a call, by the id of its tool. */
function planOf(plan: Plan, id: string): Plan | undefined {
  const [, ...path] = id.split("_");
  return path.reduce<Plan | undefined>((found, index) => found?.parts[Number(index)], plan);
}

/** What is wrong with a call as it was recorded, beside the one that it was part of. */
function faultsOf(node: CallNode, above: CallNode | undefined, plan: Plan): readonly string[] {
  if (above === undefined) return [];
  const { deadline = 0, endedAt = Number.NaN } = node;
  const { deadline: latest = 0, endedAt: end = Number.NaN } = above;
  const mayOutlive = planOf(plan, node.operationId)?.onAbort === "continue-running";
  const faults: readonly (readonly [boolean, string])[] = [
    [finals.has(node.state), "it has not ended"],
    [node.parentRequestId === above.requestId, "it is part of another"],
    [deadline <= latest, "its deadline is after that of the call above"],
    [endedAt <= latest + 1, "it ended after that deadline"],
    [mayOutlive || endedAt <= end, "it outlived the call above"],
  ];
  return faults.flatMap(([isRight, fault]) => (isRight ? [] : [fault]));
}

/** Those that ended after the call above them, in the order in which that was told, and were not to. */
function outliving(events: readonly CallEvent[], plan: Plan): readonly CallEvent[] {
  const gone = new Set<string>();
  return events.filter(({ type, requestId, operationId, parentRequestId = "" }) => {
    if (!finals.has(type)) return false;
    gone.add(requestId);
    return gone.has(parentRequestId) && planOf(plan, operationId)?.onAbort !== "continue-running";
  });
}

describe("random trees of calls", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("end each call once, in time and before the call above it, for any aborts and handlers", async () => {
    const cancels = fc.option(fc.integer({ min: 0, max: 80 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(plansOf(3), cancels, async (plan, cancelAt) => {
        const tools = toolsOf(toolsFor(plan, "t", {}));
        const events: CallEvent[] = [];
        tools.tree.subscribe((event) => void events.push(event));
        const call = new CallContext({ caller: ada });
        const idle = vi.fn<() => void>();
        const answered = Promise.resolve(tools.invoker.call(tools.entry("t"), {}, call)).then((outcome) => {
          call.whenIdle(idle);
          return outcome;
        });
        if (cancelAt !== undefined) setTimeout(() => call.cancel(), cancelAt);
        await vi.advanceTimersByTimeAsync(1000);
        const outcome = await answered;
        const [root] = tools.tree.roots();
        if (root === undefined) throw new Error("nothing was recorded");
        expect(root.code).toBe(outcome.kind === "refused" ? outcome.code : undefined);
        expect(idle).toHaveBeenCalledTimes(1);
        const { ends, late } = endsOf(events);
        expect(late).toBe(0);
        expect(outliving(events, plan)).toEqual([]);
        expect(nodesOf(root).map(([{ requestId }]) => ends.get(requestId))).toEqual(nodesOf(root).map(() => 1));
        expect(nodesOf(root).flatMap(([node, above]) => faultsOf(node, above, plan))).toEqual([]);
        tools.invoker.close();
        vi.clearAllTimers();
      }),
      { numRuns: 300 },
    );
  });
});
