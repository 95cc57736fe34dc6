import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  memoryContext,
  procedure,
  type AppNames,
  type BespokePrompt,
  type BespokeResource,
  type BespokeTool,
  type ContextCall,
  type ContextFactory,
  type LinkedApp,
  type Link,
  type MemoryContext,
  type MountContext,
  type PromptNames,
  type ResourceNames,
  type ToolContext,
  type ToolNames,
} from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;
declare const unchecked: any;

const surface = defineSurface("s", { state: cell({ schema: z.number() }), run: procedure({}) });
type Members = (typeof surface)["members"];
interface Own {
  readonly who: string;
}
const own = (call: ContextCall): Own => ({ who: call.caller.id });
const unlinked = mcp(surface);
const app = unlinked.bridge(link);
const owning = app.context(own);

// Every handler has it: of tools with and without input, prompts, resources, and what completes them.
const full = owning
  .tools({
    one: { handler: (_args, { context }) => expectType<Own>(context) },
    two: {
      input: z.object({ n: z.number() }),
      handler: ({ n }, { context }) => [expectType<number>(n), expectType<Own>(context)],
    },
  })
  .prompts({
    ask: {
      input: z.object({ word: z.string() }),
      complete: { word: (_begun, { context }) => (expectType<Own>(context), []) },
      handler: (_args, { context }) => (expectType<Own>(context), ""),
    },
    plain: { handler: (_args, { context }) => (expectType<Own>(context), "") },
  })
  .resources({
    page: { read: (_none, { context }) => expectType<Own>(context) },
    item: {
      variables: z.object({ id: z.string() }),
      complete: { id: (_begun, { context }) => [context.who] },
      read: ({ id }, { context }) => [expectType<string>(id), expectType<Own>(context)],
      async *watch(_given, { context }) {
        yield expectType<Own>(context);
      },
    },
  });
expectType<"one" | "two">(nameOf<ToolNames<typeof full>>());
expectType<"ask" | "plain">(nameOf<PromptNames<typeof full>>());
expectType<"page" | "item">(nameOf<ResourceNames<typeof full>>());

// Before the link, after expose(), pull(), confirm() and mount(): as long as nothing has a handler.
unlinked
  .context(own)
  .implement({ state: unchecked, run: () => {} })
  .tools({
    one: { handler: (_args, { context }) => expectType<Own>(context) },
  });
app
  .expose({ run: "tool" })
  .confirm("mutating")
  .context(own)
  .pull()
  .tools({
    one: { handler: (_args, { context }) => expectType<Own>(context) },
  });

// What nothing was said of is in memory.
app.tools({ one: { handler: (_args, { context }) => expectType<MemoryContext>(context) } });
app.context(() => memoryContext()).tools({ one: { handler: (_args, { context }) => context.kv.get("a") } });

// A promise, a choice and nothing at all are what they are.
app.context(async () => 1).tools({ one: { handler: (_args, { context }) => expectType<Promise<number>>(context) } });
app
  .context(() => (either ? { a: 1 } : undefined))
  .tools({ one: { handler: (_args, { context }) => expectType<{ a: number } | undefined>(context) } });

// Handlers that ask for what is not there.
expectError(owning.tools({ one: { handler: (_args, { context }) => context.kv } }));
expectError(owning.prompts({ one: { handler: (_args, { context }) => context.nope } }));
expectError(owning.resources({ one: { read: (_none, { context }) => context.nope } }));
expectError(app.tools({ one: { handler: (_args, { context }) => context.who } }));

// It is a function, comes once, and before handlers: those that are there have another one.
expectError(app.context({}));
expectError(app.context());
expectError(app.context((call: { nope: string }) => call));
expectError(owning.context(own));
expectError(unlinked.context(own).context(own));
expectError(unlinked.context(own).bridge(link).context(own));
expectError(app.tools({ one: { handler: () => 1 } }).context(own));
expectError(app.prompts({ one: { handler: () => "" } }).context(own));
expectError(app.resources({ one: { read: () => 1 } }).context(own));
expectError(full.context(own));

// It is told who asks and when to stop, and nothing else of the call.
app.context((call) => expectType<ContextCall>(call));
expectError(app.context(({ progress }) => progress));
expectAssignable<ContextFactory<Own>>(own);

// What is mounted serves many apps, and has to look at what it is given.
expectType<unknown>(nameOf<MountContext>().context);

// Annotations name it.
expectType<Own>(nameOf<ToolContext<Members, Own>>().context);
expectType<MemoryContext>(nameOf<ToolContext<Members>>().context);
declare const tool: BespokeTool<undefined, Members, Own>;
declare const prompt: BespokePrompt<undefined, Members, Own>;
declare const resource: BespokeResource<undefined, Members, Own>;
owning.tools({ one: tool }).prompts({ one: prompt }).resources({ one: resource });

// An app with one is an app like any other.
expectAssignable<LinkedApp<AppNames, Members>>(owning);
const client = createTestClient(full);
expectType<"one" | "two">(nameOf<keyof typeof client.tools>());

declare function nameOf<TName>(): TName;
