import { expectError, expectType } from "tsd";
import {
  cell,
  content,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  stream,
  type Link,
  type MutatingToolNames,
  type ToolContext,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;
declare const unchecked: any;
declare const stored: { readonly id: string; readonly tags: readonly string[] };

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  "node.run": mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.boolean() })),
  log: stream({ output: z.string() }),
  plain: procedure({}),
});
const app = mcp(surface).bridge(link);
type Client = ToolContext<(typeof surface)["members"]>["client"];

// A handler receives its input's output side, the client of the whole surface, a signal and a way to report.
app.tools({
  run: {
    title: "Run",
    description: "Runs",
    input: z.object({ strict: z.boolean().default(true), at: z.string().transform((text) => text.length) }),
    output: z.object({ ok: z.boolean() }),
    timeoutMs: 1000,
    handler: async (args, context) => {
      expectType<{ strict: boolean; at: number }>(args);
      expectType<Client>(context.client);
      expectType<AbortSignal>(context.signal);
      expectType<boolean>(await context.client["node.run"].call({ node: "a" }));
      expectType<number>(await context.client.state.get());
      await context.client.plain.call();
      context.progress({ progress: 1, total: 2, message: "half" });
      expectError(args.nope);
      expectError(context.client.nope);
      expectError(context.client["node.run"].call({ node: 1 }));
      expectError(context.progress({ message: "half" }));
      return { ok: true };
    },
  },
  // Beside it, one without input, as a method, that reads.
  show: {
    mutates: false,
    async handler(args, { client }) {
      expectType<undefined>(args);
      return client.state.get();
    },
  },
});

// A tool that is its handler and nothing else is typed as well.
app.tools({ only: { handler: (args, { client }) => [expectType<undefined>(args), expectType<Client>(client)] } });
app.tools({ only: { handler: () => 1 }, also: { handler: (args) => expectType<undefined>(args) } });

// What is no tool.
expectError(app.tools({ run: {} }));
expectError(app.tools({ run: { handler: 1 } }));
expectError(app.tools({ run: () => 1 }));
expectError(app.tools({ run: { input: "text", handler: () => 1 } }));
expectError(app.tools({ run: { nope: 1, handler: () => 1 } }));
expectError(app.tools({ run: { mutates: false, nope: 1, handler: () => 1 } }));
expectError(app.tools({ run: { mutates: "no", handler: () => 1 } }));
expectError(app.tools({ run: { mutates: false, destructive: true, handler: () => 1 } }));
expectError(app.tools({ run: { input: z.object({ a: z.string() }), handler: (args: { b: string }) => args.b } }));

// Options that do not fit are refused in a variable as well.
const misspelt = constant({ mutate: false, handler: () => 1 });
const contradicting = constant({ mutates: false, destructive: true, handler: () => 1 });
const unsure = constant({ confirm: { otherwise: "allow", or: 1 }, handler: () => 1 });
expectError(app.tools({ run: misspelt }));
expectError(app.tools({ run: contradicting }));
expectError(app.tools({ run: either ? contradicting : { handler: () => 1 } }));
expectError(app.tools({ run: unsure }));

