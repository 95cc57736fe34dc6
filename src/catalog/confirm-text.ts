import type { SurfaceClient } from "../surface/client.ts";
import type { ConfirmFunction } from "../tags/confirm-text.ts";
import type { ToolEntry } from "./entry.ts";
import { runHandler } from "./handler-fault.ts";

/** What a function of `confirm` is bound to. */
interface ConfirmDeps {
  readonly client: SurfaceClient<unknown>;
  /** Names the tool in faults. */
  readonly origin: string;
}

/** Binds an author's function of `confirm` to a tool; `undefined` without a function. */
export function toConfirmText(
  write: ConfirmFunction | undefined,
  { client, origin }: ConfirmDeps,
): ToolEntry["confirmText"] {
  if (write === undefined) return undefined;
  return ({ input, caller }) => runHandler<unknown>(() => write(input, { client, caller }), origin);
}
