import type { SurfaceClient } from "../surface/client.ts";
import type { ConfirmFunction } from "../tags/confirm-text.ts";
import type { ConfirmedCall, ToolEntry } from "./entry.ts";
import { runHandler } from "./handler-fault.ts";

/** What a function of `confirm` is bound to. */
interface ConfirmDeps {
  readonly client: SurfaceClient<unknown>;
  /** Names the tool in faults. */
  readonly origin: string;
  /** Returns the validated arguments, now or later. @default the `input` of the call */
  readonly inputOf?: ((call: ConfirmedCall) => unknown) | undefined;
}

/** Binds an author's function of `confirm` to a tool; `undefined` without a function. */
export function toConfirmText(
  write: ConfirmFunction | undefined,
  { client, origin, inputOf }: ConfirmDeps,
): ToolEntry["confirmText"] {
  if (write === undefined) return undefined;
  return async (call) => {
    const input: unknown = inputOf === undefined ? call.input : await inputOf(call);
    return runHandler<unknown>(() => write(input, { client, caller: call.caller }), origin);
  };
}
