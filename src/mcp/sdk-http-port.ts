import type { CallStage } from "../call/call-context.ts";
import type { RateLimiter } from "../call/rate-limiter.ts";
import type { Caller } from "../surface/caller.ts";
import type { RequestFrame } from "./parse-frame.ts";
import type { RpcError } from "./protocol.ts";
import type { AppRuntime } from "./servable-app.ts";

/** One request of the modern era for the SDK, which came by HTTP and was checked. */
export interface SdkAsked {
  readonly frame: RequestFrame;
  /** The headers that say what the body says, as they came. */
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly limiter: RateLimiter | undefined;
  readonly reached: (stage: CallStage) => void;
  /** Ends it early. */
  readonly signal: AbortSignal;
  /** Told what is said under way, each as the text of one message. */
  readonly tell: (json: string) => void;
}

/** What the SDK answers: a result as the text of one message, or an error and its status. */
export type SdkAnswer =
  | { readonly kind: "result"; readonly json: string }
  | { readonly kind: "error"; readonly status: number; readonly error: RpcError };

/** Has the SDK answer one request. `undefined` where it was ended early. Never rejects. */
export type SdkExchange = (asked: SdkAsked) => Promise<SdkAnswer | undefined>;

/** Makes what has the SDK answer requests to an app. It keeps nothing from one to the next. */
export type SdkExchangeMaker = (runtime: AppRuntime) => SdkExchange;
