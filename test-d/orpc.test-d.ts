import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/fetch";
import { eventIterator, oc, type ContractRouterClient } from "@orpc/contract";
import { createRouterClient, os, unlazyRouter, type AnyProcedure } from "@orpc/server";
import { createRouterClient as createNextClient, os as next2 } from "orpc-server-2";
import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
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
import { fromOrpc, mcpOrpc, type OrpcExposure } from "surface-mcp/from/orpc";
import { createTestClient, type ToolAnswer } from "surface-mcp/testing";
import { z } from "zod";

declare const anything: any;
declare const either: boolean;
declare const openRouter: Record<string, AnyProcedure>;

const base = os.$context<{ readonly user: string }>();
const reports = { daily: base.handler(() => 1) };
const router = {
  orders: base.handler(() => [1]),
  page: base.input(z.object({ limit: z.number().default(1) })).handler(() => [1]),
  maybe: base.input(z.object({ id: z.string() }).optional()).handler(() => [1]),
  order: {
    show: base.input(z.object({ id: z.string() })).handler(({ input }) => input),
    cancel: base.input(z.object({ id: z.string() })).handler(({ input }) => input),
  },
  ticks: base.handler(async function* () {
    yield 1;
  }),
  room: base
    .input(z.string())
    .output(eventIterator(z.number()))
    .handler(async function* () {
      yield 1;
    }),
  unknown: base.output(z.unknown()).handler(() => 1),
  reports: base.lazy(async () => ({ default: reports })),
  constructor: base.handler(() => 1),
};
const options = {
  client: (caller: Caller) => createRouterClient(router, { context: { user: caller.id } }),
};

// The names are those of the map, in a mount and alone.
const store = fromOrpc(
  router,
  {
    "order.show": "read",
    "order.cancel": { write: { tool: { confirm: true, destructive: true } } },
    orders: { read: "resource" },
    page: { read: { resource: { title: "A page" } } },
    maybe: { read: { tool: { title: "Maybe" } } },
    ticks: { stream: "resource" },
    room: "stream",
    unknown: "write",
    constructor: "read",
  },
  options,
);
expectAssignable<MountSource>(store);
const app = mcp(defineSurface("hub", {})).implement({}).mount("store", store);
expectType<
  "store_order_show" | "store_order_cancel" | "store_maybe" | "store_room" | "store_unknown" | "store_constructor"
>(nameOf<ToolNames<typeof app>>());
expectType<"store_order_cancel" | "store_unknown">(nameOf<MutatingToolNames<typeof app>>());
expectType<"store/orders" | "store/page" | "store/ticks">(nameOf<ResourceNames<typeof app>>());

const alone = mcpOrpc(router, { "order.show": "read", orders: { read: "resource" } }, { ...options, version: "1.0.0" });
expectAssignable<ServableApp>(alone);
expectType<"order_show">(nameOf<ToolNames<typeof alone>>());
expectType<never>(nameOf<MutatingToolNames<typeof alone>>());
expectType<"orders">(nameOf<ResourceNames<typeof alone>>());
const client = createTestClient(alone);
expectType<Promise<ToolAnswer>>(client.tools.order_show({ id: "o1" }));
expectError(client.tools.order_cancel({ id: "o1" }));
const map = { "order.show": "read", orders: { read: "resource" } } as const;
const fromMap = mcpOrpc(router, map, options);
expectType<"order_show">(nameOf<ToolNames<typeof fromMap>>());
const nothing = mcpOrpc(router, {}, options);
expectType<never>(nameOf<ToolNames<typeof nothing>>());
const absent = mcpOrpc(router, { orders: undefined }, options);
expectType<never>(nameOf<ResourceNames<typeof absent>>());

// Keys are procedures that are loaded.
expectError(fromOrpc(router, { "order.shw": "read" }, options));
expectError(fromOrpc(router, { order: "read" }, options));
expectError(fromOrpc(router, { toString: "read" }, options));
expectError(fromOrpc(router, { "reports.daily": "read" }, options));
const misspelt = { "order.shw": "read" } as const;
expectError(fromOrpc(router, misspelt, options));
const widened: Record<string, "read"> = {};
expectError(fromOrpc(router, widened, options));
async function loaded() {
  return mcpOrpc(await unlazyRouter(router), { "reports.daily": "read" }, options);
}
expectType<"reports_daily">(nameOf<ToolNames<Awaited<ReturnType<typeof loaded>>>>());

