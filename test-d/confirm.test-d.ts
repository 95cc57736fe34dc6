import { expectAssignable, expectError, expectType } from "tsd";
import { z } from "zod";
import {
  cell,
  collection,
  defineSurface,
  event,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  type Caller,
  type CellClient,
  type Confirm,
  type ConfirmContext,
  type ConfirmFunction,
  type ConfirmText,
  type ToolConfirmOptions,
  type Link,
  type MountedOperation,
  type MutatingToolNames,
  type ToolNames,
  type ToolOptions,
} from "surface-mcp";

declare const link: Link;

const surface = defineSurface("s", {
  write: mcpTool(procedure({}), { confirm: true }),
  look: readOnly(mcpTool(procedure({}), { confirm: { otherwise: "allow" } })),
  free: mcpTool(procedure({}), { confirm: false }),
  plain: procedure({}),
});
const app = mcp(surface).bridge(link);

// Of the app: of either stage, once, and it changes no names.
const asked = app.confirm("mutating");
expectType<"write" | "look" | "free">(nameOf<ToolNames<typeof asked>>());
expectType<"write" | "free">(nameOf<MutatingToolNames<typeof asked>>());
app.confirm("mutating", { otherwise: "allow" });
app.confirm("mutating", { otherwise: "refuse" }).tools({ one: { handler: () => 1 } });
app.tools({ one: { handler: () => 1 } }).confirm("mutating");
mcp(surface).confirm("mutating").bridge(link);
expectError(asked.confirm("mutating"));
expectError(mcp(surface).confirm("mutating").bridge(link).confirm("mutating"));
expectError(asked.tools({ one: { handler: () => 1 } }).confirm("mutating"));
expectError(app.confirm());
expectError(app.confirm("all"));
expectError(app.confirm(true));
expectError(app.confirm("mutating", true));
expectError(app.confirm("mutating", { otherwise: "ask" }));
expectError(app.confirm("mutating", { or: "allow" }));
expectError(app.confirm("mutating", { type: "CLOSE" }));

// Of a tool: wherever options of tools are.
app.expose({ plain: { tool: { confirm: true } } });
app.expose({ plain: { tool: { confirm: { otherwise: "allow" } } } });
app.expose({ plain: { tool: { confirm: { type: "CLOSE", otherwise: "refuse" } } } });
app.tools({
  one: { confirm: true, handler: () => 1 },
  two: { confirm: { otherwise: "refuse" }, mutates: false, handler: () => 1 },
  three: { confirm: false, handler: () => 1 },
});
expectError(mcpTool(procedure({}), { confirm: "yes" }));
expectError(mcpTool(procedure({}), { confirm: { otherwise: "ask" } }));
expectError(app.expose({ plain: { tool: { confirm: 1 } } }));
expectError(app.expose({ plain: { tool: { confirm: { otherwise: "ask" } } } }));
expectError(app.tools({ one: { confirm: "yes", handler: () => 1 } }));
expectError(app.tools({ one: { confirm: { or: 1 }, handler: () => 1 } }));
expectAssignable<MountedOperation>({ name: "a", confirm: { otherwise: "allow" } });
expectError<MountedOperation>({ name: "a", confirm: "yes" });

// That users are asked makes nothing read-only.
const hand = app.tools({ one: { confirm: true, handler: () => 1 } });
expectType<"write" | "free" | "one">(nameOf<MutatingToolNames<typeof hand>>());

expectType<Confirm | undefined>(nameOf<ToolOptions>().confirm);
expectType<boolean | ConfirmFunction | ToolConfirmOptions>(nameOf<Confirm>());

