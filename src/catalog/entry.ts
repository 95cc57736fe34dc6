import type { JsonObject, JsonSchema } from "../schema/json.ts";
import type { Schema } from "../schema/standard.ts";
import type { Caller } from "../surface/caller.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { UseOptions } from "../surface/client.ts";
import type { TraceContext } from "../surface/trace-context.ts";
import type { Icon } from "../tags/display-metadata.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import type { ConfirmRule, OnDisconnect } from "../tags/tool-options.ts";
import type { ToolAudience } from "../tags/tool-ui.ts";
import type { InputRequest } from "./asking/asking.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { UriSegment } from "./uri-syntax.ts";

/** The progress of a call. `progress` must grow from report to report; MCP clients show `message`. */
export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  /** The `_meta` of the report. At most 4 KiB of JSON; more is left out. */
  readonly meta?: JsonObject;
}

/** The severity of a log entry; the levels of RFC 5424. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** One entry of the client's log. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Any JSON. */
  readonly data: unknown;
  readonly logger?: string;
}

/** One call or read, as an entry sees it. */
export interface EntryCall {
  /** Writes to the client's log if the client has asked for that level. Left out where there is no client. */
  readonly log?: ((entry: LogEntry) => void) | undefined;
  /** Fires when the caller cancels, the deadline passes or the app closes. Created on first use. */
  readonly signal: AbortSignal;
  /** Follows the signal without creating it. @default follows the signal */
  whenAborted?(callback: (reason: unknown) => void): () => void;
  readonly caller: Caller;
  /** The trace context for handlers and links. @default none */
  readonly trace?: TraceContext | undefined;
  /** Milliseconds for which the client had questions open, by which the deadline moves. @default 0 */
  readonly heldMs?: number;
  progress(report: ProgressReport): void;
  /** Calls a tool as a part of this call, and ends it no later than this call. Never rejects. */
  nest(nested: NestedCall): Promise<ToolOutcome>;
  /** Returns whether the user is asked before a nested tool runs. Left out: never. */
  isConfirmed?(entry: ToolEntry): boolean;
  /**
   * Asks the client. Resolves with its answer.
   *
   * @param key - names the question within this call.
   * @throws Refusal `CLIENT_CANNOT`, `ASK_FAILED`, `ASK_TIMEOUT`.
   * @throws SurfaceError `INPUT_REQUIRED` if the answer comes with another request, which runs the handler again.
   */
  ask(key: string, ask: InputRequest): Promise<JsonObject>;
  /** Identifies the run of the call: the same when it runs again with an answer. Different on each read if nothing runs again. */
  readonly runId?: string;
  /** Calls `changed` when the client announces other roots, for as long as the call runs. Returns a function that stops it. */
  onRoots(changed: () => void): () => void;
  /** Adds members to the `_meta` of the result, also of an error. */
  addMeta(members: JsonObject): void;
  /** Notes that the call ends before anything of it was sent to the application. */
  unsent?(): void;
}

/** A call within a call. */
export interface NestedCall {
  /** An entry that was looked up for the caller, or an id within the reach of the calling tool. */
  readonly target: { readonly entry: ToolEntry } | { readonly id: string };
  readonly args: JsonObject;
  /** The scopes of the call: the caller's own, for a tool that only forwards the call, or the declared authority of the calling tool. */
  readonly as: "caller" | "tool";
  /** Returns whether the caller may still see the entry. @default it may not */
  readonly stillShown?: (() => boolean) | undefined;
  /**
   * Called when the user has confirmed the call. Its handler starts when the promise resolves, with the time when the call must be
   * over as in `deadlineAt`. Used for a tool that is confirmed only ({@link EntryCall.isConfirmed}). @default it starts at once
   */
  readonly turn?: (() => Promise<number>) | undefined;
  /** Receives the `_meta` members of the nested result. Must not throw. @default merges them into the `_meta` of the outer result */
  readonly onMeta?: ((members: JsonObject) => void) | undefined;
  /** The deadline, as `performance.now()`; at most that of the outer call. @default the timeout of the tool */
  readonly deadlineAt?: number | undefined;
  /** Whether `deadlineAt` holds although the client is being asked. @default false */
  readonly countsQuestions?: boolean | undefined;
  /** The effect on a started nested call when the outer call ends early. @default "abort-dependents" */
  readonly onAbort?: OnAbort | undefined;
  /** Receives its progress. @default drops it */
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  /** Receives the running work of a call that was ended early, before its outcome. */
  readonly onOverrun?: ((work: Promise<unknown>) => void) | undefined;
}

