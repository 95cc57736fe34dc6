/** The products and orders of the shop, in memory. Nothing here knows of users' rights, of HTTP or of agents. */
import { EventEmitter, on } from "node:events";
import { z } from "zod";

export const Product = z.object({
  id: z.string(),
  name: z.string(),
  price: z.int().describe("In cents"),
  stock: z.int(),
});
export type Product = z.infer<typeof Product>;

export const NewOrder = z.object({ product: z.string(), count: z.int().min(1).max(100) });
export type NewOrder = z.infer<typeof NewOrder>;

export const Order = NewOrder.extend({
  id: z.string(),
  customer: z.string(),
  state: z.enum(["placed", "cancelled"]),
});
export type Order = z.infer<typeof Order>;

export class Store {
  readonly products = new Map<string, Product>([
    ["tea", { id: "tea", name: "Green tea", price: 750, stock: 3 }],
    ["mug", { id: "mug", name: "Mug", price: 1200, stock: 5 }],
  ]);
  readonly orders = new Map<string, Order>();
  readonly #changes = new EventEmitter();

  addOrder(customer: string, { product, count }: NewOrder): Order {
    const order: Order = { id: `o${this.orders.size + 1}`, customer, product, count, state: "placed" };
    this.orders.set(order.id, order);
    return order;
  }

  changeStock(product: Product, by: number): Product {
    product.stock += by;
    this.#changes.emit("stock");
    return product;
  }

  /** Yields the stock by product: now, and after each change until the signal fires. */
  async *watchStock(signal: AbortSignal | undefined): AsyncGenerator<Readonly<Record<string, number>>> {
    const stock = () =>
      Object.fromEntries(Array.from(this.products.values(), (product) => [product.id, product.stock]));
    const changes = on(this.#changes, "stock", signal && { signal });
    yield stock();
    for await (const _ of changes) yield stock();
  }
}
