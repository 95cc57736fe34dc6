import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ToolContext } from "../../src/catalog/context/tool-context.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { callInRounds, messageOf, pushing, type Reply } from "./asking-support.ts";
import { ada, shortOf, toolsOf } from "./nesting-support.ts";

/** What a handler does: one thing after another, or several at once. A number names one step of the program. */
type Step =
  | { readonly do: "ask"; readonly key: number }
  | { readonly do: "read"; readonly number: number }
  | { readonly do: "change"; readonly number: number }
  | { readonly do: "within"; readonly tool: "looks" | "acts"; readonly steps: readonly Step[] }
  | { readonly do: "pause"; readonly turns: number }
  | { readonly do: "all"; readonly branches: readonly (readonly Step[])[] };

/** Gives each step that has a number another one. */
function numbered(steps: readonly Step[], next = { number: 0 }): readonly Step[] {
  return steps.map((step) => {
    if (step.do === "within") return { ...step, steps: numbered(step.steps, next) };
    if (step.do === "all") return { ...step, branches: step.branches.map((branch) => numbered(branch, next)) };
    return "number" in step ? { ...step, number: (next.number += 1) } : step;
  });
}

function programs(isParallel: boolean): fc.Arbitrary<readonly Step[]> {
  const { steps } = fc.letrec<{ steps: readonly Step[]; step: Step }>((tie) => {
    const number = fc.constant(0);
    const kinds: fc.Arbitrary<Step>[] = [
      fc.record({ do: fc.constant("ask" as const), key: fc.nat(5) }),
      fc.record({ do: fc.constant("read" as const), number }),
      fc.record({ do: fc.constant("change" as const), number }),
      fc.record({ do: fc.constant("pause" as const), turns: fc.integer({ min: 1, max: 3 }) }),
      fc.record({
        do: fc.constant("within" as const),
        tool: fc.constantFrom("looks" as const, "acts" as const),
        steps: tie("steps"),
      }),
    ];
    const all = fc.record({ do: fc.constant("all" as const), branches: fc.array(tie("steps"), { maxLength: 3 }) });
    return {
      steps: fc.array(tie("step"), { maxLength: 4 }),
      step: fc.oneof({ depthSize: "small", withCrossShrink: true }, ...kinds, ...(isParallel ? [all] : [])),
    };
  });
  return steps.map((drawn) => numbered(drawn));
}

type Context = Pick<ToolContext<unknown>, "ask" | "call">;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Runs a program; says what came of each step. */
async function runSteps(steps: readonly Step[], context: Context): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const step of steps) results.push((await runStep(step, context)) ?? null);
  return results;
}

function runStep(step: Step, context: Context): unknown {
  const { ask, call } = context;
  switch (step.do) {
    case "ask":
      return ask.elicit(
        `k${step.key}`,
        { type: "object", properties: { says: { type: "string" } } },
        `Question ${step.key}?`,
      );
    case "read":
    case "change":
      return call(step.do, { number: step.number });
    case "within":
      return call(step.tool, { steps: JSON.stringify(step.steps) });
    case "pause":
      return turns(step.turns);
    case "all":
      return Promise.all(step.branches.map((branch) => runSteps(branch, context)));
  }
}

/** The tools of one run, and the numbers of the changes that it made. */
function createTools() {
  const changes: number[] = [];
  const acts: AnyBespokeTool = {
    canCall: ["*"],
    input: z.object({ steps: z.string() }),
    // What it is called with is what is written above.
    handler: (args, context) => runSteps(JSON.parse((args as { steps: string }).steps) as readonly Step[], context),
  };
  const input = z.object({ number: z.number() });
  const tools = toolsOf({
    acts,
    looks: { ...acts, mutates: false, callScopes: ada.scopes },
    read: { mutates: false, input, handler: (args) => args },
    change: {
      input,
      async handler(args) {
        // The schema has validated it.
        changes.push((args as { number: number }).number);
        // Longer than a turn, so that it may be under way while something is asked.
        await turns(2);
        return args;
      },
    },
  });
  return { tools, changes };
}

/** A client says the same to the same question, wherever it is asked. */
const reply: Reply = (ask) => ({ action: "accept", content: { says: messageOf(ask) } });

const ascending = (left: number, right: number): number => left - right;

/** What a program comes to: asked while it waits, and asked in rounds in which a part of the questions is answered. */
async function inBothWays(steps: readonly Step[], chance: Iterator<number>) {
  const args: JsonObject = { steps: JSON.stringify(steps) };
  const [waiting, again] = [createTools(), createTools()];
  const pushed = await waiting.tools.call("acts", args, { asking: pushing(reply) });
  // Any of the open questions, but one at least.
  const choose = (keys: readonly string[]): readonly string[] => {
    const chosen = keys.filter(() => (chance.next().value ?? 0) % 2 === 0);
    return chosen.length === 0 ? keys.slice(0, 1) : chosen;
  };
  const { outcome } = await callInRounds(again.tools, ["acts", args], { reply, choose });
  // Of several branches, those go on whose call was refused for another one.
  await turns(8);
  for (const { tools } of [waiting, again]) tools.invoker.close();
  expect([...again.tools.faults, ...waiting.tools.faults]).toEqual([]);
  return {
    pushed: { outcome: shortOf(pushed), changes: waiting.changes.toSorted(ascending) },
    replayed: { outcome: shortOf(outcome), changes: again.changes.toSorted(ascending) },
  };
}

describe("a call that runs again until all is answered", () => {
  it("has the result of a call that waited for its answers, for sequential steps", async () => {
    await fc.assert(
      fc.asyncProperty(programs(false), fc.infiniteStream(fc.nat()), async (steps, chance) => {
        const { pushed, replayed } = await inBothWays(steps, chance);
        expect(replayed).toEqual(pushed);
        expect(new Set(replayed.changes).size).toBe(replayed.changes.length);
      }),
      { numRuns: 100 },
    );
  }, 120_000);

  it("changes nothing twice, and has the same result unless a question came too late, for concurrent steps", async () => {
    await fc.assert(
      fc.asyncProperty(programs(true), fc.infiniteStream(fc.nat()), async (steps, chance) => {
        const { pushed, replayed } = await inBothWays(steps, chance);
        expect(new Set(replayed.changes).size).toBe(replayed.changes.length);
        // Which of two branches comes first may differ, and with it whether one asks before the other changes something.
        if ([pushed.outcome, replayed.outcome].includes("ASK_AFTER_CHANGE")) return;
        expect(replayed).toEqual(pushed);
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
