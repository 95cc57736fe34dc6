import { Refusal, SurfaceError } from "../../errors.ts";
import { createIssue } from "../../schema/render-issues.ts";
import { validateInput } from "../../schema/validate.ts";
import type { MaybeSchema } from "../member.ts";
import type { PageUse, SourceUse } from "../source.ts";
import { canonical } from "./canonical.ts";

/** The number of items of a page whose reader says nothing. */
const defaultLimit = 100;

/** The highest number of items of a page, and of the keys of a collection that pages. */
export const maxPage = 1000;

/** A page that is asked for, checked. */
export type AskedPage = Omit<PageUse<unknown>, "signal">;

/** Makes the error of a page that does not fit. */
export function refusePage(where: string, field: string, message: string): SurfaceError {
  const issues = [createIssue([field], message)];
  return new SurfaceError("VALIDATION_ERROR", `Cannot list ${where}: the page does not fit`, { issues });
}

/** Checks a page that a client asks for, but for its filter. @throws SurfaceError `VALIDATION_ERROR`. */
export function readPage(given: unknown, where: string): AskedPage {
  const page: { readonly after?: unknown; readonly limit?: unknown; readonly filter?: unknown } =
    typeof given === "object" && given !== null ? given : {};
  const { after, limit = defaultLimit, filter } = page;
  if (after !== undefined && typeof after !== "string")
    throw refusePage(where, "after", "expected the `next` of a page");
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > maxPage) {
    throw refusePage(where, "limit", `expected a whole number from 1 to ${maxPage}`);
  }
  return { after, limit, filter };
}

/**
 * Returns what the schema of a filter makes of an empty one, which leaves out nothing.
 *
 * @throws SurfaceError `INVALID_MEMBER` for a schema that refuses it.
 */
export function readAll(filter: MaybeSchema, where: string): unknown {
  if (filter === undefined) return undefined;
  const checked = validateInput(filter, {});
  if (!(checked instanceof Promise) && checked.ok) return checked.value;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Implementing ${where}: its filter must accept {}, at once; make every field optional`,
  );
}

/** The context of the read of a page. Its signal is made only if the source asks for it. */
export function toPageUse(asked: AskedPage, use: SourceUse): PageUse<unknown> {
  return {
    ...asked,
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
export function pageOfKeys(all: Iterable<unknown>, { after, limit }: Pick<AskedPage, "after" | "limit">): KeyPage {
  const keys = [...all];
  const start = after === undefined ? 0 : positionOf(after, keys);
  const page = keys.slice(start, start + limit);
  const end = start + page.length;
  return end < keys.length && page.length > 0
    ? { keys: page, next: `${end} ${canonical(page.at(-1))}` }
    : { keys: page };
}
