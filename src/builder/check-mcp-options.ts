import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { assertUriPrefix } from "../catalog/assert-uri-prefix.ts";
import { askKinds, askTimeoutProblem } from "../catalog/ask-timeouts.ts";
import { SurfaceError } from "../errors.ts";
import { leastLargeBytes } from "../mcp/large-values.ts";
import { isWindow } from "../tags/check-options.ts";
import { assertIcons } from "../tags/looks.ts";
import { maxWindowMs } from "../tags/tool-options.ts";
import type { AskingOptions, McpOptions } from "./app-definition.ts";

/** Finds what is wrong with one option's value; `undefined` where nothing is. */
type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === "string" ? undefined : "must be text");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const callable: Check = (value) => (typeof value === "function" ? undefined : "must be a function");
const website: Check = (value) =>
  typeof value === "string" && /^https?:\/\/[^\s<>"]+$/i.test(value) ? undefined : "must be an https: or http: URL";
// Looked at by itself: it says more than one sentence does.
const pictures: Check = () => undefined;
const count: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "must be a whole number above 0";
const window: Check = (value) =>
  isWindow(value) ? undefined : `must be a number of milliseconds from 0 to ${maxWindowMs}`;
const bytes: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= leastLargeBytes
    ? undefined
    : `must be a whole number of bytes, at least ${leastLargeBytes}`;
const checks: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    name: text,
    version: text,
    title: text,
    description: text,
    websiteUrl: website,
    icons: pictures,
    instructions: text,
    uriPrefix: text,
    pageSize: count,
    changeWindowMs: window,
    maxResultBytes: bytes,
    maxResourceBytes: bytes,
    // Looked at by itself.
    asking: () => undefined,
    onFault: callable,
    toRefusal: callable,
  } satisfies Record<keyof McpOptions, Check>),
);

/** The least that a secret may hold, in bytes: as much as the key that is made of it. */
const leastSecretBytes = 32;

const secret: Check = (value) =>
  value instanceof Uint8Array && value.byteLength >= leastSecretBytes
    ? undefined
    : `must be a Uint8Array of at least ${leastSecretBytes} bytes`;

const askingChecks: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    secret,
    claim: callable,
    rehearse: flag,
    // Checked by assertTimeouts().
    timeoutMs: () => undefined,
  } satisfies Record<keyof AskingOptions, Check>),
);

function assertTimeouts(timeouts: unknown, doing: string): void {
  if (timeouts === undefined) return;
  assertKnownOptions(timeouts, askKinds, `${doing}: "asking.timeoutMs"`);
  for (const [kind, timeoutMs] of Object.entries(timeouts)) {
    const problem = timeoutMs === undefined ? undefined : askTimeoutProblem(timeoutMs);
    if (problem === undefined) continue;
    throw new SurfaceError("INVALID_OPTION", `${doing}: "asking.timeoutMs.${kind}" ${problem}`);
  }
}

/** What is wrong is said without what was given: a secret is no text for a log. */
function assertAsking(asking: unknown, doing: string): void {
  if (asking === undefined) return;
  if (typeof asking !== "object" || asking === null) {
    throw new SurfaceError("INVALID_OPTION", `${doing}: "asking" must be an object`);
  }
  assertKnownOptions(asking, [...askingChecks.keys()], `${doing}: "asking"`);
  for (const [key, value] of Object.entries(asking)) {
    const problem = value === undefined ? undefined : askingChecks.get(key)?.(value);
    if (problem !== undefined) throw new SurfaceError("INVALID_OPTION", `${doing}: "asking.${key}" ${problem}`);
  }
  // Two processes with one secret and a memory each would both run a call for one consent.
  const { secret: shared, claim, timeoutMs }: AskingOptions = asking;
  assertTimeouts(timeoutMs, doing);
  if (shared === undefined || claim !== undefined) return;
  const what = '"asking.secret" needs "asking.claim", which all processes share; leave both out in a single process';
  throw new SurfaceError("INVALID_OPTION", `${doing}: ${what}`);
}

/**
 * Refuses options of an app that the compiler would have refused, for callers who cast, and values that it cannot see.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertMcpOptions(options: McpOptions, surface: string): void {
  const doing = `Making an app of surface "${surface}"`;
  assertKnownOptions(options, [...checks.keys()], doing);
  for (const [key, value] of Object.entries(options)) {
    const problem = value === undefined ? undefined : checks.get(key)?.(value);
    if (problem !== undefined) throw new SurfaceError("INVALID_OPTION", `${doing}: "${key}" ${problem}`);
  }
  assertAsking(options.asking, doing);
  assertIcons(options.icons, doing);
  if (options.uriPrefix !== undefined) assertUriPrefix(options.uriPrefix);
}
