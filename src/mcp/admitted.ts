import type { CallContext } from "../call/call-context.ts";
import type { Caller } from "../surface/caller.ts";
import type { LastSteps } from "./last-steps.ts";
import type { Method } from "./methods.ts";
import type { RequestFrame } from "./parse-frame.ts";
import type { Era } from "./protocol.ts";

/** A request that may be served. */
export interface Admitted {
  readonly frame: RequestFrame;
  readonly era: Era;
  readonly caller: Caller;
}

/** A request with its method. */
export interface HotRun {
  readonly frame: RequestFrame;
  readonly method: Method;
  readonly era: Era;
  readonly call: CallContext;
  /** Where its client asked for progress. */
  readonly steps: LastSteps | undefined;
}
