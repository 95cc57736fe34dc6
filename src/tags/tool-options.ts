import type { Caller } from "../surface/caller.ts";
import type { SurfaceClient } from "../surface/client.ts";
import type { DisplayMetadata } from "./display-metadata.ts";
import type { ScopeOptions } from "./scopes.ts";
import type { ToolUiOptions } from "./tool-ui.ts";
import type { TypeProblem } from "./type-problem.ts";

/** The text that a user reads before a tool runs: a sentence, or a sentence and further lines. */
export type ConfirmText = string | ConfirmLines;

/** A sentence that asks for consent, and the lines below it. */
export interface ConfirmLines {
  /** One line. Of a long text, the user sees the start and the end of 1,024 characters. */
  readonly message: string;
  /** One line each. At most 20 lines are shown, with 2,048 characters together. @default none */
  readonly details?: string | readonly string[];
}

/** The second argument of a function of the option `confirm`. */
export interface ConfirmContext<TSpec = unknown> {
  /** The surface behind the app. Calls with it are anonymous unless they name the caller: `client.x.call(input, { caller })`. */
  readonly client: SurfaceClient<TSpec>;
  /** The caller whose user is asked. */
  readonly caller: Caller;
}

// As a method, so that an author may annotate `context` with the members of their surface. A tag is written before its surface,
// and cannot know them.
interface ConfirmWriter<TInput, TSpec> {
  write(input: TInput, context: ConfirmContext<TSpec>): ConfirmText | PromiseLike<ConfirmText>;
}

/**
 * Writes the question to the user before a tool runs. The tool's name and arguments always stand below it. The function is called
 * again after the user has agreed: if it then returns another text, the user is asked once more. So it must depend on state and
 * arguments only, not on the time.
 */
export type ConfirmFunction<TInput = unknown, TSpec = unknown> = ConfirmWriter<TInput, TSpec>["write"];

/**
 * Arguments that the tools of some kinds take in addition to the member's input. A member whose input has a field of the same
 * name cannot be a tool.
 */
export const syntheticFields = {
  event: ["since", "timeout_ms"],
  stream: ["max_items", "wait_ms"],
} as const;

/** The synthetic arguments of a kind's tools; `never` for other kinds. */
export type SyntheticField<TKind> = TKind extends keyof typeof syntheticFields
  ? (typeof syntheticFields)[TKind][number]
  : never;

/** Options of a resource. */
export interface ResourceOptions extends DisplayMetadata, ScopeOptions {
  /** Shown to people. @default the member's title */
  readonly title?: string;
  /** Read by the model: put the key fact first, at most 2 KB. @default the member's description */
  readonly description?: string;
  /**
   * Milliseconds between two notifications of changes, after the first four at once. The last change is always announced. At most
   * 60,000.
   * @default the app's `changeWindowMs`
   */
  readonly windowMs?: number;
}

/** Returns the summary of an item, as JSON, for the list of a collection. */
export type SummariseItem<TKey, TItem> = (item: TItem, key: TKey) => unknown;

/** Options of a collection as a resource. */
export interface CollectionResourceOptions<TKey = never, TItem = never> extends ResourceOptions {
  /** The content of the list: the keys, or pages of keys with their items, or with a summary of each item. @default "keys" */
  readonly list?: "keys" | "items" | SummariseItem<TKey, TItem>;
  /** The description of the list, for the model. `description` describes an item. @default derived from `description` */
  readonly listDescription?: string;
  /**
   * Whether each item is listed as a resource, up to 1,000 of them, with a notification when items come or go. For collections
   * whose items a person would pick from a list. Otherwise the keys are a resource, and the items a template.
   * @default false
   */
  readonly listItems?: boolean;
}

/**
 * Options of a tool, the same for tags, `expose` and bespoke tools. The four hints become MCP tool annotations. `readOnlyHint`
 * and `idempotentHint` are left out if they are false, the default of the protocol.
 */
export interface ToolOptions extends DisplayMetadata, ScopeOptions, Pick<ResourceOptions, "title" | "description"> {
  /** Whether a call may change anything. @default true for procedures and bespoke tools; always false for streams and events */
  readonly mutates?: boolean;
  /** Whether a change can be hard to undo. @default the value of `mutates` */
  readonly destructive?: boolean;
  /** Whether a second call with the same arguments changes nothing more. @default true if it does not mutate */
  readonly idempotent?: boolean;
  /** Whether a call reaches beyond this application (the web, mail, other people). @default false */
  readonly openWorld?: boolean;
  /**
   * Milliseconds until a call answers `TIMEOUT` and its signal fires, including the time of questions to its client; at most
   * 600,000. Only the default pauses while a question is open.
   * @default 60_000
   */
  readonly timeoutMs?: number;
  /**
   * The reaction of a call when its client drops the connection of an HTTP session: `"finish"` lets the call run, and the client
   * can fetch the answer later; `"abort"` ends this call, in a gateway's batch no other. Only clients up to 2025-11-25 have
   * sessions; for later clients a dropped connection always ends the call.
   * @default "finish"
   */
  readonly onDisconnect?: OnDisconnect;
  /**
   * Asks the user before each call, with the tool's title and its actual arguments. A function writes the question above them. A
   * client that cannot ask its user is refused, unless `otherwise` is `"allow"`. The model cannot consent for its user.
   * @default the app's `confirm()`; without one the user is not asked
   */
  readonly confirm?: Confirm;
  /** The page that hosts with MCP Apps show with the result, and the users of the tool. @default no page, for the model and pages */
  readonly ui?: ToolUiOptions;
}

/** The option to ask the user before a tool runs. A function is short for `{ message }`. */
export type Confirm<TInput = unknown, TSpec = unknown> =
  | boolean
  | ConfirmFunction<TInput, TSpec>
  | ToolConfirmOptions<TInput, TSpec>;

/** Options of the question to a user before a tool runs. */
export interface ConfirmOptions {
  /** The reaction to a call whose client cannot ask its user. @default "refuse" */
  readonly otherwise?: "refuse" | "allow";
}

/** Options of the question to a user before one tool runs. */
export interface ToolConfirmOptions<TInput = unknown, TSpec = unknown> extends ConfirmOptions {
  /** Writes the question above the tool's name and arguments. @default no text */
  readonly message?: ConfirmFunction<TInput, TSpec>;
  /**
   * A word that the user must type into the form, for example `"CLOSE"`. Some hosts accept a form without fields automatically.
   * @default a form without fields
   */
  readonly type?: string;
}

/**
 * The option `confirm` of an entry. `"never"` overrides the app's `confirm()`; the others say what happens if a client cannot
 * ask.
 */
export type ConfirmRule = "never" | "refuse" | "allow";

/** The reaction of a call when its client drops the connection. */
export type OnDisconnect = "abort" | "finish";

/** The options of a tag of either kind. */
export type TagOptions = ToolOptions & CollectionResourceOptions;

/** The default timeout of a call, in milliseconds. */
export const defaultTimeoutMs = 60_000;

/** The default of `onDisconnect`. */
export const defaultOnDisconnect: OnDisconnect = "finish";

/** `unknown` when every key of `TOptions` is a tool option, else a problem that names the other keys. */
export type OnlyToolOptions<TOptions> = [Exclude<keyof TOptions, keyof ToolOptions>] extends [never]
  ? unknown
  : TypeProblem<`"${Exclude<keyof TOptions, keyof ToolOptions> & string}" is not an option`>;
