import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  collection,
  defineSurface,
  event,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  stream,
  type Expose,
  type Link,
  type MutatingToolNames,
  type ResourceNames,
  type ToolNames,
  type ToolOptions,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;
declare const unchecked: any;

const plain = defineSurface("plain", {
  state: cell({ schema: z.number() }),
  rows: collection({ key: z.string(), schema: z.number() }),
  log: stream({ input: z.object({ node: z.string() }), output: z.string() }),
  deep: stream({ input: z.object({ at: z.object({ row: z.number() }) }), output: z.string() }),
  clash: event({ input: z.object({ since: z.string() }), output: z.string() }),
  done: event({ output: z.boolean() }),
  "node.run": procedure({}),
  "node.show": readOnly(procedure({})),
  tagged: mcpTool(procedure({})),
  taggedState: mcpResource(cell({ schema: z.number() })),
});
const app = mcp(plain);
const linked = app.bridge(link);

// Each kind as what it can be.
app.expose({ state: "resource", rows: "resource", log: "resource", done: "resource", "node.run": "tool" });
app.expose({ log: "tool", done: { tool: { timeoutMs: 1000 } }, "node.run": { tool: { idempotent: true } } });

// A resource with its options; the list of a collection knows its own keys and items.
const listed = linked.expose({
  state: { resource: { title: "State" } },
  rows: {
    resource: {
      list: (item, key) => {
        expectType<number>(item);
        expectType<string>(key);
        return { key, item };
      },
    },
  },
  log: { resource: { windowMs: 5 } },
});
expectType<"state" | "rows" | "log" | "taggedState">(nameOf<ResourceNames<typeof listed>>());
expectType<"tagged">(nameOf<ToolNames<typeof listed>>());
app.expose({ rows: { resource: { list: "items", listDescription: "All", listItems: true } } });
expectError(app.expose({ rows: { resource: { list: "values" } } }));
expectError(app.expose({ rows: { resource: { list: (item: string) => item } } }));
expectError(app.expose({ rows: { resource: { lists: "items" } } }));
expectError(app.expose({ rows: { resource: {}, tool: {} } }));
expectError(app.expose({ state: { resource: { list: "items" } } }));
expectError(app.expose({ "node.run": { resource: {} } }));
expectError(app.expose({ deep: { resource: {} } }));
expectError(app.expose({ taggedState: { resource: {} } }));

// And as nothing else.
expectError(app.expose({ state: "tool" }));
expectError(app.expose({ state: { tool: {} } }));
expectError(app.expose({ rows: "tool" }));
expectError(app.expose({ "node.run": "resource" }));
expectError(app.expose({ log: "procedure" }));
expectError(app.expose({ log: true }));
expectError(app.expose({ log: {} }));
expectError(app.expose({ deep: "resource" }));
expectError(app.expose({ clash: "tool" }));
expectError(app.expose({ clash: { tool: {} } }));
expectError(app.expose({ state: either ? "resource" : "tool" }));

// What the surface does not have, and what every object inherits; inline, and from a variable.
expectError(app.expose({ nope: "tool" }));
expectError(app.expose({ toString: "tool" }));
expectError(app.expose({ constructor: "tool" }));
expectError(app.expose({ hasOwnProperty: "tool" }));
expectError(app.expose({ valueOf: "tool" }));
expectError(app.expose({ ["__proto__"]: "tool" }));
expectError(app.expose(constant({ nope: "tool" })));
expectError(app.expose(constant({ toString: "tool" })));
expectError(app.expose(constant({ constructor: "tool" })));
expectError(app.expose(constant({ hasOwnProperty: "tool" })));
expectError(app.expose(constant({ ["__proto__"]: "tool" })));
expectError(app.expose({ ...constant({ nope: "tool" }), log: "resource" }));

// What is tagged already, and what was exposed already.
expectError(app.expose({ tagged: "tool" }));
expectError(app.expose({ tagged: { tool: {} } }));
expectError(app.expose({ taggedState: "resource" }));
expectError(app.expose({ log: "resource" }).expose({ log: "resource" }));
expectError(app.expose({ log: "resource" }).expose({ log: "tool" }));
expectError(app.expose({ log: "tool" }).expose({ log: "resource" }));
expectError(app.expose({ log: "tool" }).expose({ log: "tool" }));
expectError(app.expose({ state: "resource" }).bridge(link).expose({ state: "resource" }));
app.expose({ log: "resource" }).expose({ state: "resource" });

// A key too many inside the options, at either level; inline, and from a variable.
expectError(app.expose({ "node.run": { tool: { nope: 1 } } }));
expectError(app.expose({ "node.run": { tool: {}, nope: 1 } }));
expectError(app.expose(constant({ "node.run": { tool: { nope: 1 } } })));
expectError(app.expose(constant({ "node.run": { tool: {}, nope: 1 } })));
expectError(app.expose({ "node.run": { tool: constant({ nope: 1 }) } }));
expectError(app.expose({ "node.run": { tool: { mutates: "no" } } }));
expectError(app.expose({ "node.run": { tool: unchecked } }));
expectError(app.expose({ "node.run": either ? "tool" : { tool: constant({ nope: 1 }) } }));

