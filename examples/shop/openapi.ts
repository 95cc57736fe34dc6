/** The OpenAPI document of the REST routes. */
import { z } from "zod";
import { NewOrder, Order, Product } from "./store.ts";

const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
const security = [{ token: [] }];

/** Returns a JSON body of a component. */
function body(name: string) {
  return { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } };
}

const problem = (description: string) => ({ description, ...body("Problem") });
const order = { description: "The order", ...body("Order") };

export const document = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1.0.0" },
  paths: {
    "/products": {
      get: {
        operationId: "listProducts",
        summary: "All products with price and stock",
        responses: { 200: { description: "The products", ...body("Products") } },
      },
    },
    "/products/{id}/restock": {
      parameters: [id],
      post: {
        operationId: "restockProduct",
        summary: "Add to the stock of a product",
        security,
        requestBody: { required: true, ...body("Restock") },
        responses: { 200: { description: "The product", ...body("Product") }, 403: problem("Only staff may do this") },
      },
    },
    "/orders": {
      post: {
        operationId: "placeOrder",
        summary: "Order a product",
        security,
        requestBody: { required: true, ...body("NewOrder") },
        responses: { 201: order, 404: problem("No such product"), 409: problem("Too few are left") },
      },
    },
    "/orders/{id}": {
      parameters: [id],
      get: {
        operationId: "showOrder",
        summary: "Show one of your orders",
        security,
        responses: { 200: order, 404: problem("You have no such order") },
      },
      delete: {
        operationId: "cancelOrder",
        summary: "Cancel one of your orders",
        security,
        responses: { 200: order, 404: problem("You have no such order"), 409: problem("It is cancelled already") },
      },
    },
  },
  components: {
    securitySchemes: { token: { type: "http", scheme: "bearer" } },
    schemas: {
      Product: z.toJSONSchema(Product),
      Products: z.toJSONSchema(z.array(Product)),
      NewOrder: z.toJSONSchema(NewOrder),
      Restock: z.toJSONSchema(z.object({ count: z.int() })),
      Order: z.toJSONSchema(Order),
      Problem: z.toJSONSchema(z.object({ error: z.string() })),
    },
  },
};