// Values say the kind, and fit it.
expectError(fromOrpc(router, { orders: "tool" }, options));
expectError(fromOrpc(router, { orders: "resource" }, options));
expectError(fromOrpc(router, { orders: true }, options));
expectError(fromOrpc(router, { orders: {} }, options));
expectError(fromOrpc(router, { orders: { tool: {} } }, options));
expectError(fromOrpc(router, { orders: { read: "tool", write: "tool" } }, options));
expectError(fromOrpc(router, { orders: { read: "resources" } }, options));
expectError(fromOrpc(router, { "order.cancel": { write: "resource" } }, options));
expectError(fromOrpc(router, { "order.show": { read: "resource" } }, options));
expectError(fromOrpc(router, { room: { stream: "resource" } }, options));
expectError(fromOrpc(router, { orders: "stream" }, options));
expectError(fromOrpc(router, { ticks: "read" }, options));
expectError(fromOrpc(router, { room: "write" }, options));
expectError(fromOrpc(router, { orders: either ? "read" : "stream" }, options));
const undecided = mcpOrpc(router, { orders: either ? "read" : "write" }, options);
expectType<"orders">(nameOf<MutatingToolNames<typeof undecided>>());
expectError(fromOrpc(router, { orders: { read: { tool: { destructive: true } } } }, options));
expectError(fromOrpc(router, { orders: { write: { tool: { mutates: false } } } }, options));
expectError(fromOrpc(router, { orders: { write: { tool: { titel: "A" } } } }, options));
const twins = { a: { b: os.handler(() => 1) }, a_b: os.handler(() => 2) };
expectError(fromOrpc(twins, { "a.b": "read", a_b: "read" }, { client: () => createRouterClient(twins) }));
fromOrpc(twins, { "a.b": { read: "resource" }, a_b: "read" }, { client: () => createRouterClient(twins) });
expectAssignable<OrpcExposure>({ stream: { resource: { title: "A" } } });
expectNotAssignable<OrpcExposure>({ write: "resource" });

// The client is one of the router, and required.
fromOrpc(
  router,
  {},
  {
    client: (caller, { signal, meta }) => {
      expectType<Caller>(caller);
      expectType<AbortSignal>(signal);
      expectType<object>(meta);
      return options.client(caller);
    },
  },
);
expectError(fromOrpc(router, {}));
expectError(fromOrpc(router, {}, {}));
expectError(fromOrpc(router, {}, { client: () => ({}) }));
expectError(fromOrpc(router, {}, { client: () => createRouterClient(twins) }));
expectError(fromOrpc(router, {}, { client: async (caller: Caller) => options.client(caller) }));
expectError(fromOrpc(router, {}, { ...options, more: 1 }));

// A contract and a client of a remote server.
const contract = {
  order: { show: oc.input(z.object({ id: z.string() })) },
  ticks: oc.output(eventIterator(z.number())),
};
const link = new RPCLink({ url: "https://store.example/rpc" });
const remote = (): ContractRouterClient<typeof contract> => createORPCClient(link);
const bridged = mcpOrpc(contract, { "order.show": "write", ticks: "stream" }, { client: remote });
expectType<"order_show" | "ticks">(nameOf<ToolNames<typeof bridged>>());
expectType<"order_show">(nameOf<MutatingToolNames<typeof bridged>>());
expectError(fromOrpc(contract, { ticks: "read" }, { client: remote }));

// A router of oRPC 2.
const next = {
  show: next2.input(z.object({ id: z.string() })).handler(({ input }) => input),
  ticks: next2.handler(async function* () {
    yield 1;
  }),
  lazy: next2.lazy(async () => ({ default: { daily: next2.handler(() => 1) } })),
};
const nextOptions = { client: () => createNextClient(next) };
const nextApp = mcpOrpc(next, { show: "write", ticks: { stream: "resource" } }, nextOptions);
expectType<"show">(nameOf<MutatingToolNames<typeof nextApp>>());
expectType<"ticks">(nameOf<ResourceNames<typeof nextApp>>());
expectError(fromOrpc(next, { show: { read: "resource" } }, nextOptions));
expectError(fromOrpc(next, { ticks: "read" }, nextOptions));
expectError(fromOrpc(next, { show: "stream" }, nextOptions));
expectError(fromOrpc(next, { "lazy.daily": "read" }, nextOptions));

// Of a router that the compiler does not know, each name of the map counts.
const open = mcpOrpc(openRouter, { orders: "read", order: { read: "resource" } }, { client: () => anything });
expectType<"orders">(nameOf<ToolNames<typeof open>>());
expectType<"order">(nameOf<ResourceNames<typeof open>>());
const cast = mcpOrpc(anything, { orders: "write" }, options);
expectType<"orders">(nameOf<MutatingToolNames<typeof cast>>());
const castMap = mcpOrpc(router, anything, options);
expectType<string>(nameOf<ToolNames<typeof castMap>>());
const castValue = mcpOrpc(router, { orders: anything }, options);
expectType<"orders">(nameOf<MutatingToolNames<typeof castValue>>());

declare function nameOf<TName>(): TName;

// A number as a key has no name for the compiler.
expectError(mcpOrpc({ 1: os.handler(() => 1) }, { 1: "read" }, { client: () => ({}) }));
