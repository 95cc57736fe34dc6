import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { Clock } from "../../spine/clock.ts";
import { handleThrown } from "../../spine/handle-thrown.ts";
import { withIdentityClaims, type Caller } from "../../surface/caller.ts";
import {
  claimsField,
  type CallerField,
  filledField,
  readFields,
  resourcesField,
  scopesField,
  textField,
} from "./caller-fields.ts";

/** Options of {@link readVerdict}. */
export interface VerdictOptions {
  /** The verified token. The verdict must not contain it. */
  readonly token: string;
  readonly resource: string;
  /** Receives a message about a valid token for another resource: often one of the two places has a misspelt URL. */
  readonly elsewhere?: (message: string) => void;
  /** Seconds since 1970. */
  readonly now: number;
  /** Names of the claims that are part of a caller's identity. @default all claims */
  readonly identityClaims?: readonly string[] | undefined;
}

const maxShownBytes = 256;

/** Shorter tokens are no secrets, and other texts contain them by chance. */
const shortestSecret = 16;

const seconds: CallerField = {
  copy: (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined),
  rule: "a number of seconds",
};

const fields = {
  id: { ...filledField, isRequired: true },
  issuer: textField,
  scopes: scopesField,
  clientId: textField,
  expiresAt: seconds,
  resources: resourcesField,
  claims: claimsField,
};

const validityFields = {
  expiresAt: seconds,
  notBefore: seconds,
  revoked: { copy: (value: unknown) => (value instanceof AbortSignal ? value : undefined), rule: "an AbortSignal" },
};

/** The time in which a token is valid, and the signal that fires when it is revoked. */
interface Validity {
  readonly expiresAt?: number;
  readonly notBefore?: number;
  readonly revoked?: AbortSignal;
}

function refuse(problem: string): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", `Cannot verify a token: the verifier's ${problem}`);
}

/** Returns the names in an audience. An empty audience is no fault of the verifier: such a token is not valid here. */
function readAudience(audience: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  const names = all.filter((one) => one !== undefined && one !== null);
  return names.map((one) => {
    if (typeof one === "string") return one;
    if (one instanceof URL) return one.href;
    throw refuse('"resource" must be a text, a URL, or a list of them');
  });
}

function describeElsewhere(audience: readonly string[], resource: string): string {
  const named = audience.length === 0 ? "no resource" : `"${clipText(audience.join('", "'), maxShownBytes)}"`;
  return `Cannot verify a token: it is for ${named}, and this server is "${resource}"; the two texts must be equal`;
}

function isInForce({ revoked, expiresAt = Infinity, notBefore = 0 }: Validity, now: number): boolean {
  if (revoked?.aborted !== true) return notBefore <= now && now < expiresAt;
  handleThrown(revoked.reason);
  return false;
}

/**
 * Creates a caller from a verifier's answer about a token. Copies the answer. Returns `undefined` for a token that is not valid: the
 * verifier refused it, it is for another resource, it was revoked, or it is not valid now.
 *
 * @throws SurfaceError `INVALID_OUTPUT` for an invalid answer. The message does not contain the token.
 */
export function readVerdict(verdict: unknown, setting: VerdictOptions): Caller | undefined {
  const { token, resource, now, elsewhere, identityClaims } = setting;
  if (verdict === undefined || verdict === null || verdict === false) return undefined;
  if (typeof verdict !== "object") throw refuse("answer must be an object or undefined");
  // Each field has the type of its copy.
  const caller = Object.freeze({ isAnonymous: false, ...readFields(verdict, fields, refuse) } as Caller);
  const audience = readAudience(Reflect.get(verdict, "resource"));
  if (!audience.includes(resource)) {
    elsewhere?.(describeElsewhere(audience, resource));
    return undefined;
  }
  // As above.
  const validity = readFields(verdict, validityFields, refuse) as Validity;
  if (!isInForce(validity, now)) return undefined;
  if (token.length >= shortestSecret && JSON.stringify(caller).includes(token))
    throw refuse("answer must not contain the token");
  return withIdentityClaims(withRevocation(caller, validity.revoked), identityClaims);
}

/** A symbol: copied with a caller, but not listed or serialized, since handlers and workers must not get the signal. */
const kRevoked: unique symbol = Symbol("revoked");

/** Returns a caller with the signal that fires when the token is revoked. */
export function withRevocation(caller: Caller, revoked: AbortSignal | undefined): Caller {
  return revoked === undefined ? caller : Object.freeze({ ...caller, [kRevoked]: revoked });
}

/** Returns the signal that fires when the token of a caller is revoked, if there is one. */
export function revocationOf(caller: Caller): AbortSignal | undefined {
  const revoked: unknown = Reflect.get(caller, kRevoked);
  return revoked instanceof AbortSignal ? revoked : undefined;
}

/** Longest delay of a timer in Node, in milliseconds. A longer one fires at once. */
const longestMs = 2 ** 31 - 1;

function afterLong(clock: Clock, delayMs: number, run: () => void): () => void {
  if (delayMs <= longestMs) return clock.after(delayMs, run);
  let stop = clock.after(longestMs, () => {
    stop = afterLong(clock, delayMs - longestMs, run);
  });
  return () => stop();
}

/** Calls `run` once, when the token of a caller expires or is revoked. Returns a function that prevents it. */
export function onTokenExpiry(clock: Clock, caller: Caller, run: () => void): () => void {
  const { expiresAt } = caller;
  const revoked = revocationOf(caller);
  if (expiresAt === undefined && revoked === undefined) return () => {};
  const over = (): void => {
    stop();
    handleThrown(revoked?.reason);
    run();
  };
  const leftMs = expiresAt === undefined ? undefined : Math.max(0, expiresAt * 1000 - Date.now());
  const stopTimer = leftMs === undefined ? undefined : afterLong(clock, leftMs, over);
  // Later, because the caller of this function has not finished its own setup.
  const stopSoon = revoked?.aborted === true ? clock.after(0, over) : undefined;
  revoked?.addEventListener("abort", over);
  const stop = (): void => {
    stopTimer?.();
    stopSoon?.();
    revoked?.removeEventListener("abort", over);
  };
  return stop;
}