/** The effect on nested calls when the outer call ends early. */
export type OnAbort = "abort-dependents" | "continue-running";

/** The annotations of a tool; `tools/list` leaves out the protocol's defaults. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The input of a tool. */
export interface ToolInput {
  /** One plain object with `properties`, frozen: no alternatives at the root, which providers refuse. */
  readonly json: JsonSchema;
  /** Keywords at the root of the validating schema, which {@link ToolInput.json} replaces by text. */
  readonly refusedKeywords?: readonly string[] | undefined;
  /** Converts arguments to the input of `check` and `run`. @throws SurfaceError `VALIDATION_ERROR`. */
  decode(args: JsonObject): unknown;
  /** The name of the value itself in an issue: `"value"` if it travels under that key, else empty. */
  readonly root: string;
}

/** The output of a tool. */
export interface ToolOutput {
  /** Root `type: "object"`, frozen; `undefined` without an output schema. */
  readonly json: JsonSchema | undefined;
  /** Returns the text of a JSON object. @throws SurfaceError `UNSERIALISABLE`. */
  stringify(value: unknown): string;
  /** `"may"`: a result may be content blocks, by `content()`. `"always"`: for `richContent`. {@link stringify} then writes `structuredContent`. */
  readonly rich?: "may" | "always";
  /** Returns whether a result reports a failure. Left out: the tool throws a refusal instead. */
  isError?(value: unknown): boolean;
}

/** The schemas of a tool that this process validates itself. */
export interface OwnSchemas {
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
}

/** The rights that an entry requires of its callers. */
export interface EntryGuard {
  /** The scopes that known callers must have, all of them: a default, and the author's. Never empty. */
  readonly scopes: readonly string[];
  /** The author's requirements, which also hold for anonymous callers. @default none */
  readonly requires?: Requirements | undefined;
}

/** The rights that an author requires, of each form. */
export interface Requirements {
  /** All of these scopes: {@link EntryGuard.scopes} without the default. */
  readonly scopes: readonly string[];
  /** One of these scopes; none if empty. */
  readonly scopesAny: readonly string[];
  /** An action on a resource of the application. */
  readonly resource?: ResourceRequirement | undefined;
}

/** A call that the user is about to confirm. */
export interface ConfirmedCall {
  /** The validated arguments. */
  readonly input: unknown;
  readonly caller: Caller;
}

/** The fields of all entries. */
interface AnyEntry extends EntryDisplayMetadata, EntryGuard {
  /** The member key, or the name of a hand-written entry. */
  readonly id: string;
  /** The name in messages, for example `procedure "node.rerun"`. */
  readonly origin: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
}

/** The page of a tool, for hosts that support MCP Apps. */
export interface ToolPage {
  /** `ui://<surface>/<wire name>`. */
  readonly uri: string;
  /** The `_meta.ui` of its content: origins, permissions, border and domain. */
  readonly meta: JsonObject;
  /** Returns the HTML. @throws any error of the author's function or of the file system. */
  read(): Promise<string>;
}

/** The option `ui` of a tool. */
export interface ToolUi {
  readonly page?: ToolPage;
  /** @default model and app */
  readonly visibility?: readonly ToolAudience[];
}

