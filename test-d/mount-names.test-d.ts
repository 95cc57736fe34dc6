import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import {
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  cell,
  procedure,
  type Link,
  type MountNames,
  type MountSource,
  type MutatingToolNames,
  type ResourceNames,
  type ToolNames,
} from "surface-mcp";
import { createTestClient, type ToolAnswer } from "surface-mcp/testing";
import { z } from "zod";

declare const link: Link;
declare const open: MountSource;
declare const either: boolean;
declare const anything: any;
declare const none: never;

interface ShopNames extends MountNames {
  readonly tools: "order.show" | "order.cancel";
  readonly mutating: "order.cancel";
  readonly resources: "orders" | "stock/all";
}

// A source that knows its names says so in its type.
declare const shop: MountSource<ShopNames>;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  run: mcpTool(procedure({})),
  "shop.open": procedure({}),
});
const app = mcp(surface).bridge(link);

// Then the names of the app are exact.
const mounted = app.mount("shop", shop);
expectType<"run" | "shop_order_show" | "shop_order_cancel">(nameOf<ToolNames<typeof mounted>>());
expectType<"run" | "shop_order_cancel">(nameOf<MutatingToolNames<typeof mounted>>());
expectType<"state" | "shop/orders" | "shop/stock/all">(nameOf<ResourceNames<typeof mounted>>());

// A source without names, in the same app or in another arm, stays a pattern.
const both = mounted.mount("git", open);
expectType<"run" | "shop_order_show" | "shop_order_cancel" | `git_${string}`>(nameOf<ToolNames<typeof both>>());
const chosen = app.mount("shop", either ? shop : open);
expectType<"run" | `shop_${string}`>(nameOf<ToolNames<typeof chosen>>());
const prefixed = app.mount(either ? "a" : "b", shop);
expectType<"run" | "a_order_show" | "a_order_cancel" | "b_order_show" | "b_order_cancel">(
  nameOf<ToolNames<typeof prefixed>>(),
);
const literal = app.mount("shop", { list: () => [], subscribe: () => () => {}, invoke: () => 1 });
expectType<"run" | `shop_${string}`>(nameOf<ToolNames<typeof literal>>());

// A source of which the compiler knows nothing proves nothing.
const cast = app.mount("shop", anything);
expectType<"run" | `shop_${string}`>(nameOf<ToolNames<typeof cast>>());
expectType<"run" | `shop_${string}`>(nameOf<MutatingToolNames<typeof cast>>());
expectType<"state" | `shop/${string}`>(nameOf<ResourceNames<typeof cast>>());
const absent = app.mount("shop", none);
expectType<"run" | `shop_${string}`>(nameOf<ToolNames<typeof absent>>());
declare const unnamed: MountSource<any>;
const untyped = app.mount("shop", unnamed);
expectType<"run" | `shop_${string}`>(nameOf<ToolNames<typeof untyped>>());

// Names may be forgotten, and not be made up.
expectAssignable<MountSource>(shop);
expectNotAssignable<MountSource<ShopNames>>(open);

// The prefix belongs to the mount, also where none of its names is taken.
expectError(mounted.tools({ shop_more: { handler: () => 1 } }));
expectError(mounted.tools({ "shop.order.show": { handler: () => 1 } }));
expectError(app.tools({ shop_more: { handler: () => 1 } }).mount("shop", shop));
expectError(mounted.mount("shop", open));
expectError(mounted.mount("shop_more", open));
expectError(app.mount("shop_more", shop).mount("shop", shop));
expectError(mounted.expose({ "shop.open": "tool" }));
expectError(mounted.resources({ "shop/orders": { read: () => 1 } }));
expectError(app.mount("read", shop).pull());
mounted.mount("shopping", open).tools({ shop: { handler: () => 1 } });

// Views, exact names and test clients know the names too.
mounted.views({ default: { allow: ["shop_order_show", "shop.order.cancel", "shop/orders"] } });
expectError(mounted.views({ default: { allow: ["shop_order_shw"] } }));
mounted.exactly({
  tools: { run: true, shop_order_show: true, shop_order_cancel: true },
  mutating: { run: true, shop_order_cancel: true },
  resources: { state: true, "shop/orders": true, "shop/stock/all": true },
});
expectError(
  mounted.exactly({
    tools: { run: true, shop_order_show: true },
    mutating: { run: true, shop_order_cancel: true },
    resources: { state: true, "shop/orders": true, "shop/stock/all": true },
  }),
);
const client = createTestClient(mounted);
expectType<Promise<ToolAnswer>>(client.tools.shop_order_show({ id: 1 }));
expectError(client.tools.shop_nope({}));

declare function nameOf<TName>(): TName;
