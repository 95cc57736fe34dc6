import { initTRPC, lazy, type AnyRouter } from "@trpc/server";
import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import { initTRPC as initTRPC10 } from "trpc-server-10";
import { initTRPC as initTRPC110, lazy as lazy110 } from "trpc-server-11-0";
import {
  defineSurface,
  mcp,
  type Caller,
  type MountSource,
  type MutatingToolNames,
  type ResourceNames,
  type ServableApp,
  type ToolNames,
} from "surface-mcp";
import { fromTrpc, loadTrpc, mcpTrpc, type RpcExposure, type RpcToolOptions } from "surface-mcp/from/trpc";
import { createTestClient, type ToolAnswer } from "surface-mcp/testing";
import { z } from "zod";

declare const anything: any;
declare const either: boolean;
declare const openRouter: AnyRouter;

interface Context {
  readonly user: string;
}

const t = initTRPC.context<Context>().meta<{ readonly description: string }>().create();
const reports = t.router({ daily: t.procedure.query(() => 1) });
const router = t.router({
  orders: t.procedure.query(() => [1]),
  page: t.procedure.input(z.object({ limit: z.number().default(1) })).query(() => [1]),
  maybe: t.procedure.input(z.object({ id: z.string() }).optional()).query(() => [1]),
  order: t.router({
    show: t.procedure.input(z.object({ id: z.string() })).query(({ input }) => input),
    cancel: t.procedure.input(z.object({ id: z.string() })).mutation(({ input }) => input),
  }),
  deep: { er: t.procedure.mutation(() => 1) },
  ticks: t.procedure.subscription(async function* () {
    yield 1;
  }),
  room: t.procedure.input(z.string()).subscription(async function* () {
    yield 1;
  }),
  reports: lazy(async () => reports),
  constructor: t.procedure.query(() => 1),
});
const options = { context: (caller: Caller) => ({ user: caller.id }) };

// The names are those of the map, in a mount and alone.
const shop = fromTrpc(
  router,
  {
    "order.show": "tool",
    "order.cancel": { tool: { confirm: true, scopes: ["orders"] } },
    "deep.er": "tool",
    orders: "resource",
    page: { resource: { title: "A page" } },
    maybe: "resource",
    ticks: "resource",
    room: "tool",
    "reports.daily": { tool: { title: "Daily" } },
  },
  options,
);
expectAssignable<MountSource>(shop);
const app = mcp(defineSurface("hub", {})).implement({}).mount("shop", shop);
expectType<"shop_order_show" | "shop_order_cancel" | "shop_deep_er" | "shop_room" | "shop_reports_daily">(
  nameOf<ToolNames<typeof app>>(),
);
expectType<"shop_order_cancel" | "shop_deep_er">(nameOf<MutatingToolNames<typeof app>>());
expectType<"shop/orders" | "shop/page" | "shop/maybe" | "shop/ticks">(nameOf<ResourceNames<typeof app>>());
expectError(app.tools({ shop_more: { handler: () => 1 } }));

const alone = mcpTrpc(router, { "order.show": "tool", orders: "resource" }, { ...options, version: "1.0.0" });
expectAssignable<ServableApp>(alone);
expectType<"order_show">(nameOf<ToolNames<typeof alone>>());
expectType<never>(nameOf<MutatingToolNames<typeof alone>>());
expectType<"orders">(nameOf<ResourceNames<typeof alone>>());
const client = createTestClient(alone);
expectType<Promise<ToolAnswer>>(client.tools.order_show({ id: "o1" }));
expectError(client.tools.order_cancel({ id: "o1" }));
alone.exactly({ tools: { order_show: true }, resources: { orders: true } });
expectError(alone.exactly({ tools: { order_show: true, order_cancel: true }, resources: { orders: true } }));
expectType<Promise<typeof router>>(loadTrpc(router));

// A map in a variable is held to the same.
const map = { "order.show": "tool", orders: "resource" } as const;
const fromMap = mcpTrpc(router, map, options);
expectType<"order_show">(nameOf<ToolNames<typeof fromMap>>());
const nothing = mcpTrpc(router, {}, options);
expectType<never>(nameOf<ToolNames<typeof nothing>>());
const absent = mcpTrpc(router, { orders: undefined }, options);
expectType<never>(nameOf<ResourceNames<typeof absent>>());
const misspelt = { "order.shw": "tool" } as const;
expectError(fromTrpc(router, misspelt, options));
const widened: Record<string, "tool"> = {};
expectError(fromTrpc(router, widened, options));

// Keys are procedures.
expectError(fromTrpc(router, { "order.shw": "tool" }, options));
expectError(fromTrpc(router, { order: "tool" }, options));
expectError(fromTrpc(router, { "order.show.more": "tool" }, options));
expectError(fromTrpc(router, { toString: "tool" }, options));
fromTrpc(router, { constructor: "tool" }, options);

// Values fit the kind.
expectError(fromTrpc(router, { "order.cancel": "resource" }, options));
expectError(fromTrpc(router, { "deep.er": "resource" }, options));
expectError(fromTrpc(router, { "order.cancel": { resource: {} } }, options));
expectError(fromTrpc(router, { "order.show": "resource" }, options));
expectError(fromTrpc(router, { room: "resource" }, options));
expectError(fromTrpc(router, { orders: "resources" }, options));
expectError(fromTrpc(router, { orders: true }, options));
expectError(fromTrpc(router, { orders: { tool: {}, resource: {} } }, options));
expectError(fromTrpc(router, { orders: { tool: {}, more: 1 } }, options));
expectError(fromTrpc(router, { orders: {} }, options));
// One value of a union is enough.
expectError(fromTrpc(router, { "order.cancel": either ? "tool" : "resource" }, options));
const undecided = fromTrpc(router, { orders: either ? "tool" : "resource" }, options);
const undecidedApp = mcp(defineSurface("hub", {})).implement({}).mount("shop", undecided);
expectType<"shop_orders">(nameOf<ToolNames<typeof undecidedApp>>());
expectType<"shop/orders">(nameOf<ResourceNames<typeof undecidedApp>>());