/** One tool that an agent may call. */
export interface ToolEntry extends AnyEntry {
  /** The wire name: letters, digits and `_`, at most 64. */
  readonly name: string;
  readonly hints: ToolHints;
  readonly input: ToolInput;
  readonly output: ToolOutput;
  /** Milliseconds until a call fails with `TIMEOUT`. */
  readonly timeoutMs: number;
  /** Whether the time in which the client is asked counts, too: the author has set `timeoutMs`. @default false */
  readonly countsQuestions?: boolean | undefined;
  /** Search terms. */
  readonly tags?: readonly string[] | undefined;
  readonly version?: string | undefined;
  /** The schemas of the details of declared refusals, by code. */
  readonly errors?: Readonly<Record<string, JsonSchema>> | undefined;
  /** Whether only other tools may call it, and no list shows it. @default false */
  readonly isInternal?: boolean | undefined;
  /** Whether no rate limiter counts its calls: they only list, or the tools that they call are counted. @default false */
  readonly isUncounted?: boolean | undefined;
  /** Whether its values are those of other operations, whose schemas say what is secret: no record has them. @default false */
  readonly isRelaying?: boolean | undefined;
  /** Patterns of the tools that it may call. @default none */
  readonly canCall?: readonly string[] | undefined;
  /** The scopes of its nested calls. @default the default scopes that it requires itself */
  readonly callScopes?: readonly string[] | undefined;
  /** The effect on a call when the client of a session drops the connection of the call. */
  readonly onDisconnect: OnDisconnect;
  /** The rule by which the user is asked before it runs. @default the app's rule for tools that change something */
  readonly confirm?: ConfirmRule | undefined;
  /** The word that the user must type to confirm. */
  readonly confirmWord?: string | undefined;
  /** Writes the author's text of the question. May return a promise, and throw any value. */
  readonly confirmText?: ((call: ConfirmedCall) => unknown) | undefined;
  /** Its page and its users. Left out: it has no page, and no restriction. */
  readonly ui?: ToolUi | undefined;
  /** The schemas to validate with; `"surface"`: the live surface validates. */
  readonly owner: OwnSchemas | "surface";
  /**
   * Validates arguments as the live surface will, perhaps asynchronously: for callers who need the right to a resource that an
   * argument names, and for confirmations. Runs the schema once more than a call.
   *
   * @throws SurfaceError `VALIDATION_ERROR`.
   */
  readonly preview?: ((args: JsonObject) => unknown) | undefined;
  /** Returns the current entry of this name, if any: a call fails if that is another one. Left out: the entry never changes. */
  readonly now?: (() => ToolEntry | undefined) | undefined;
  /** Returns this tool with a description that names only the given resources. Left out: the description names none. */
  readonly describedFor?: ((shown: ShownResources) => ToolEntry) | undefined;
  /** Runs it. Called by `call/` only. */
  run(input: unknown, call: EntryCall): unknown;
}

/** The resources that a view shows. */
export interface ShownResources {
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
}

/** Display metadata of an entry. */
export interface EntryDisplayMetadata {
  readonly icons?: readonly Icon[] | undefined;
  /** The `_meta` in lists, for hosts that know its keys (`"anthropic/maxResultSizeChars"`). */
  readonly meta?: JsonObject | undefined;
}

/** The content of a resource with a MIME type or metadata: a text or bytes. */
export interface ResourceBody {
  readonly mimeType: string;
  readonly text?: string;
  /** Bytes in base64. */
  readonly blob?: string;
  /** The `_meta` of the content. */
  readonly meta?: JsonObject;
  /** Whether no part of it is of use: then it is sent whole, at any size. @default false */
  readonly isWhole?: boolean;
}

/** The content of a resource: JSON text, or a body. */
export type ResourceContent = string | ResourceBody;

/** The other arguments that are filled in during a completion, by name, as texts. */
export type Filled = Readonly<Record<string, string>>;

/** Proposes values for a text that was begun. The list may be longer than the protocol allows. */
export type Completer = (
  begun: string,
  call: EntryCall,
  filled: Filled,
) => Promise<readonly string[]> | readonly string[];