// A handler returns what its output schema takes, or content blocks, directly or by a promise.
const status = z.object({ state: z.enum(["idle", "busy"]), since: z.string().default("") });
app.tools({
  direct: { output: z.number(), handler: () => 1 },
  promised: { output: status, handler: async () => ({ state: "idle" }) },
  later: { handler: () => ({ state: "busy", since: "noon" }), output: status },
  taking: { input: z.object({ a: z.string() }), output: z.array(z.string()), handler: ({ a }) => [a] },
  blocks: { output: z.number(), handler: () => content(["one"], { structured: 1 }) },
  maybe: { output: z.number().optional(), handler: () => undefined },
  unchecked: { handler: () => new Date() },
});
// The compiler checks the shape of a result: tuples of any length, readonly arrays, and recursive outputs to a depth.
const range = z.object({ range: z.tuple([z.number(), z.number()]) });
const task = z.object({
  state: z.enum(["idle", "busy"]),
  get parts() {
    return z.array(task);
  },
});
app.tools({
  json: { output: z.json(), handler: () => ({ v: "x", kids: [1, null, { a: true }] }) },
  jsonField: { output: z.object({ x: z.json() }), handler: async () => ({ x: [{ y: [1, "2"] }] }) },
  jsonTaking: { input: z.object({ a: z.string() }), output: z.json(), handler: ({ a }) => ({ a: [a, null] }) },
  anything: {
    output: z.object({ s: z.enum(["a"]), u: z.unknown() }),
    handler: () => ({ s: "a", u: either ? null : 1 }),
  },
  tuple: { output: z.tuple([z.string(), z.number()]), handler: () => ["a", 1] },
  inner: { output: range, handler: () => ({ range: [1, 2] }) },
  innerTaking: { input: z.object({ at: z.number() }), output: range, handler: ({ at }) => ({ range: [at, 2] }) },
  tags: { output: z.array(z.string()), handler: () => stored.tags },
  stored: {
    output: z.object({ rows: z.array(z.object({ id: z.string(), tags: z.array(z.string()) })) }),
    handler: () => ({ rows: [stored] }),
  },
  tree: { output: task, handler: () => ({ state: "idle", parts: [{ state: "busy", parts: [] }] }) },
});
expectError(app.tools({ run: { output: z.tuple([z.string(), z.number()]), handler: () => [true] } }));
expectError(app.tools({ run: { output: z.array(z.number()), handler: () => stored.tags } }));
expectError(app.tools({ run: { output: z.array(z.number()), handler: () => 1 } }));
expectError(app.tools({ run: { output: range, handler: () => ({ range: ["1", 2] }) } }));
expectError(app.tools({ run: { output: z.json(), handler: () => 1n } }));
expectError(app.tools({ run: { output: task, handler: () => ({ state: "idle", parts: [{ state: 1, parts: [] }] }) } }));
expectError(app.tools({ run: { output: z.number(), handler: () => "text" } }));
expectError(app.tools({ run: { output: z.number(), handler: async () => "text" } }));
expectError(app.tools({ run: { output: status, handler: () => ({ state: 1 }) } }));
expectError(app.tools({ run: { output: status, handler: async () => ({}) } }));
expectError(app.tools({ run: { input: z.object({ a: z.string() }), output: z.number(), handler: ({ a }) => a } }));
expectError(app.tools({ run: { output: "text", handler: () => 1 } }));
const wrongResult = constant({ output: z.number(), handler: () => "text" });
expectError(app.tools({ run: wrongResult }));

// A name that is taken: by a tag, by an expose map in either order, by another tool.
expectError(app.tools({ node_run: { handler: () => 1 } }));
expectError(app.tools({ "node.run": { handler: () => 1 } }));
expectError(app.expose({ log: "tool" }).tools({ log: { handler: () => 1 } }));
expectError(app.expose({ log: { tool: {} } }).tools({ log: { handler: () => 1 } }));
expectError(app.tools({ log: { handler: () => 1 } }).expose({ log: "tool" }));
expectError(app.tools({ log: { handler: () => 1 } }).expose({ log: { tool: {} } }));
expectError(app.tools({ run: { handler: () => 1 } }).tools({ run: { handler: () => 1 } }));
expectError(app.tools({ a_b: { handler: () => 1 } }).tools({ "a.b": { handler: () => 1 } }));
expectError(
  mcp(surface)
    .expose({ plain: "tool" })
    .bridge(link)
    .tools({ plain: { handler: () => 1 } }),
);
expectError(app.tools(unnamed({ node_run: { handler: () => 1 } })));
// One that is not: a resource, and a member that no tag or map exposes, leave their names free.
app.tools({ state: { handler: () => 1 }, plain: { handler: () => 1 } });
app.tools({ log: { handler: () => 1 } }).expose({ log: "resource" });

// Names are counted whatever shape they come in.
const dotted = app.tools({ "a.b": { handler: () => 1 }, 7: { handler: () => 1 } });
expectType<"node_run" | "a_b" | "7">(nameOf<ToolNames<typeof dotted>>());
expectType<"node_run" | "a_b" | "7">(nameOf<MutatingToolNames<typeof dotted>>());

const extra = { extra: { handler: () => 1 } };
const sometimes = app.tools({ always: { handler: () => 1 }, ...(either ? extra : {}) });
expectType<"node_run" | "always" | "extra">(nameOf<ToolNames<typeof sometimes>>());

