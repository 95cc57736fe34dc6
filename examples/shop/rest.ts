/** The REST routes of the shop. They call the procedures of the router, and know nothing of agents. */
import type { IncomingHttpHeaders } from "node:http";
import { TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import express, { type ErrorRequestHandler, type Router } from "express";
import { document } from "./openapi.ts";
import type { ShopRouter } from "./router.ts";
import type { NewOrder, Order, Product } from "./store.ts";
import { findUser, type User } from "./users.ts";

/** Returns the user whose token a request has. */
export function userOf({ authorization = "" }: IncomingHttpHeaders): User | undefined {
  return findUser("token", authorization.replace(/^Bearer /i, ""));
}

// oxlint-disable-next-line max-params -- Express knows error handlers by their four parameters
const answerError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  // Express hides the texts of all other errors in production.
  if (!(error instanceof TRPCError) || error.code === "INTERNAL_SERVER_ERROR") return next(error);
  response.status(getHTTPStatusCodeFromError(error)).json({ error: error.message });
};

export function createRoutes(router: ShopRouter): Router {
  const as = (headers: IncomingHttpHeaders) => router.createCaller({ user: userOf(headers) });
  const routes = express.Router();
  routes.use(express.json());
  routes.get("/openapi.json", (_request, response) => response.json(document));
  routes.get("/products", async ({ headers }, response) => response.json(await as(headers).products()));
  // The procedures parse the bodies.
  routes.post<{ id: string }, Product, { count: number }>("/products/:id/restock", async (request, response) => {
    response.json(await as(request.headers).product.restock({ ...request.body, id: request.params.id }));
  });
  routes.post<object, Order, NewOrder>("/orders", async ({ headers, body }, response) => {
    response.status(201).json(await as(headers).order.place(body));
  });
  routes.get("/orders/:id", async ({ headers, params }, response) => {
    response.json(await as(headers).order.show(params));
  });
  routes.delete("/orders/:id", async ({ headers, params }, response) => {
    response.json(await as(headers).order.cancel(params));
  });
  routes.use(answerError);
  return routes;
}