// Options that contradict the member, or themselves.
expectError(app.expose({ "node.show": { tool: { mutates: true } } }));
expectError(app.expose({ "node.show": { tool: { destructive: true } } }));
expectError(app.expose({ log: { tool: { mutates: true } } }));
expectError(app.expose({ "node.run": { tool: { mutates: false, destructive: true } } }));

// A map whose keys or values the compiler does not know.
const open: Record<string, "tool"> = {};
const wide = { log: "tool" };
expectError(app.expose(open));
expectError(app.expose(wide));
expectError(app.expose(unchecked as Record<string, "tool" | "resource">));
expectError(app.expose(Object.fromEntries([["log", "tool"]])));
expectError(app.expose("tool"));
expectError(app.expose(undefined));

// A widened value counts as everything that it may be.
const chosen = linked.expose({ log: either ? "resource" : "tool", "node.run": maybeTool() });
expectType<"log" | "node_run" | "tagged">(nameOf<ToolNames<typeof chosen>>());
expectType<"log" | "taggedState">(nameOf<ResourceNames<typeof chosen>>());
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof chosen>>());

const blind = linked.expose({ log: unchecked, "node.run": { tool: { mutates: unchecked } } });
expectType<"log" | "node_run" | "tagged">(nameOf<ToolNames<typeof blind>>());
expectType<"log" | "taggedState">(nameOf<ResourceNames<typeof blind>>());
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof blind>>());

// And so does `never`, as which anything can be asserted.
expectError(linked.expose({ "node.run": { tool: unchecked as never } }));
const silenced = linked.expose({ log: unchecked as never, "node.run": { tool: { mutates: unchecked as never } } });
expectType<"log" | "node_run" | "tagged">(nameOf<ToolNames<typeof silenced>>());
expectType<"log" | "taggedState">(nameOf<ResourceNames<typeof silenced>>());
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof silenced>>());
const unsaid = linked.expose({ "node.run": "tool" as never });
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof unsaid>>());
const silencedMap = linked.expose({ log: "tool", "node.run": "tool" } as never);
expectType<string>(nameOf<ToolNames<typeof silencedMap>>());
expectType<string>(nameOf<ResourceNames<typeof silencedMap>>());
expectType<string>(nameOf<MutatingToolNames<typeof silencedMap>>());
expectError(silencedMap.expose({ log: "resource" }));

const first = constant({ log: "tool" });
const second = constant({ "node.run": { tool: {} } });
const oneOfTwo = linked.expose(either ? first : second);
expectType<"log" | "node_run" | "tagged">(nameOf<ToolNames<typeof oneOfTwo>>());
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof oneOfTwo>>());

const sometimes = linked.expose({ ...(either ? { log: "tool" as const } : {}) });
expectType<"log" | "tagged">(nameOf<ToolNames<typeof sometimes>>());

const effects = linked.expose({
  "node.run": { tool: { mutates: either } },
  "node.show": "tool",
  log: { tool: {} },
  done: "tool",
});
expectType<"node_run" | "node_show" | "log" | "done" | "tagged">(nameOf<ToolNames<typeof effects>>());
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof effects>>());
const harmless = linked.expose({ "node.run": { tool: { mutates: false } } });
expectType<"tagged">(nameOf<MutatingToolNames<typeof harmless>>());
const vague = linked.expose({ "node.run": { tool: options() } });
expectType<"node_run" | "tagged">(nameOf<MutatingToolNames<typeof vague>>());

// The whole map of what could be exposed, as a type, exposes all of it.
declare const everything: Omit<Expose<(typeof plain)["members"]>, "clash" | "deep">;
const whole = linked.expose(everything);
expectType<"log" | "done" | "node_run" | "node_show" | "tagged">(nameOf<ToolNames<typeof whole>>());
expectType<"log" | "done" | "state" | "rows" | "taggedState">(nameOf<ResourceNames<typeof whole>>());

// Expose<S> lists untagged members alone, each with what its kind allows.
expectAssignable<Expose<(typeof plain)["members"]>>({ state: "resource", "node.run": { tool: {} } });
expectError<Expose<(typeof plain)["members"]>>({ tagged: "tool" });
expectError<Expose<(typeof plain)["members"]>>({ state: "tool" });
expectError<Expose<(typeof plain)["members"]>>({ nope: "tool" });

declare function nameOf<TName>(): TName;
declare function constant<const TValue>(value: TValue): TValue;
declare function maybeTool(): "tool" | { tool: { mutates: boolean } };
declare function options(): ToolOptions;