const spread = app.tools({ ...extra, ...{ mine: { handler: () => 1 } } });
expectType<"node_run" | "extra" | "mine">(nameOf<ToolNames<typeof spread>>());

const patterned = app.tools(patternedTools());
expectType<"node_run" | `debug_${string}`>(nameOf<ToolNames<typeof patterned>>());

const explicit = app.tools<{ hidden: { handler(): number } }, { hidden: undefined }, Record<never, never>>({
  hidden: { handler: () => 1 },
});
expectType<"node_run" | "hidden">(nameOf<ToolNames<typeof explicit>>());
expectType<"node_run" | "hidden">(nameOf<MutatingToolNames<typeof explicit>>());

// Only a literal `false` reads.
const effects = app.tools({
  said: { mutates: true, handler: () => 1 },
  maybe: { mutates: either, handler: () => 1 },
  unknown: { mutates: unchecked, handler: () => 1 },
  silent: { handler: () => 1 },
  reads: { mutates: false, handler: () => 1 },
});
expectType<"node_run" | "said" | "maybe" | "unknown" | "silent">(nameOf<MutatingToolNames<typeof effects>>());

// And only where every arm says so, under a key that is there for certain.
const sparse: { mutates?: false } = {};
const undecided = app.tools({
  absent: either ? { mutates: false, handler: () => 1 } : { handler: () => 1 },
  optional: { ...sparse, handler: () => 1 },
  optionalArgs: { ...sparse, input: z.object({ a: z.string() }), handler: ({ a }) => expectType<string>(a) },
  unsaid: { mutates: unchecked as never, handler: () => 1 },
  nothing: { mutates: false, handler: () => 1 } as never,
  reads: either ? { mutates: false, title: "A", handler: () => 1 } : { mutates: false, handler: () => 1 },
});
expectType<"node_run" | "absent" | "optional" | "optionalArgs" | "unsaid" | "nothing">(
  nameOf<MutatingToolNames<typeof undecided>>(),
);
const reading = constant({ mutates: false, handler: () => 1 });
const silent = constant({ handler: () => 1 });
const silentText = constant({ input: z.string(), handler: (text: string) => text });
const arms = app.tools({ x: either ? reading : silent, y: either ? reading : silentText });
expectType<"node_run" | "x" | "y">(nameOf<MutatingToolNames<typeof arms>>());
// However the handler is written.
const readers = app.tools({
  arrow: { mutates: false, handler: (args, { client }) => [expectType<undefined>(args), expectType<Client>(client)] },
  method: {
    mutates: false,
    async handler(args, { client }) {
      return [expectType<undefined>(args), expectType<Client>(client)];
    },
  },
  input: { input: z.object({ a: z.string() }), mutates: false, handler: ({ a }) => expectType<string>(a) },
  late: { handler: ({ a }) => expectType<string>(a), input: z.object({ a: z.string() }), mutates: false },
  constant: reading,
  writes: { handler: (args) => expectType<undefined>(args) },
});
expectType<"node_run" | "writes">(nameOf<MutatingToolNames<typeof readers>>());
// Type arguments that say less than the tools do, or more, excuse nothing.
expectError(app.tools<{ x: { handler: number } }, Record<never, never>, Record<never, never>>({ x: { handler: 1 } }));
expectError(app.tools<{ x: { mutates: false } }, { x: undefined }, Record<never, never>>({ x: { handler: () => 1 } }));
const noTools = app.tools({ x: { handler: () => 1 } } as never);
expectType<string>(nameOf<ToolNames<typeof noTools>>());
expectType<string>(nameOf<MutatingToolNames<typeof noTools>>());

// Names that the compiler does not know are refused.
expectError(app.tools(openTools()));
expectError(app.tools(numberedTools()));
expectError(app.tools(Object.fromEntries([["run", { handler: () => 1 }]])));
expectError(app.tools(either ? extra : { other: { handler: () => 1 } }));

declare function nameOf<TName>(): TName;
declare function constant<const TValue>(value: TValue): TValue;
declare function unnamed<TValue>(value: TValue): TValue;
declare function openTools(): Record<string, { handler(): number }>;
declare function numberedTools(): Record<number, { handler(): number }>;
declare function patternedTools(): Record<`debug_${string}`, { handler(): number }>;
