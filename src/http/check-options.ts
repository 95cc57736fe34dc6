import { SurfaceError } from "../errors.ts";
import { defaultLimits } from "./budgets.ts";
import { assertKnownOptions, didYouMean } from "../tags/assert-known-options.ts";
import type { HttpHandlerOptions, HttpOptions, RateLimits } from "./http-options.ts";

/** What is wrong with a value, as the end of a sentence that begins with its name; `undefined`: nothing. */
type Check = (value: unknown) => string | undefined;

/** Longer times make a timer fire at once. */
const longestMs = 2 ** 31 - 1;
const most = 2 ** 31 - 1;

function between(least: number, largest: number): Check {
  return (value) => {
    const isRight = typeof value === "number" && Number.isInteger(value) && value >= least && value <= largest;
    return isRight ? undefined : `is ${JSON.stringify(value)}, it must be a whole number from ${least} to ${largest}`;
  };
}

const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");

function matching(form: RegExp, must: string): Check {
  return (value) => {
    if (typeof value === "string" && form.test(value)) return undefined;
    return `is ${JSON.stringify(value)}, it must ${must}`;
  };
}

/** A list of what has a form, not empty: one that nobody could meet is a mistake. */
function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return "must be a list";
    const problem = value.map(check).find((one) => one !== undefined);
    return problem === undefined ? undefined : `has what ${problem}`;
  };
}

function filled(check: Check): Check {
  return (value) => (Array.isArray(value) && value.length === 0 ? "must not be empty" : check(value));
}

function having(method: string, must: string): Check {
  return (value) => {
    const is = typeof value === "object" && value !== null && typeof Reflect.get(value, method) === "function";
    return is ? undefined : must;
  };
}

const callable: Check = (value) => (typeof value === "function" ? undefined : "must be a function");

const rateNames: readonly string[] = Object.keys({ perMinute: true, burst: true } satisfies Record<
  keyof RateLimits,
  true
>);

function checkRates(value: object): string | undefined {
  for (const [name, one] of Object.entries(value)) {
    if (!rateNames.includes(name)) return `has "${name}", which is not a limit${didYouMean(name, rateNames)}`;
    const problem = one === undefined ? undefined : between(1, most)(one);
    if (problem !== undefined) return `has "${name}", which ${problem}`;
  }
  return undefined;
}

function checkLimit(name: string, value: unknown): string | undefined {
  if (!Object.hasOwn(defaultLimits, name))
    return `has "${name}", which is not a limit${didYouMean(name, Object.keys(defaultLimits))}`;
  if (typeof value !== "object" || value === null) return `has "${name}", which must be an object`;
  for (const [bound, one] of Object.entries(value)) {
    if (bound !== "total" && bound !== "perCaller")
      return `has "${name}.${bound}", which must be "total" or "perCaller"`;
    const problem = one === undefined ? undefined : between(1, Number.MAX_SAFE_INTEGER)(one);
    if (problem !== undefined) return `has "${name}.${bound}", which ${problem}`;
  }
  return undefined;
}

const limits: Check = (value) => {
  if (typeof value !== "object" || value === null) return "must be an object";
  for (const [name, one] of Object.entries(value)) {
    const problem = one === undefined ? undefined : checkLimit(name, one);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const rateLimit: Check = (value) => {
  if (value === false) return undefined;
  if (typeof value !== "object" || value === null) return "must be false, limits or a limiter";
  return typeof Reflect.get(value, "limit") === "function" ? undefined : checkRates(value);
};

const hostForm = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/i;
const originForm = /^https?:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/i;

const handlerChecks: { readonly [TName in keyof Required<HttpHandlerOptions>]: Check } = {
  auth: having("verify", "must be made by bearer() or oauthResource()"),
  allowedHosts: filled(listOf(matching(hostForm, 'be a host with or without a port, like "ci.example:8443"'))),
  allowedOrigins: listOf(matching(originForm, 'be an origin, like "https://app.example"')),
  allowAnonymous: flag,
  path: matching(/^\/[^?#\s\\]*$/, 'start with "/" and have no query'),
  sessions: flag,
  maxSessions: between(1, most),
  maxSessionsPerPrincipal: between(1, most),
  sessionIdleMs: between(0, longestMs),
  maxQueued: between(1, most),
  maxInFlight: between(1, most),
  maxStreamsPerPrincipal: between(1, most),
  maxStreams: between(1, most),
  rateLimit,
  clientAddress: callable,
  limits,
  keepAliveMs: between(0, longestMs),
  stallMs: between(1, longestMs),
  drainMs: between(0, longestMs),
};

const serverChecks: { readonly [TName in keyof Required<HttpOptions>]: Check } = {
  ...handlerChecks,
  port: between(0, 65_535),
  host: matching(/^[^\s/[\]]+$/, "be a name or an address"),
  headersTimeoutMs: between(1, longestMs),
  requestTimeoutMs: between(1, longestMs),
  exit: flag,
};

function refuse(what: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Serving over HTTP: ${what}`);
}

/**
 * Refuses options that mean nothing: a name that is misspelt would leave a door open that somebody meant to shut.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertHttpOptions(options: HttpOptions, of: "handler" | "server"): void {
  const checks = new Map<string, Check>(Object.entries(of === "server" ? serverChecks : handlerChecks));
  assertKnownOptions(options, [...checks.keys()], "Serving over HTTP");
  for (const [name, value] of Object.entries(options)) {
    const problem = value === undefined ? undefined : checks.get(name)?.(value);
    if (problem !== undefined) throw refuse(`"${name}" ${problem}`);
  }
  const { headersTimeoutMs, requestTimeoutMs } = options;
  if ((headersTimeoutMs ?? 10_000) <= (requestTimeoutMs ?? 30_000)) return;
  throw refuse(`"headersTimeoutMs" is more than "requestTimeoutMs", of which it is a part`);
}
