import { Refusal, SurfaceError } from "../../errors.ts";
import { createIssue } from "../../schema/render-issues.ts";
import type { PageUse, SourceUse } from "../source.ts";
import { canonical } from "./canonical.ts";

/** The number of items of a page whose reader says nothing. */
const defaultLimit = 100;

/** The highest number of items of a page, and of the keys of a collection that pages. */
export const maxPage = 1000;

/** A page that is asked for, checked. */
export type AskedPage = Pick<PageUse, "after" | "limit">;

function refuse(where: string, field: string, message: string): SurfaceError {
  const issues = [createIssue([field], message)];
  return new SurfaceError("VALIDATION_ERROR", `Cannot list ${where}: the page does not fit`, { issues });
}

/** Checks a page that a client asks for. @throws SurfaceError `VALIDATION_ERROR`. */
export function readPage(given: unknown, where: string): AskedPage {
  const page: { readonly after?: unknown; readonly limit?: unknown } =
    typeof given === "object" && given !== null ? given : {};
  const { after, limit = defaultLimit } = page;
  if (after !== undefined && typeof after !== "string") throw refuse(where, "after", "expected the `next` of a page");
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > maxPage) {
    throw refuse(where, "limit", `expected a whole number from 1 to ${maxPage}`);
  }
  return { after, limit };
}

/** The context of the read of a page. Its signal is made only if the source asks for it. */
export function toPageUse({ after, limit }: AskedPage, use: SourceUse): PageUse {
  return {
    after,
    limit,
    get signal() {
      return use.signal;
    },
  };
}

/** Some keys of a collection, and the cursor of those behind them. */
export interface KeyPage {
  readonly keys: readonly unknown[];
  readonly next?: string;
}

/** Returns the position behind a cursor, which says the key before it and where that was: it may be gone by then. */
function positionOf(after: string, keys: readonly unknown[]): number {
  const space = after.indexOf(" ");
  const position = Number(after.slice(0, space));
  const text = after.slice(space + 1);
  if (space === -1 || !Number.isSafeInteger(position)) {
    throw new Refusal("INVALID_CURSOR", "after is not the `next` of a page; list again without it");
  }
  if (position > 0 && canonical(keys[position - 1]) === text) return position;
  const found = keys.findIndex((key) => canonical(key) === text);
  return found === -1 ? Math.max(position - 1, 0) : found + 1;
}

/** Cuts a page out of keys that are all there. @throws Refusal `INVALID_CURSOR`. */
export function pageOfKeys(all: Iterable<unknown>, { after, limit }: AskedPage): KeyPage {
  const keys = [...all];
  const start = after === undefined ? 0 : positionOf(after, keys);
  const page = keys.slice(start, start + limit);
  const end = start + page.length;
  return end < keys.length && page.length > 0
    ? { keys: page, next: `${end} ${canonical(page.at(-1))}` }
    : { keys: page };
}