// A function writes the question: typed by the input of the member, and where its surface is known, by that.
const Issue = z.object({ id: z.coerce.number() });
const issues = collection({ key: z.number(), schema: z.string() });
mcpTool(procedure({ input: Issue }), {
  confirm: (input, context) => {
    expectType<{ id: number }>(input);
    expectType<Caller>(context.caller);
    expectError(context.client.issues);
    expectError(context.signal);
    return `Close ${input.id}?`;
  },
});
mcpTool(procedure({}), { confirm: (input) => (expectType<undefined>(input), "Stop?") });
mcpTool(procedure({ input: Issue }), {
  title: "Close",
  confirm: {
    type: "CLOSE",
    otherwise: "allow",
    message: async ({ id }, { caller }) => ({ message: `Close ${id.toFixed()}?`, details: [caller.id] }),
  },
});
mcpTool(event({ input: Issue, output: z.string() }), { confirm: ({ id }) => `Wait for ${id.toFixed()}?` });
// A tag stands before its surface: the author says which members there are.
mcpTool(procedure({ input: Issue }), {
  confirm: async ({ id }, { client }: ConfirmContext<{ issues: typeof issues }>) =>
    `Close ${await client.issues.get(id)}?`,
});
expectError(mcpTool(procedure({ input: Issue }), { confirm: ({ id }) => id }));
expectError(mcpTool(procedure({ input: Issue }), { confirm: () => ({ details: ["a"] }) }));
expectError(mcpTool(procedure({ input: Issue }), { confirm: () => ({ message: "a", details: [1] }) }));
expectError(mcpTool(procedure({ input: Issue }), { confirm: (input: { id: string }) => input.id }));
expectError(mcpTool(procedure({ input: Issue }), { confirm: { message: "Close?" } }));
expectError(mcpTool(procedure({ input: Issue }), { confirm: ({ key }) => key }));

const tracker = defineSurface("tracker", {
  issues,
  close: procedure({ input: Issue }),
  now: cell({ schema: z.number() }),
});
const tracking = mcp(tracker)
  .bridge(link)
  .expose({
    close: {
      tool: {
        confirm: async (input, { client, caller }) => {
          expectType<{ id: number }>(input);
          expectType<CellClient<number>>(client.now);
          expectType<Caller>(caller);
          expectType<string | undefined>(await client.issues.get(input.id));
          expectError(client.nothing);
          return { message: "Close?", details: "by hand" };
        },
      },
    },
  })
  .tools({
    sweep: {
      input: z.object({ days: z.number().default(7) }),
      confirm: async (input, { client, caller }) => {
        expectType<{ days: number }>(input);
        expectType<CellClient<number>>(client.now);
        expectType<Caller>(caller);
        return `Sweep ${(await client.issues.keys()).length}?`;
      },
      handler: (args) => args.days,
    },
    reset: { confirm: { message: (input) => (expectType<undefined>(input), "Reset?") }, handler: () => 1 },
  });
expectType<"close" | "sweep" | "reset">(nameOf<ToolNames<typeof tracking>>());
mcp(tracker).expose({ close: { tool: { confirm: { type: "YES", message: ({ id }) => `Close ${id.toFixed()}?` } } } });
expectError(mcp(tracker).expose({ close: { tool: { confirm: ({ id }) => id } } }));
expectError(mcp(tracker).expose({ close: { tool: { confirm: ({ key }) => key } } }));
expectError(mcp(tracker).expose({ close: { tool: { confirm: (input: { id: string }) => input.id } } }));
expectError(mcp(tracker).expose({ close: { tool: { confirm: 5 } } }));
expectError(mcpTool(procedure({}), { confirm: 5 }));
expectError(tracking.tools({ one: { input: Issue, confirm: ({ id }) => id, handler: () => 1 } }));
expectError(tracking.tools({ one: { input: Issue, confirm: { message: "Run?" }, handler: () => 1 } }));
expectError(app.confirm("mutating", { message: () => "Run?" }));

// Where operations are known only at run time, the author says what the input is; a registry knows it by the schema.
expectAssignable<MountedOperation>({ name: "a", confirm: (_input: unknown, { caller }: ConfirmContext) => caller.id });
expectAssignable<MountedOperation>({ name: "a", confirm: ({ id }: { id: number }) => `Close ${id}?` });
operationRegistry().register(
  { name: "close", inputSchema: Issue, confirm: ({ id }) => `Close ${id.toFixed()}?` },
  () => 1,
);
expectAssignable<ConfirmText>({ message: "a", details: ["b", "c"] });
expectError<ConfirmText>({ details: ["b"] });

declare function nameOf<TName>(): TName;
