import type { Caller } from "../surface/caller.ts";
import type { SurfaceClient } from "../surface/client.ts";

/** The text that a user reads before a tool runs: a sentence, or a sentence and further lines. */
export type ConfirmText = string | ConfirmLines;

/** A sentence that asks for consent, and the lines below it. */
export interface ConfirmLines {
  /** One line. Of a long text, the user sees the start and the end of 1,024 characters. */
  readonly message: string;
  /** One line each. At most 20 lines are shown, with 2,048 characters together. @default none */
  readonly details?: string | readonly string[];
}

/** What a function of the option `confirm` receives besides the arguments. */
export interface ConfirmContext<TSpec = unknown> {
  /** The surface behind the app. Calls with it are anonymous unless they name the caller: `client.x.call(input, { caller })`. */
  readonly client: SurfaceClient<TSpec>;
  /** The caller whose user is asked. */
  readonly caller: Caller;
}

// As a method, so that an author may annotate `context` with the members that their surface has. A tag is written before its
// surface, and cannot know them.
interface ConfirmWriter<TInput, TSpec> {
  write(input: TInput, context: ConfirmContext<TSpec>): ConfirmText | PromiseLike<ConfirmText>;
}

/**
 * Writes the question that a user is asked before a tool runs. The name of the tool and its arguments always stand below it. The
 * function is called again once the user has agreed: if it returns another text, the user is asked once more. So it must depend on
 * state and arguments only, not on the time.
 */
export type ConfirmFunction<TInput = unknown, TSpec = unknown> = ConfirmWriter<TInput, TSpec>["write"];
