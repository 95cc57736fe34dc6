import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AnyBespokeTool } from "../../src/catalog/bespoke-tool.ts";
import type { ToolContext } from "../../src/catalog/tool-context.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { callInRounds, messageOf, pushing, type Reply } from "./asking-support.ts";
import { shortOf, toolsOf } from "./nesting-support.ts";

/** What a handler does: one thing after another, or several at once. */
type Step =
  | { readonly do: "ask"; readonly key: number }
  | { readonly do: "call"; readonly number: number }
  | { readonly do: "within"; readonly steps: readonly Step[] }
  | { readonly do: "pause"; readonly turns: number }
  | { readonly do: "all"; readonly branches: readonly (readonly Step[])[] };

const { steps: program } = fc.letrec<{ steps: readonly Step[]; step: Step }>((tie) => ({
  steps: fc.array(tie("step"), { maxLength: 4 }),
  step: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ do: fc.constant("ask" as const), key: fc.nat(5) }),
    fc.record({ do: fc.constant("call" as const), number: fc.nat(3) }),
    fc.record({ do: fc.constant("pause" as const), turns: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ do: fc.constant("within" as const), steps: tie("steps") }),
    fc.record({ do: fc.constant("all" as const), branches: fc.array(tie("steps"), { maxLength: 3 }) }),
  ),
}));

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
    case "call":
      return call("effect", { number: step.number });
    case "within":
      return call("runs", { steps: JSON.stringify(step.steps) });
    case "pause":
      return turns(step.turns);
    case "all":
      return Promise.all(step.branches.map((branch) => runSteps(branch, context)));
  }
}

/** The tools of one run, and what their calls have done. */
function createTools() {
  const effects: string[] = [];
  const runs: AnyBespokeTool = {
    reach: ["effect", "runs"],
    input: z.object({ steps: z.string() }),
    // What it is called with is what is written below.
    handler: (args, context) => runSteps(JSON.parse((args as { steps: string }).steps) as readonly Step[], context),
  };
  const effect: AnyBespokeTool = {
    input: z.object({ number: z.number() }),
    async handler(args) {
      // Longer than a turn, so that it may be under way while something is asked.
      await turns(2);
      effects.push(JSON.stringify(args));
      return args;
    },
  };
  return { tools: toolsOf({ runs, effect }), effects };
}

/** A client says the same to the same question, wherever it is asked. */
const reply: Reply = (ask) => ({ action: "accept", content: { says: messageOf(ask) } });

describe("a call that is made again until all is answered", () => {
  it("comes to the same as one that was answered while it waited, and runs what it calls once", async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.infiniteStream(fc.nat()), async (steps, chance) => {
        const args: JsonObject = { steps: JSON.stringify(steps) };
        const waiting = createTools();
        const expected = await waiting.tools.call("runs", args, { asking: pushing(reply) });
        const again = createTools();
        // Any of the open questions, but one at least.
        const choose = (keys: readonly string[]): readonly string[] => {
          const chosen = keys.filter(() => (chance.next().value ?? 0) % 2 === 0);
          return chosen.length === 0 ? keys.slice(0, 1) : chosen;
        };
        const { outcome } = await callInRounds(again.tools, ["runs", args], { reply, choose });
        expect(shortOf(outcome)).toEqual(shortOf(expected));
        expect(again.effects.toSorted()).toEqual(waiting.effects.toSorted());
        expect([...again.tools.faults, ...waiting.tools.faults]).toEqual([]);
        for (const { tools } of [waiting, again]) tools.invoker.close();
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
