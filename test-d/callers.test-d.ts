import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  derive,
  event,
  implementSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  stream,
  type Caller,
  type HandlerContext,
  type JsonObject,
  type Link,
  type LimitVerdict,
  type OnDisconnect,
  type ProcedureContext,
  type RateLimiter,
  type SurfaceClient,
} from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
import { z } from "zod";

declare const link: Link;
declare const caller: Caller;
declare const scopes: readonly string[];
declare const fate: OnDisconnect;

const run = procedure({ input: z.object({ node: z.string() }) });
const state = cell({ schema: z.number() });

// Scopes may be asked for wherever something is exposed, as a literal or not.
mcpTool(run, { scopes: ["admin"] });
mcpTool(run, { scopes, onDisconnect: "abort" });
mcpResource(state, { scopes: ["audit"] });
const app = mcp(defineSurface("s", { run, state: mcpResource(state) }))
  .bridge(link)
  .expose({ run: { tool: { scopes: ["admin"], onDisconnect: "finish" } } })
  .tools({
    who: {
      scopes,
      onDisconnect: "abort",
      handler(_args, context) {
        expectType<Caller>(context.caller);
        expectError(context.caller.token);
        return context.caller.id;
      },
    },
  })
  .prompts({ ask: { scopes: ["ask"], handler: (_args, { caller: asking }) => asking.id } })
  .resources({ mine: { scopes: ["mine"], read: (_variables, context) => expectType<Caller>(context.caller) } });

// A list of texts, and one of two words.
expectError(mcpTool(run, { scopes: "admin" }));
expectError(mcpTool(run, { scopes: [1] }));
expectError(mcpTool(run, { onDisconnect: "maybe" }));
expectError(mcpTool(run, { onDisconnect: true }));
expectError(mcpResource(state, { scopes: "audit" }));
expectError(app.tools({ other: { scopes: "admin", handler: () => 1 } }));
expectError(app.prompts({ other: { scopes: [1], handler: () => "a" } }));
expectError(app.resources({ other: { scopes: {}, read: () => 1 } }));
// What is read has no call that could go on.
expectError(mcpResource(state, { onDisconnect: "abort" }));
expectError(app.resources({ other: { onDisconnect: "abort", read: () => 1 } }));
expectType<"abort" | "finish">(fate);

// A caller holds no token, and cannot be changed.
expectType<string | undefined>(caller.clientId);
expectType<JsonObject | undefined>(caller.claims);
expectError((caller.id = "b"));
expectError(caller.scopes.push("admin"));

// Handlers of procedures know their caller, and pass them on by name. Shared values have no caller.
const shop = defineSurface("shop", {
  buy: procedure({ input: z.object({ id: z.number() }), progress: z.string() }),
  till: cell({ schema: z.number() }),
  shelves: collection({ key: z.string(), schema: z.number() }),
  log: stream({ output: z.string() }),
  sold: event({ output: z.string() }),
});
declare const shopClient: SurfaceClient<(typeof shop)["members"]>;
implementSurface(shop, {
  async *buy({ id }, context) {
    expectType<Caller>(context.caller);
    expectError(context.caller.token);
    yield `${id}`;
    await shopClient.buy.call({ id }, { caller: context.caller });
    await derive.procedure(shopClient.buy)({ id }, context);
  },
  till: cellSource(1),
  shelves: cellSource(new Map<string, number>()),
  async *log(_input, context) {
    expectError(context.caller);
    yield "";
  },
  async *sold(_input, context) {
    expectError(context.caller);
    yield "";
  },
});
shopClient.buy.call({ id: 1 }, { caller });
expectError(shopClient.buy.call({ id: 1 }, { caller: { id: "ada" } }));
expectError(shopClient.till.get({ caller }));
expectError(shopClient.shelves.get("a", { caller }));
expectError(shopClient.log.latest(undefined, { caller }));
expectError(shopClient.sold.wait(undefined, { caller }));
// A handler that is annotated with less, and one that a context without a caller would not do for.
implementSurface(defineSurface("one", { run }), { run: (_input, _context: HandlerContext) => 1 });
expectAssignable<HandlerContext<string>>(nameOf<ProcedureContext<string>>());
declare const ofStream: HandlerContext<string>;
expectError(derive.procedure(shopClient.buy)({ id: 1 }, ofStream));

declare function nameOf<TName>(): TName;

// A test says who asks.
const client = createTestClient(app, { caller: { id: "ada", isAnonymous: false, scopes } });
client.tools.who({}, { caller });
expectError(createTestClient(app, { caller: { id: "ada" } }));

expectAssignable<RateLimiter>({ limit: (_key: string, _cost: number): LimitVerdict => ({ ok: true }) });
expectAssignable<RateLimiter>({ limit: async () => ({ ok: false, retryAfterMs: 5 }) as const });
expectError<LimitVerdict>({ ok: false });
