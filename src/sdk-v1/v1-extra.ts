import { maxAskTimeoutMs } from "../catalog/ask-timeouts.ts";
import type { V1RequestInfo } from "./v1-server.ts";

/** Milliseconds that the SDK itself waits for an answer: longer than any question may take, so that ours is the time that holds. */
export const outerTimeoutMs: number = maxAskTimeoutMs + 60_000;

/** How the SDK is to wait for an answer of its client's. */
export interface V1RequestOptions {
  readonly timeout: number;
  /** Has it tell its client that nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What a handler is given beside the request. */
export interface V1Extra extends V1RequestInfo {
  /** Fires when the client cancels, and when the connection closes. */
  readonly signal: AbortSignal;
  /** Sends it where the request came from. */
  sendNotification(notification: object): Promise<void>;
  /** The same of a request to the client. */
  sendRequest(request: object, schema: V1Schema, options: V1RequestOptions): Promise<unknown>;
}

/** One request, as the server hands it over. */
export interface V1Asked {
  readonly method: string;
  readonly params: unknown;
  readonly extra: V1Extra;
}

/** What the SDK reads with: its versions of zod have these two in common, and it asks nothing more of one that it did not make. */
export interface V1Schema {
  parse(value: unknown): unknown;
  safeParse(value: unknown): { readonly success: true; readonly data: unknown };
}

/** A schema by which it reads the requests of one method. */
export interface V1RequestSchema extends V1Schema {
  readonly shape: { readonly method: { readonly value: string; readonly _def: { readonly value: string } } };
}

function toSchema(take: (value: unknown) => unknown): V1Schema {
  return Object.freeze({ parse: take, safeParse: (value: unknown) => ({ success: true, data: take(value) }) as const });
}

/** Takes everything as it is. */
export const anything: V1Schema = /* @__PURE__ */ toSchema((value) => value);

const kRequest = Symbol("request");

/**
 * A schema that takes every request of a method, and hands it on unread: of a call the SDK checks the params before any handler
 * sees them, and says so in words of its validator. What it looks at instead is nobody's, and always right.
 */
export function requestsOf(method: string): V1RequestSchema {
  const carry = (request: unknown): object => ({ method, params: { name: method }, [kRequest]: request });
  return Object.freeze({ shape: { method: { value: method, _def: { value: method } } }, ...toSchema(carry) });
}

/** The params of a request that was read by {@link requestsOf}, as they came. */
export function paramsOf(carried: object): unknown {
  const request: unknown = Reflect.get(carried, kRequest);
  return typeof request === "object" && request !== null ? Reflect.get(request, "params") : undefined;
}