// Options are those of the kind: none makes a mutation read.
expectError(fromTrpc(router, { "order.cancel": { tool: { mutates: false } } }, options));
expectError(fromTrpc(router, { "order.cancel": { tool: { type: "query" } } }, options));
expectError(fromTrpc(router, { "order.show": { tool: { destructive: true } } }, options));
expectError(fromTrpc(router, { "order.show": { tool: { titel: "Show" } } }, options));
expectError(fromTrpc(router, { "order.show": { tool: { title: 1 } } }, options));
expectError(fromTrpc(router, { orders: { resource: { mimeType: "text/plain" } } }, options));
expectAssignable<RpcToolOptions>({ confirm: true, destructive: true, timeoutMs: 1000 });
expectNotAssignable<RpcToolOptions>({ name: "x" });
expectAssignable<RpcExposure>({ tool: { title: "A" } });

// Two procedures with one name on the wire.
const twins = t.router({ a: { b: t.procedure.query(() => 1) }, a_b: t.procedure.query(() => 2) });
expectError(fromTrpc(twins, { "a.b": "tool", a_b: "tool" }, options));
fromTrpc(twins, { "a.b": "resource", a_b: "tool" }, options);

// The context is the router's, and required.
fromTrpc(
  router,
  {},
  {
    context: async (caller, { signal, meta }) => {
      expectType<Caller>(caller);
      expectType<AbortSignal>(signal);
      expectType<{ readonly description: string } | undefined>(meta);
      return { user: caller.id };
    },
  },
);
expectError(fromTrpc(router, {}));
expectError(fromTrpc(router, {}, {}));
expectError(fromTrpc(router, {}, { context: () => ({}) }));
expectError(fromTrpc(router, {}, { context: () => ({ user: 1 }) }));
expectError(fromTrpc(router, {}, { ...options, more: 1 }));
expectError(fromTrpc({}, {}, options));
expectError(fromTrpc(router.createCaller({ user: "a" }), {}, options));

// Of a router that the compiler does not know, each name of the map counts, and each tool may change something.
const open = mcpTrpc(openRouter, { orders: "tool", order: "resource" }, options);
expectType<"orders">(nameOf<ToolNames<typeof open>>());
expectType<"orders">(nameOf<MutatingToolNames<typeof open>>());
expectType<"order">(nameOf<ResourceNames<typeof open>>());
const cast = mcpTrpc(anything, { orders: "tool" }, options);
expectType<"orders">(nameOf<MutatingToolNames<typeof cast>>());
const castMap = mcpTrpc(router, anything, options);
expectType<string>(nameOf<ToolNames<typeof castMap>>());
const castValue = mcpTrpc(router, { orders: anything }, options);
expectType<"orders">(nameOf<ToolNames<typeof castValue>>());
expectType<"orders">(nameOf<ResourceNames<typeof castValue>>());

// Routers of tRPC 10.
const t10 = initTRPC10.context<Context>().create();
const router10 = t10.router({
  orders: t10.procedure.query(() => [1]),
  order: t10.router({
    show: t10.procedure.input(z.object({ id: z.string() })).query(({ input }) => input),
    cancel: t10.procedure.input(z.object({ id: z.string() })).mutation(({ input }) => input),
  }),
});
const app10 = mcpTrpc(router10, { orders: "resource", "order.show": "tool", "order.cancel": "tool" }, options);
expectType<"order_show" | "order_cancel">(nameOf<ToolNames<typeof app10>>());
expectType<"order_cancel">(nameOf<MutatingToolNames<typeof app10>>());
expectType<"orders">(nameOf<ResourceNames<typeof app10>>());
expectError(fromTrpc(router10, { "order.shw": "tool" }, options));
expectError(fromTrpc(router10, { "order.cancel": "resource" }, options));
expectError(fromTrpc(router10, { "order.show": "resource" }, options));
expectError(fromTrpc(router10, {}, { context: () => ({}) }));

// Routers of the oldest tRPC 11.
const t110 = initTRPC110.context<Context>().create();
const reports110 = t110.router({ daily: t110.procedure.mutation(() => 1) });
const router110 = t110.router({
  orders: t110.procedure.query(() => [1]),
  order: { show: t110.procedure.input(z.object({ id: z.string() })).query(({ input }) => input) },
  reports: lazy110(async () => reports110),
});
const app110 = mcpTrpc(router110, { orders: "resource", "order.show": "tool", "reports.daily": "tool" }, options);
expectType<"order_show" | "reports_daily">(nameOf<ToolNames<typeof app110>>());
expectType<"reports_daily">(nameOf<MutatingToolNames<typeof app110>>());
expectError(fromTrpc(router110, { "order.shw": "tool" }, options));
expectError(fromTrpc(router110, { "order.show": "resource" }, options));
expectError(fromTrpc(router110, {}, { context: () => ({}) }));

declare function nameOf<TName>(): TName;

// A number as a key has no name for the compiler.
const numbered = t.router({ 1: t.procedure.mutation(() => 1), "2": t.procedure.mutation(() => 2) });
expectError(mcpTrpc(numbered, { 1: "tool" }, options));
const quoted = mcpTrpc(numbered, { "2": "tool" }, options);
expectType<"2">(nameOf<MutatingToolNames<typeof quoted>>());