/** One argument of a prompt, a text on the wire. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
  readonly complete?: Completer;
}

/** One prompt that a person may choose. */
export interface PromptEntry extends AnyEntry {
  /** The wire name. */
  readonly name: string;
  readonly arguments: readonly PromptArgument[];
  /** The JSON Schema of the arguments, for redaction. Agents do not see it. */
  readonly inputSchema: JsonSchema;
  /** Converts arguments to the input of `render`, perhaps asynchronously. @throws SurfaceError `VALIDATION_ERROR`. */
  check(args: JsonObject): unknown;
  /** Returns the JSON text of its messages, an array. Called by `call/` only. */
  render(input: unknown, call: EntryCall): Promise<string>;
}

interface WatchOptions {
  /** Milliseconds between two notifications, at least. `undefined`: the app's default. */
  readonly windowMs: number | undefined;
  /** Returns a watched value as a read would; `undefined` if it is absent. Throws if the value cannot be written, or a read would wait. */
  render(value: unknown): ResourceContent | undefined;
}

/** The watch of a resource behind a link. */
export interface LinkedWatch extends WatchOptions {
  /** Yields the current value, and the newest one after each change; may skip values. Ends if no change can follow. */
  follow(channel: SurfaceChannel, use: UseOptions): AsyncIterable<unknown>;
  /** Reads the value once; the next poll of its source is compared with that too. Left out for resources without a source. */
  readonly refresh?: (channel: SurfaceChannel, use: UseOptions) => Promise<unknown>;
}

/** Options of {@link LocalWatch.followHere}. */
export interface LocalUse extends UseOptions {
  readonly caller: Caller;
}

/** The watch of a resource of this process, without a connection. */
export interface LocalWatch extends WatchOptions {
  /** As {@link LinkedWatch.follow}, for one caller: another may get another value. */
  followHere(use: LocalUse): AsyncIterable<unknown>;
}

/** The watch of a resource. */
export type ResourceWatch = LinkedWatch | LocalWatch;

/** A listed item of a collection. */
export interface ListedItem {
  readonly uri: string;
  /** The key of the member and of the item, for example `jobs/a`. */
  readonly name: string;
}

/** The result of a read; `undefined` if the resource is absent. A promise only if the read waits. */
export type ReadResult = ResourceContent | undefined | Promise<ResourceContent | undefined>;

interface AnyResource extends AnyEntry {
  /** The MIME type in lists. @default JSON */
  readonly mimeType?: string | undefined;
}

/** One resource that an agent may read: a fixed URI. */
export interface ResourceEntry extends AnyResource {
  readonly uri: string;
  read(call: EntryCall): ReadResult;
  readonly watch: ResourceWatch;
  /** Returns the items in its JSON text that are listed too, sorted by URI. Left out: none are. */
  readonly toItems?: (text: string) => readonly ListedItem[];
}

/** One variable of a template. */
export interface TemplateVariable {
  readonly name: string;
  readonly json: JsonSchema;
  readonly required: boolean;
  /** Proposes values, such as the keys of a collection. Left out: the schema may list some. */
  readonly complete?: Completer;
}

/** A family of resources that an agent may read: a URI with variables. */
export interface TemplateEntry extends AnyResource {
  /** The URI up to the first variable, without the slash. */
  readonly base: string;
  /** RFC 6570, for example `surface://ci/log/{node}`. */
  readonly uriTemplate: string;
  readonly variables: readonly TemplateVariable[];
  /** The segments of a URI without the prefix of the app. Left out: the variables follow the base. */
  readonly segments?: readonly UriSegment[];
  /** Whether the variables stand in the query behind the base, in any order. @default false */
  readonly isQuery?: boolean;
  /** Reads a resource of the family. @param variables - by name, decoded and coerced. */
  read(variables: JsonObject, call: EntryCall): ReadResult;
  /** Returns the watch of a resource of the family. */
  watch(variables: JsonObject): ResourceWatch;
}
