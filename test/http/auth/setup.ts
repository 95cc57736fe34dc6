import type { FaultReporter, Fault } from "../../../src/surface/fault.ts";
import {
  createAuthenticator,
  type Authenticator,
  type AuthenticatorDeps,
} from "../../../src/http/auth/create-authenticator.ts";
import { createBudgets, resolveLimits } from "../../../src/http/budgets.ts";
import { type HttpAuth, type VerifiedToken, bearer, type BearerOptions } from "../../../src/http/auth/http-auth.ts";
import type { Caller } from "../../../src/surface/caller.ts";
import type { HttpAnswer, HttpRequest } from "../../../src/http/message.ts";
import { systemClock } from "../../../src/surface/system-clock.ts";

export const resource = "https://ci.example/mcp";
export const scopes = Object.freeze({ read: "ci:read", write: "ci:write", all: ["ci:admin", "ci:read", "ci:write"] });

/** A request with these values of `Authorization`. */
export function requestWith(...values: readonly string[]): HttpRequest {
  const isIt = (name: string): boolean => name === "authorization";
  return {
    method: "POST",
    target: "/mcp?access_token=a-token-in-a-query",
    header: (name) => (isIt(name) && values.length > 0 ? values.join(", ") : undefined),
    count: (name) => (isIt(name) ? values.length : 0),
    body: (_maxBytes, done) => done("gone"),
  };
}

/** Returns a valid token, with changes. */
export function verdict(changes: Partial<Record<keyof VerifiedToken, unknown>> = {}): VerifiedToken {
  // Whatever a verifier in plain JavaScript may say.
  return { id: "alice", scopes: ["ci:read"], resource, ...changes } as VerifiedToken;
}

export interface AuthHarness {
  readonly authenticator: Authenticator;
  readonly faults: Fault[];
  readonly ask: (...values: readonly string[]) => Promise<Caller | HttpAnswer>;
}

/** Creates an authenticator that keeps its faults. */
export function createAuthHarness(auth: HttpAuth, changes: Partial<AuthenticatorDeps> = {}): AuthHarness {
  const faults: Fault[] = [];
  const report: FaultReporter = (fault) => void faults.push(fault);
  const budgets = createBudgets(resolveLimits(), () => {});
  const setting = { scopes, path: "/mcp", clock: systemClock, budgets, report, ...changes };
  const authenticator = createAuthenticator(auth, setting);
  return { authenticator, faults, ask: (...values) => authenticator.authenticate(requestWith(...values)) };
}

/** What a verifier in plain JavaScript may say of a token. */
export async function saying(said: unknown): Promise<VerifiedToken | undefined> {
  // The types that it does not keep to are what is tested.
  return said as VerifiedToken | undefined;
}

/** Creates an authenticator with a verifier. */
export function harnessVerifying(verify: BearerOptions["verify"], changes: Partial<BearerOptions> = {}): AuthHarness {
  return createAuthHarness(bearer({ resource, verify, ...changes }));
}

/** Returns status and challenge of an answer; 200 for a caller. */
export function told(found: Caller | HttpAnswer): { status: number; challenge?: string | undefined } {
  if (!("status" in found)) return { status: 200 };
  return { status: found.status, challenge: found.headers?.["www-authenticate"] };
}

export function callerOf(found: Caller | HttpAnswer): Caller {
  if ("status" in found) throw new Error(`it was answered with ${found.status}`);
  return found;
}
