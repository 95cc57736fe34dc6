import type { Caller } from "../../surface/caller.ts";
import type { Clock } from "../../spine/clock.ts";
import { toScopeError, type RpcError } from "../protocol.ts";
import type { AppRuntime } from "../servable-app.ts";
import type { Outbox } from "./outbox.ts";
import type { WatchShared } from "./topic-watch.ts";

/** What all subscriptions over one output are made of. */
export interface WatchSetting {
  readonly runtime: Pick<AppRuntime, "resourcesFor" | "lacking" | "changing">;
  readonly outbox: Outbox;
  /** Writes one frame to the client. */
  readonly send: (json: string) => void;
  readonly clock: Clock;
  /** Told when what a request names is looked up. */
  readonly reached?: ((stage: "gate") => void) | undefined;
}

/** What the watches of one caller share. */
export function toWatchShared({ runtime, outbox, send }: WatchSetting, caller: Caller): WatchShared {
  return { resources: runtime.resourcesFor(caller), outbox, send };
}

/**
 * The error for URIs that a caller lacks something for; `undefined` where they may watch whatever of them there is. It names
 * what all of them take, so that one more consent is enough.
 */
export function refuseLacking(
  uris: readonly string[],
  caller: Caller,
  runtime: WatchSetting["runtime"],
): RpcError | undefined {
  if (!uris.some((uri) => runtime.lacking(uri, caller) !== undefined)) return undefined;
  const nothingGranted: Caller = { ...caller, scopes: [] };
  return toScopeError([...new Set(uris.flatMap((uri) => runtime.lacking(uri, nothingGranted) ?? []))]);
}
