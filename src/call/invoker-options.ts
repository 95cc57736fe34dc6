import type { AskTimeouts } from "../catalog/asking.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { CallTree } from "./call-tree.ts";

/** What an invoker is made of. */
export interface InvokerOptions {
  readonly report: FaultReporter;
  /** Told whenever a call that may have changed something has ended, before its caller is. */
  readonly onChange?: () => void;
  /** Where calls are recorded. Default: one of its own, that nobody looks at. */
  readonly tree?: CallTree | undefined;
  /** Finds what tools may call by its id: in all of the app, also what only tools may call. Default: nothing. */
  readonly find?: ((id: string) => ToolEntry | undefined) | undefined;
  /** Whether users are asked before tools run that may change something and say nothing of it themselves. Default: they are not. */
  readonly confirm?: ConfirmRule | undefined;
  /** The times that clients have to answer, as the app sets them. */
  readonly askTimeouts?: AskTimeouts | undefined;
}
