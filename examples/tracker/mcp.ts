/** The tracker for agents: the functions that the REST routes call, for the user whose token an agent brings. */
import { type Caller, mcp, Refusal } from "surface-mcp";
import { bearer, type HttpAuth } from "surface-mcp/http";
import type { Database } from "./database.ts";
import { ConflictError, ForbiddenError, NotFoundError, UnavailableError } from "./errors.ts";
import * as issues from "./issues.ts";
import { Issue, User } from "./schemas.ts";
import { tracker } from "./surface.ts";
import { findUser } from "./users.ts";

/** Milliseconds between two reads of a value while an agent watches it. */
const pollMs = 1000;

/** Returns the user of a call, found by `signIn`. */
export function userOf({ claims }: Caller): User {
  const { data: user } = User.safeParse(claims);
  if (user === undefined) throw new ForbiddenError("sign in first");
  return user;
}

/** Translates the errors that an agent may read. All others are masked. */
export function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof NotFoundError) return new Refusal("NOT_FOUND", error.message);
  if (error instanceof ConflictError) return new Refusal("CONFLICT", error.message);
  if (error instanceof ForbiddenError) return new Refusal("FORBIDDEN", error.message);
  if (error instanceof UnavailableError) return new Refusal("DATABASE_AWAY", error.message);
  return undefined;
}

/** Returns a page of the issues that all users see. A cursor is the id of the last issue of the page before. */
async function listIssues(db: Database, { after, limit }: { after: string | undefined; limit: number }) {
  const { success, data } = Issue.shape.id.optional().safeParse(after && Number(after));
  if (!success) throw new NotFoundError(`there is no page after "${after}"`);
  const { items, next } = await issues.searchIssues(db, issues.everyone, { after: data, limit });
  return { items: items.map((issue) => [issue.id, issue] as const), next: next?.toString() };
}

export function createAgentApp(db: Database) {
  return mcp(tracker, { toRefusal })
    .implement({
      open: { get: () => issues.countOpen(db), pollMs },
      issues: {
        list: (page) => listIssues(db, page), // { items: [[key, value], …], next? }
        get: (id) => issues.findIssue(db, issues.everyone, id),
        pollMs,
      },
      "issue.search": (search, { caller }) => issues.searchIssues(db, userOf(caller), search),
      "issue.show": ({ id }, { caller }) => issues.getIssue(db, userOf(caller), id),
      "issue.create": (issue, { caller }) => issues.createIssue(db, userOf(caller), issue),
      "issue.assign": (assignment, { caller }) => issues.assignIssue(db, userOf(caller), assignment),
      "issue.close": (closing, { caller }) => issues.closeIssue(db, userOf(caller), closing),
      "issue.delete": ({ id }, { caller }) => issues.deleteIssue(db, userOf(caller), id),
    })
    .pull();
}

const scopes = { maintainer: ["tracker:read", "tracker:write"], reviewer: ["tracker:read"] };

/** Lets users sign in with the tokens that the REST routes take. */
export function signIn(db: Database): HttpAuth {
  const resource = "http://localhost/mcp";
  return bearer({
    resource,
    async verify(token) {
      const user = await findUser(db, token);
      return user && { id: user.id, scopes: scopes[user.role], resource, claims: user };
    },
  });
}
