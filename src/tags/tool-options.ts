import type { Caller } from "../surface/caller.ts";
import type { SurfaceClient } from "../surface/client.ts";
import type { Looks } from "./looks.ts";
import type { ScopeOptions } from "./scopes.ts";
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

/**
 * Arguments that the tools of some kinds take besides the member's own input. A member whose input has a field of the
 * same name cannot be a tool: the agent could not say which one it means.
 */
export const syntheticFields = {
  event: ["since", "timeout_ms"],
  stream: ["max_items", "wait_ms"],
} as const;

/** The synthetic arguments of a kind's tools; `never` for kinds that have none. */
export type SyntheticField<TKind> = TKind extends keyof typeof syntheticFields
  ? (typeof syntheticFields)[TKind][number]
  : never;

/** What an author may say about a resource, beside its definition. */
export interface ResourceOptions extends Looks, ScopeOptions {
  /** Shown to people. Default: the member's own. */
  readonly title?: string;
  /** Read by the model: keep the key fact first, at most 2 KB. Default: the member's own. */
  readonly description?: string;
  /**
   * Milliseconds until one more change may be announced, after the first four at once; the last change is always announced.
   * At most 60,000. @default the app's `changeWindowMs`
   */
  readonly windowMs?: number;
}

/** Makes the summary of an item, as JSON, for the list of a collection. */
export type SummariseItem<TKey, TItem> = (item: TItem, key: TKey) => unknown;

/** What an author may say about a collection as a resource. */
export interface CollectionResourceOptions<TKey = never, TItem = never> extends ResourceOptions {
  /**
   * The content of the list: the keys; or pages of keys with their items, or with what a function makes of each item.
   *
   * @default "keys"
   */
  readonly list?: "keys" | "items" | SummariseItem<TKey, TItem>;
  /** The description of the list, for the model. `description` is that of an item. @default made of `description` */
  readonly listDescription?: string;
  /**
   * List its items too, each as a resource of its own, up to 1,000 of them, and announce when items come or go. For
   * collections whose items a person would pick from a list. Default `false`: its keys are a resource, its items a template.
   */
  readonly listItems?: boolean;
}

/**
 * What an author may say about a tool: one set of options for tags, `expose` and bespoke tools alike. The four hints
 * become MCP tool annotations. `readOnlyHint` and `idempotentHint` are left out where they are false, the default of the protocol.
 */
export interface ToolOptions extends Looks, ScopeOptions, Pick<ResourceOptions, "title" | "description"> {
  /** Does a call change anything? Default `true` for procedures and bespoke tools; stream and event tools never do. */
  readonly mutates?: boolean;
  /** Can a change be hard to undo? Default: the same as `mutates`. */
  readonly destructive?: boolean;
  /** Is calling twice with the same arguments the same as calling once? Default: `true` when it does not mutate. */
  readonly idempotent?: boolean;
  /** Does it reach beyond this application (the web, mail, other people)? Default `false`. */
  readonly openWorld?: boolean;
  /**
   * Milliseconds after which a call answers `TIMEOUT` and its signal fires, the time of questions to its client included; at most
   * 600,000. The default stands still while a question is open. @default 60_000
   */
  readonly timeoutMs?: number;
  /**
   * What becomes of a call when the client of a session over HTTP drops the connection that it was made on: `"finish"` lets
   * it run, and the client may ask for its answer again; `"abort"` ends it. Only sessions, which clients up to 2025-11-25
   * have, leave the choice: for later ones a dropped connection always ends the call. Behind a gateway it ends this call of
   * a batch and no other. Default `"finish"`.
   */
  readonly onDisconnect?: OnDisconnect;
  /**
   * Asks the user before each call, with the tool's title and its actual arguments. A function writes the question above them. A
   * client that cannot ask its user is refused, unless `otherwise` says `"allow"`. A model's word is never consent.
   * @default the app's `confirm()`; without one the user is not asked
   */
  readonly confirm?: Confirm;
}

/** Whether and how the user is asked before a tool runs. A function is short for `{ message }`. */
export type Confirm<TInput = unknown, TSpec = unknown> =
  | boolean
  | ConfirmFunction<TInput, TSpec>
  | ToolConfirmOptions<TInput, TSpec>;

/** How a user is asked before a tool runs. */
export interface ConfirmOptions {
  /** What becomes of a call whose client cannot ask its user. Default `"refuse"`. */
  readonly otherwise?: "refuse" | "allow";
}

/** The question to the user before one tool runs. */
export interface ToolConfirmOptions<TInput = unknown, TSpec = unknown> extends ConfirmOptions {
  /** Writes the question, which stands above the tool's name and arguments. @default no text of yours */
  readonly message?: ConfirmFunction<TInput, TSpec>;
  /**
   * A word that the user must type into the form, for example `"CLOSE"`. Some hosts accept a form without fields by themselves.
   * Default: a form without fields.
   */
  readonly type?: string;
}

/** The same, as an entry keeps it. `"never"`: its author says that it is not asked, whatever the app says. */
export type ConfirmRule = "never" | "refuse" | "allow";

/** What becomes of a call whose connection its client drops. */
export type OnDisconnect = "abort" | "finish";

/** What a tag of either kind has kept of its author's words. */
export type TagOptions = ToolOptions & CollectionResourceOptions;

/** The longest time between two notices that an author may ask for, in milliseconds. */
export const maxWindowMs = 60_000;

/** The longest call that an author may allow, in milliseconds. */
export const maxTimeoutMs = 600_000;

/** The deadline of a call whose author said nothing, in milliseconds. */
export const defaultTimeoutMs = 60_000;

/** What becomes of a call whose author said nothing. */
export const defaultOnDisconnect: OnDisconnect = "finish";

/** `unknown` when every key of `TOptions` is a tool option, else a problem naming the first that is not. */
export type OnlyToolOptions<TOptions> = [Exclude<keyof TOptions, keyof ToolOptions>] extends [never]
  ? unknown
  : TypeProblem<`"${Exclude<keyof TOptions, keyof ToolOptions> & string}" is not an option`>;
