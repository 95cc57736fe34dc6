import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  procedure,
  type Asks,
  type ContextCall,
  type JsonValue,
  type Link,
  type MemoryContext,
  type MountedApp,
  type MountedResource,
  type MountSource,
  type MutatingToolNames,
  type ResourceNames,
  type ServableApp,
  type Serving,
  type ToolNames,
} from "surface-mcp";
import { agent, agents, mcpAgent, type AgentContext, type AgentStep } from "surface-mcp/from/agent";
import { agenticService, mcpAgentic, toJSONSchema, type AgenticService } from "surface-mcp/from/agentic";
import { attach, type V1Server } from "surface-mcp/sdk-v1";
import { z } from "zod";

declare const link: Link;
declare const service: AgenticService;
declare const server: V1Server;

const surface = defineSurface("s", { state: cell({ schema: z.number() }), run: procedure({}) });
const app = mcp(surface).bridge(link);

// What is mounted may have any name behind its prefix, and may change something: the proof stays a superset.
const game = agenticService(service, { states: "resource", links: true });
expectType<MountSource>(game);
const mounted = app.mount("game", game).tools({ own: { mutates: false, handler: () => 1 } });
expectType<"own" | `game_${string}`>(nameOf<ToolNames<typeof mounted>>());
expectType<`game_${string}`>(nameOf<MutatingToolNames<typeof mounted>>());

// Alone, it may have any name at all.
const alone = mcpAgentic(service, { states: "tool", version: "1.0.0" });
expectType<MountedApp>(alone);
expectType<string>(nameOf<ToolNames<typeof alone>>());
expectType<string>(nameOf<MutatingToolNames<typeof alone>>());
expectType<string>(nameOf<ResourceNames<typeof alone>>());
expectAssignable<ServableApp>(alone);
// Steps of any app can be added to it, and take nothing away.
const more = alone
  .context((call: ContextCall) => call.caller.id)
  .tools({ own: { handler: (_args, { context }) => expectType<string>(context) } })
  .confirm("mutating");
expectType<string>(nameOf<ToolNames<typeof more>>());
// What is mounted besides may have any prefix: whose name is taken is reported when it is there.
const both = alone.mount("more", game).mount("other", game);
expectType<string>(nameOf<ToolNames<typeof both>>());
expectError(alone.mount("more" as string, game));
expectError(more.context(() => 1));
expectError(alone.bridge(link));
mcpAgentic([service, service], { links: true, listLinks: true });
mcpAgentic({ shop: service, bank: service }, { describe: (action, path) => ({ title: [...path, action].join(" ") }) });
agenticService(service, { describe: () => ({ texts: "answer" }) });
expectError(agenticService(service, { describe: () => ({ texts: "result" }) }));
expectError(mcpAgentic({ shop: 1 }));

// Any object of the shape is a service, and what is none is not.
expectAssignable<AgenticService>({
  states: (notify: (value: { hp: { schema: object; value: number } }) => void) => {
    notify({ hp: { schema: {}, value: 1 } });
    return () => {};
  },
  actions: () => () => {},
  execute: async (action: string) => action,
});
expectError(agenticService({ states: () => () => {} }));
expectError(agenticService(service, { states: "all" }));
expectError(agenticService(service, { nope: true }));
expectError(mcpAgentic("game"));
toJSONSchema({ type: "string" });

// An agent's input, output and context are typed by what it says of them.
const writer = agent({
  name: "write",
  input: z.object({ about: z.string(), words: z.number().default(100) }),
  output: z.object({ text: z.string() }),
  confirm: true,
  context: ({ runId }) => ({ id: runId }),
  async *run(input, context) {
    expectType<{ about: string; words: number }>(input);
    expectType<{ id: string }>(context.context);
    expectType<Asks>(context.ask);
    expectType<string>(context.runId);
    expectType<AbortSignal>(context.signal);
    expectType<Promise<JsonValue>>(context.call("other"));
    yield { kind: "llm_call_completed", tokens: 12, latencyMs: 3 };
    yield { kind: "anything", detail: [1] };
    return { text: input.about };
  },
});
expectType<MountSource>(writer);
agent({ name: "plain", run: async (_input, { context }) => expectType<MemoryContext>(context) });
agent({ name: "typed", context: () => 1, run: (_input, context: AgentContext<number>) => context.context });
agent({ name: "typed", run: (_input, context: AgentContext<MemoryContext>) => context.context.kv.get("a") });
// A context of another type has to be made by somebody.
expectError(agent({ name: "wrong", run: (_input, context: AgentContext<{ db: number }>) => context.context.db }));
expectError(
  agent({ name: "wrong", context: () => 1, run: (_input, context: AgentContext<string>) => context.context }),
);
expectError(
  agent({
    name: "wrong",
    async *run(_input, { context }: AgentContext<{ db: number }>) {
      yield { kind: "a" };
      return context.db;
    },
  }),
);
// Steps are typed also where nothing is said of the output, which may be anything else.
expectError(
  agent({
    name: "wrong",
    async *run() {
      yield { message: "no kind" };
      return 1;
    },
  }),
);
expectError(
  agent({
    name: "wrong",
    input: z.object({ about: z.string() }),
    async *run({ about }) {
      yield { kind: "llm_call_completed", tokens: about };
      return about;
    },
  }),
);
agent({
  name: "plain",
  async *run() {
    yield { kind: "a", tokens: 1 };
    return { any: "thing" };
  },
});
agent({ name: "plain", run: () => ({ next: 1, rows: [new Date()] }) });
expectError(agent({ name: "none" }));
expectError(agent({ run: async () => 1 }));
expectError(agent({ name: "wrong", output: z.object({ text: z.string() }), run: async () => ({ text: 1 }) }));
expectError(agent({ name: "wrong", input: "text", run: async () => 1 }));
expectAssignable<AgentStep>({ kind: "mine", tokens: 1 });
expectError<AgentStep>({ tokens: 1 });
expectType<unknown>(nameOf<AgentContext<number>>().app);
expectType<MountSource>(agents(writer, writer));
const speaking = mcpAgent(writer, { name: "writer" });
expectType<string>(nameOf<ToolNames<typeof speaking>>());

// What can be read of a mount besides what can be called.
expectAssignable<MountSource>({
  list: () => [],
  subscribe: () => () => {},
  invoke: () => 1,
  resources: () => [{ path: "state/hp", title: "Health", scopes: ["game"] }],
  read: async (path) => path,
  watch: () => () => {},
});
expectError<MountedResource>({ title: "no path" });

// An app is attached to somebody's own server, whichever copy of the package it is of.
expectType<Serving>(attach(app, server));
attach(app, { server }, { surface: "narrow", scopes: ["s:read"] });
expectError(attach(mcp(surface), server));
expectError(attach(app, {}));
expectError(attach(app, server, { nope: 1 }));

declare function nameOf<TName>(): TName;
