/** The REST routes of the tracker. They know nothing of agents. */
import express, { type ErrorRequestHandler, type Request, type Router } from "express";
import { z } from "zod";
import type { Database } from "./database.ts";
import { ConflictError, ForbiddenError, NotFoundError, UnavailableError } from "./errors.ts";
import { assignIssue, closeIssue, createIssue, deleteIssue, getIssue, searchIssues } from "./issues.ts";
import { Assignment, Closing, Issue, NewIssue, Search, type User } from "./schemas.ts";
import { findUser } from "./users.ts";

class UnauthorizedError extends Error {}

// A path and a query are text.
const Id = z.coerce.number().pipe(Issue.shape.id);
const Query = Search.extend({ after: z.coerce.number().optional(), limit: z.coerce.number().optional() });

function statusOf(error: unknown): number {
  if (error instanceof UnauthorizedError) return 401;
  if (error instanceof ForbiddenError) return 403;
  if (error instanceof NotFoundError) return 404;
  if (error instanceof ConflictError) return 409;
  if (error instanceof UnavailableError) return 503;
  if (error instanceof z.ZodError) return 400;
  // Express and its parsers give their errors a status: 400 for a body that is not JSON, 413 for one that is too large.
  const status: unknown = error instanceof Error && "status" in error ? error.status : undefined;
  return typeof status === "number" ? status : 500;
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
}

// oxlint-disable-next-line max-params -- Express knows error handlers by their four parameters
const answerError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error);
  const status = statusOf(error);
  if (status === 500) console.error(error);
  response.status(status).json({ error: status === 500 ? "internal error" : messageOf(error) });
};

export function createRoutes(db: Database): Router {
  const signedIn = async ({ headers: { authorization = "" } }: Request): Promise<User> => {
    const [, token = ""] = /^Bearer (.+)$/i.exec(authorization) ?? [];
    const user = await findUser(db, token);
    if (user === undefined) throw new UnauthorizedError("sign in first");
    return user;
  };

  const routes = express.Router();
  routes.use(express.json());
  routes.get("/issues", async (request, response) => {
    response.json(await searchIssues(db, await signedIn(request), Search.parse(Query.parse(request.query))));
  });
  routes.get("/issues/:id", async (request, response) => {
    response.json(await getIssue(db, await signedIn(request), Id.parse(request.params.id)));
  });
  routes.post("/issues", async (request, response) => {
    response.status(201).json(await createIssue(db, await signedIn(request), NewIssue.parse(request.body)));
  });
  routes.post("/issues/:id/close", async (request, response) => {
    const closing = { id: Id.parse(request.params.id), ...Closing.parse(request.body) };
    response.json(await closeIssue(db, await signedIn(request), closing));
  });
  routes.post("/issues/:id/assign", async (request, response) => {
    const assignment = { id: Id.parse(request.params.id), ...Assignment.parse(request.body) };
    response.json(await assignIssue(db, await signedIn(request), assignment));
  });
  routes.delete("/issues/:id", async (request, response) => {
    await deleteIssue(db, await signedIn(request), Id.parse(request.params.id));
    response.status(204).end();
  });
  routes.use(answerError);
  return routes;
}
