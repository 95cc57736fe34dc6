import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { agent, agents, mcpAgent } from "../../../src/from/agent/index.ts";
import type { MountedApp } from "../../../src/builder/app-of-mount.ts";

const ended: string[] = [];
const begun: string[] = [];

const count = agent({
  name: "count",
  input: z.object({ mine: z.string() }),
  output: z.object({ runId: z.string(), seen: z.array(z.string()) }),
  context: () => ({ seen: [] as string[] }),
  async *run({ mine }, { context, runId }) {
    yield { kind: "llm_call_started", model: "echo-1" };
    context.seen.push(mine);
    await sleep(5);
    yield { kind: "llm_call_completed", tokens: 42, latencyMs: 180 };
    yield { kind: "tool_call_started", tool: "search" };
    context.seen.push(mine);
    await sleep(5);
    yield { kind: "tool_call_completed", tool: "search" };
    return { runId, seen: context.seen };
  },
});

const memory = agent({
  name: "memory",
  output: z.object({ had: z.boolean(), isNew: z.boolean() }),
  run: async (_input, { context: { kv, jobs } }) => {
    const had = kv.get("seen") === true;
    kv.set("seen", true);
    return { had, isNew: jobs.enqueue("once", 1) };
  },
});

const fails = agent({
  name: "fails",
  async *run() {
    yield { kind: "llm_call_completed", tokens: 7 };
    throw new Error("secret");
  },
  onFault: () => {},
});

const hold = agent({
  name: "hold",
  input: z.object({ mine: z.string() }),
  async *run({ mine }, { signal }) {
    try {
      for (;;) {
        yield { kind: "turn" };
        await sleep(5, undefined, { signal });
      }
    } finally {
      ended.push(mine);
    }
  },
});

const ask = agent({
  name: "ask",
  output: z.object({ runId: z.string(), text: z.string(), said: z.string() }),
  async *run(_input, { ask: client, runId }) {
    begun.push(runId);
    yield { kind: "llm_call_started" };
    const { text } = await client.sample("draft", { messages: [{ role: "user", content: "a poem" }], maxTokens: 9 });
    yield { kind: "llm_call_completed" };
    const { action } = await client.elicit("sure", z.object({ title: z.string() }), "Print it?");
    return { runId, text, said: action };
  },
});

const endedRuns = agent({ name: "ended", mutates: false, run: () => ({ ended, begun }) });

/** Agents for the SDK's own clients. */
export function createCrew(): MountedApp {
  return mcpAgent(agents(count, memory, fails, hold, ask, endedRuns), {
    name: "crew",
    version: "1.2.3",
    onFault: () => {},
  });
}
