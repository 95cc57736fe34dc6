/** The tRPC router of the shop. The rules who may do what are here; it knows nothing of agents. */
import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import { NewOrder, Order, Product, type Store } from "./store.ts";
import type { User } from "./users.ts";

const t = initTRPC.context<{ readonly user: User | undefined }>().meta<{ readonly description: string }>().create();

const signedIn = t.procedure.use(({ ctx: { user }, next }) => {
  if (user === undefined) throw new TRPCError({ code: "UNAUTHORIZED", message: "sign in first" });
  return next({ ctx: { user } });
});

const staff = signedIn.use(({ ctx: { user }, next }) => {
  if (!user.isStaff) throw new TRPCError({ code: "FORBIDDEN", message: "only staff may do this" });
  return next();
});

const Id = z.object({ id: z.string().max(64) });

function findProduct(store: Store, id: string): Product {
  const product = store.products.get(id);
  if (product === undefined) throw new TRPCError({ code: "NOT_FOUND", message: `there is no product "${id}"` });
  return product;
}

/** Returns an order of this customer. The orders of others do not exist for them. */
function findOrder(store: Store, id: string, user: User): Order {
  const order = store.orders.get(id);
  if (order?.customer === user.id) return order;
  throw new TRPCError({ code: "NOT_FOUND", message: `you have no order "${id}"` });
}

function placeOrder(store: Store, wanted: NewOrder, user: User): Order {
  const product = findProduct(store, wanted.product);
  if (product.stock < wanted.count) throw new TRPCError({ code: "CONFLICT", message: `only ${product.stock} left` });
  store.changeStock(product, -wanted.count);
  return store.addOrder(user.id, wanted);
}

function cancelOrder(store: Store, id: string, user: User): Order {
  const order = findOrder(store, id, user);
  if (order.state === "cancelled") throw new TRPCError({ code: "CONFLICT", message: "it is cancelled already" });
  store.changeStock(findProduct(store, order.product), order.count);
  order.state = "cancelled";
  return order;
}

export function createRouter(store: Store) {
  return t.router({
    products: t.procedure
      .meta({ description: "All products with price and stock" })
      .output(z.array(Product))
      .query(() => [...store.products.values()]),
    stock: t.procedure
      .meta({ description: "The stock of each product" })
      .subscription(({ signal }) => store.watchStock(signal)),
    product: t.router({
      show: t.procedure
        .meta({ description: "Show a product" })
        .input(Id)
        .output(Product)
        .query(({ input }) => findProduct(store, input.id)),
      restock: staff
        .input(Id.extend({ count: z.int().min(1) }))
        .mutation(({ input }) => store.changeStock(findProduct(store, input.id), input.count)),
    }),
    orders: signedIn
      .meta({ description: "List your orders" })
      .output(z.array(Order))
      .query(({ ctx }) => [...store.orders.values()].filter(({ customer }) => customer === ctx.user.id)),
    order: t.router({
      show: signedIn
        .meta({ description: "Show one of your orders" })
        .input(Id)
        .output(Order)
        .query(({ input, ctx }) => findOrder(store, input.id, ctx.user)),
      place: signedIn
        .meta({ description: "Order a product" })
        .input(NewOrder)
        .output(Order)
        .mutation(({ input, ctx }) => placeOrder(store, input, ctx.user)),
      cancel: signedIn
        .meta({ description: "Cancel one of your orders" })
        .input(Id)
        .output(Order)
        .mutation(({ input, ctx }) => cancelOrder(store, input.id, ctx.user)),
    }),
  });
}

export type ShopRouter = ReturnType<typeof createRouter>;
