import { SurfaceError } from "../errors.ts";
import { isSchema } from "../schema/standard.ts";
import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { assertResourceOptions } from "../tags/check-options.ts";
import { isMimeType } from "../tags/looks.ts";
import { resourceOptionNames } from "../tags/tool-options.ts";

/** What a hand-written resource says that is not an option of every resource. */
const ownWords: ReadonlySet<string> = new Set([
  "mimeType",
  "uri",
  "uriTemplate",
  "variables",
  "complete",
  "read",
  "watch",
]);

const keyPattern = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;
const maxKeyLength = 128;

function refuse(key: string, what: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Adding resource "${key}": ${what}`);
}

function assertHandlers(key: string, read: unknown, watch: unknown): void {
  if (typeof read !== "function") {
    throw new SurfaceError("MISSING_HANDLER", `Adding resource "${key}": its "read" must be a function`);
  }
  if (watch !== undefined && typeof watch !== "function") throw refuse(key, 'its "watch" must be a function');
}

function assertAddress(key: string, { uri, uriTemplate, variables }: Readonly<Record<string, unknown>>): void {
  if (variables !== undefined && !isSchema(variables)) throw refuse(key, 'its "variables" must be a Standard Schema');
  if (uri !== undefined && variables !== undefined) throw refuse(key, 'with "variables" its URI is a "uriTemplate"');
  if (uriTemplate !== undefined && variables === undefined) throw refuse(key, 'a "uriTemplate" needs "variables"');
}

/**
 * Refuses a hand-written resource that the compiler would have refused, for callers who cast, and values that it cannot
 * see.
 *
 * @throws SurfaceError `INVALID_NAME` for a key that no member could have, `MISSING_HANDLER`, `INVALID_OPTION`.
 */
export function assertBespokeResource(key: string, resource: unknown): void {
  if (!keyPattern.test(key) || key.length > maxKeyLength) {
    throw new SurfaceError(
      "INVALID_NAME",
      `Adding resource "${key}": its key must be letters, digits, "_" and single dots, starting with a letter, at most ${maxKeyLength} characters`,
    );
  }
  if (typeof resource !== "object" || resource === null) throw refuse(key, "it must be an object");
  // An object has keys, whatever they hold.
  const given = resource as Readonly<Record<string, unknown>>;
  // First: a misspelt field explains the missing one.
  assertKnownOptions(given, [...ownWords, ...resourceOptionNames], `Adding resource "${key}"`);
  assertHandlers(key, given["read"], given["watch"]);
  const options = Object.fromEntries(Object.entries(given).filter(([name]) => !ownWords.has(name)));
  assertResourceOptions("resource", options, `Adding resource "${key}"`);
  assertAddress(key, given);
  if (given["mimeType"] !== undefined && !isMimeType(given["mimeType"])) {
    throw refuse(key, '"mimeType" must be a type and a subtype, like "text/plain"');
  }
}
