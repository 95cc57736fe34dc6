import type { JsonObject, JsonSchema } from "../schema/json.ts";
import type { Schema } from "../schema/standard.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { UseOptions } from "../surface/client.ts";
import type { ClientAsk } from "./asking/asking.ts";
import type { Caller } from "../surface/caller.ts";
import type { UriSegment } from "./uri-syntax.ts";
import type { Icon } from "../tags/looks.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import type { ConfirmRule, OnDisconnect } from "../tags/tool-options.ts";
import type { ToolOutcome } from "./outcome.ts";

/** How far along a call is. `progress` must grow from report to report; MCP clients show `message`. */
export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  /** Said beside it, for programs. At most 4 KiB of JSON; more is left out. */
  readonly meta?: JsonObject;
}

/** How much something matters to whoever reads a log; the levels of RFC 5424. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** One line of the client's log. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Any JSON; the client sees it as it is. */
  readonly data: unknown;
  /** Who says it. */
  readonly logger?: string;
}

/** One call or read, as an entry sees it. */
export interface EntryCall {
  /** Tells the client's log, where it wants to know of that level. Left out where nobody could be told. */
  readonly log?: ((entry: LogEntry) => void) | undefined;
  /** Fires when the caller cancels, the deadline passes or the face closes. Made only if asked for. */
  readonly signal: AbortSignal;
  /** Who asks. */
  readonly caller: Caller;
  /** For how long its client was asked while it ran, in milliseconds: by so much later it is due. Left out: for none. */
  readonly heldMs?: number;
  progress(report: ProgressReport): void;
  /**
   * Calls a tool as a part of this call: under it in the tree, ended with it unless it says otherwise, never later than it.
   * Never rejects: what cannot be called answers as what does not exist.
   */
  nest(nested: NestedCall): Promise<ToolOutcome>;
  /** Returns whether the user is asked before a tool that this call nests runs. Left out: no user is asked. */
  isConfirmed?(entry: ToolEntry): boolean;
  /**
   * Asks the client something, under a key that names the question within this call. Resolves with what it answered. Rejects with
   * a `Refusal`: `CLIENT_CANNOT`, `ASK_FAILED`, `ASK_TIMEOUT`; or with a `SurfaceError` `INPUT_REQUIRED` where the answer comes with
   * another request: nothing more of this call counts then.
   */
  ask(key: string, ask: ClientAsk): Promise<JsonObject>;
  /** Names the run of the call, the same when it runs again with an answer. Another one each time it is read, if nothing runs again. */
  readonly runId?: string;
  /** Told when the client says that its roots are others, while the call runs. Returns what stops it. */
  onRoots(changed: () => void): () => void;
  /** Says something beside the answer, for programs, whatever the answer is: members of its `_meta`. */
  addMeta(members: JsonObject): void;
  /** Notes that the call ends before anything of it was sent to the application. */
  unsent?(): void;
}

/** A call within a call. */
export interface NestedCall {
  /** What is called: an entry that was looked up for the caller, or an id within the reach of the tool that calls. */
  readonly target: { readonly entry: ToolEntry } | { readonly id: string };
  readonly args: JsonObject;
  /**
   * Under whose authority: the caller's own, for what only hands on what they ask for; or that which the calling tool declares,
   * within the reach that it declares.
   */
  readonly as: "caller" | "tool";
  /** Whether the caller is still shown what was looked up for them. Left out: it was not. */
  readonly stillShown?: (() => boolean) | undefined;
  /**
   * Called when the user has confirmed the call. Its handler starts when the promise resolves, with the time when the call must be
   * over as in `deadlineAt`. Used for a tool that is confirmed only ({@link EntryCall.isConfirmed}). @default it starts at once
   */
  readonly turn?: (() => Promise<number>) | undefined;
  /** Told what is said beside its answer, which is then said by whoever makes it. Default: said beside the answer above. Must not throw. */
  readonly onMeta?: ((members: JsonObject) => void) | undefined;
  /** When it must be over, in milliseconds as `performance.now()` counts them. Default: the tool's own time; at most the parent's. */
  readonly deadlineAt?: number | undefined;
  /** Whether `deadlineAt` holds although the client is being asked. @default false */
  readonly countsQuestions?: boolean | undefined;
  /** What becomes of it when the call that it is part of ends early, once it has started. Default `"abort-dependents"`. */
  readonly onAbort?: OnAbort | undefined;
  /** Where its progress goes. Default: nowhere. */
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  /** Told, before its outcome is, where that is one of a call that was ended early and whose handler still runs: with that work. */
  readonly onOverrun?: ((work: Promise<unknown>) => void) | undefined;
}

/** What becomes of nested calls when the call above them ends early. */
export type OnAbort = "abort-dependents" | "continue-running";

/** What is advertised of a tool's behaviour; `tools/list` leaves out what is the protocol's default. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** How arguments come in. */
export interface ToolInput {
  /** One plain object with `properties`, frozen: no alternatives at the root, which providers refuse. */
  readonly json: JsonSchema;
  /** Keywords at the root of the schema that validates, which {@link ToolInput.json} replaces by text. */
  readonly refusedKeywords?: readonly string[] | undefined;
  /** Arguments off the wire -> what `check` and `run` take. @throws SurfaceError `VALIDATION_ERROR`. */
  decode(args: JsonObject): unknown;
  /** What to call the value itself in an issue: `"value"` where it travels under that key, else nothing. */
  readonly root: string;
}

/** How an answer goes out. */
export interface ToolOutput {
  /** Root `type: "object"`, frozen; absent where the author declared no output. */
  readonly json: JsonSchema | undefined;
  /** The answer -> the text of a JSON object. @throws SurfaceError `UNSERIALISABLE`. */
  stringify(value: unknown): string;
  /**
   * Whether it answers in blocks: it may, by `content()`, or always does, as its output is `richContent`. What is said to
   * programs beside them is what {@link stringify} is given then.
   */
  readonly rich?: "may" | "always";
  /** Whether an answer says that what was asked for has failed. Left out: none does, a tool refuses instead. */
  isError?(value: unknown): boolean;
}

/** The schemas of a tool that the face itself owns. */
export interface FaceOwned {
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
}

/** What is asked of whoever uses an entry. */
export interface EntryGuard {
  /** What callers who are known must have been granted, all of it: a default, then what its author asks for. Never empty. */
  readonly scopes: readonly string[];
  /** What its author asks of everybody, also of who is anonymous. Left out: nothing. */
  readonly requires?: Requirements | undefined;
}

/** What an author asks of callers, each in one form. */
export interface Requirements {
  /** All of them; what {@link EntryGuard.scopes} holds besides the default. */
  readonly scopes: readonly string[];
  /** One of them is enough; empty: none is asked for. */
  readonly scopesAny: readonly string[];
  /** An action that they must be allowed to do to a thing of the application's. */
  readonly resource?: ResourceRequirement | undefined;
}

/** A call whose user is about to be asked, as the author's function of `confirm` needs it. */
export interface ConfirmedCall {
  /** The validated arguments. */
  readonly input: unknown;
  readonly caller: Caller;
}

/** One tool that an agent may call. */
export interface ToolEntry extends EntryLooks, EntryGuard {
  /** The member key or the bespoke tool's name: its identity everywhere but on the wire. */
  readonly id: string;
  /** Its name on the wire: letters, digits and `_`, at most 64. */
  readonly name: string;
  /** Where it comes from, for messages about collisions. */
  readonly origin: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly hints: ToolHints;
  readonly input: ToolInput;
  readonly output: ToolOutput;
  /** Milliseconds until a call answers `TIMEOUT`. */
  readonly timeoutMs: number;
  /** Whether the time in which its client is asked counts, too: its author has set `timeoutMs`. @default false */
  readonly countsQuestions?: boolean | undefined;
  /** Words to find it by, besides its name. Left out: none. */
  readonly tags?: readonly string[] | undefined;
  /** Which of its versions this is, where its author says so. */
  readonly version?: string | undefined;
  /** The schemas of the details that come with codes which its author declares, by code. */
  readonly errors?: Readonly<Record<string, JsonSchema>> | undefined;
  /** Whether only other tools may call it, and nobody is told of it. Default `false`. */
  readonly isInternal?: boolean | undefined;
  /** Whether no rate limiter counts calls of it: what it calls is counted, or it tells what lists do. Default `false`. */
  readonly isUncounted?: boolean | undefined;
  /** The ids of the tools that it may call, as patterns. Left out: none. */
  readonly reach?: readonly string[] | undefined;
  /** What it calls them with: scopes. Left out: the default ones that it takes itself. */
  readonly authority?: readonly string[] | undefined;
  /** What becomes of a call when the client of a session drops the connection that it was made on. */
  readonly onDisconnect: OnDisconnect;
  /** Whether the user is asked before it runs. Left out: as the app says for tools that change something. */
  readonly confirm?: ConfirmRule | undefined;
  /** The word that the user must type to confirm. */
  readonly confirmWord?: string | undefined;
  /** Writes the author's text of the question, now or later. Returns, throws and rejects whatever the author's code does. */
  readonly confirmText?: ((call: ConfirmedCall) => unknown) | undefined;
  /** Who validates: a live surface its own members, the face what it owns itself (bespoke tools). */
  readonly owner: FaceOwned | "surface";
  /**
   * Arguments off the wire -> what a live surface will make of them, maybe later: for callers who need the right to a thing that
   * an argument names, and for users who are asked. Runs its schema once more than a call does by itself. Rejects as validation does.
   *
   * @throws SurfaceError `VALIDATION_ERROR`.
   */
  readonly preview?: ((args: JsonObject) => unknown) | undefined;
  /** What there is now of its name; `undefined`: nothing. It runs only while that is itself. Left out: it always is. */
  readonly now?: (() => ToolEntry | undefined) | undefined;
  /** Returns this tool with a description that names only the given resources. Left out: the description names none. */
  readonly describedFor?: ((shown: ShownResources) => ToolEntry) | undefined;
  /** Runs it. Only `call/` does. */
  run(input: unknown, call: EntryCall): unknown;
}

/** The resources that a view shows. */
export interface ShownResources {
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
}

/** What hosts show of an entry, and what they are told besides. */
export interface EntryLooks {
  readonly icons?: readonly Icon[] | undefined;
  /** Passed on as `_meta`, for hosts that know its keys (`"anthropic/maxResultSizeChars"`). */
  readonly meta?: JsonObject | undefined;
}

/** What is under a URI, where it is not JSON or there is more to say of it: a text or bytes, one of the two. */
export interface ResourceBody {
  readonly mimeType: string;
  readonly text?: string;
  /** Bytes in base64. */
  readonly blob?: string;
  /** Said beside it as `_meta`. */
  readonly meta?: JsonObject;
}

/** What reading a resource gives: JSON text, or a body. */
export type ResourceContent = string | ResourceBody;

/** What else is filled in while somebody writes: other arguments by name, as they are on the wire. */
export type Filled = Readonly<Record<string, string>>;

/** Proposes values for what somebody has begun to write. Its caller cuts the list. */
export type Completer = (
  begun: string,
  call: EntryCall,
  filled: Filled,
) => Promise<readonly string[]> | readonly string[];

/** One argument of a prompt; all of them are texts on the wire. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
  readonly complete?: Completer;
}

/** One prompt that a person may choose. */
export interface PromptEntry extends EntryLooks, EntryGuard {
  readonly id: string;
  /** Its name on the wire. */
  readonly name: string;
  readonly origin: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly arguments: readonly PromptArgument[];
  /**
   * Arguments off the wire -> what `render` takes, maybe later.
   *
   * @throws SurfaceError `VALIDATION_ERROR`, for arguments that do not fit.
   */
  check(args: JsonObject): unknown;
  /** The JSON text of its messages, an array. Only `call/` has it written. */
  render(input: unknown, call: EntryCall): Promise<string>;
}

/** How what is watched is told and written. */
interface WatchWords {
  /** The shortest time between two notices, in milliseconds. `undefined`: what holds for the whole app. */
  readonly windowMs: number | undefined;
  /**
   * One of those values -> what reading gives; `undefined`: there is nothing under the URI. Throws where it cannot be
   * written, and where reading would wait for more.
   */
  render(value: unknown): ResourceContent | undefined;
}

/** How a resource is watched that is behind a link. */
export interface LinkedWatch extends WatchWords {
  /** Its value now, then after each change; may skip to the newest. Ends where there is nothing more to come. */
  follow(channel: SurfaceChannel, use: UseOptions): AsyncIterable<unknown>;
  /** Reads the value once; the next poll of its source is compared with that too. Left out for resources without a source. */
  readonly refresh?: (channel: SurfaceChannel, use: UseOptions) => Promise<unknown>;
}

/** What following something takes that the face itself has. */
export interface LocalUse extends UseOptions {
  /** For whom it is followed. */
  readonly caller: Caller;
}

/** How a resource is watched that the face itself has: without a connection. */
export interface LocalWatch extends WatchWords {
  /** As {@link LinkedWatch.follow}, as one caller sees it: what somebody else does may be another value. */
  followHere(use: LocalUse): AsyncIterable<unknown>;
}

/** How a resource is watched. */
export type ResourceWatch = LinkedWatch | LocalWatch;

/** One resource of many that are listed because they are there now. */
export interface ListedItem {
  readonly uri: string;
  /** The member's key and its own, for example `jobs/a`. */
  readonly name: string;
}

/** What a read finds; `undefined` for nothing. A promise only if the read waits. */
export type ReadResult = ResourceContent | undefined | Promise<ResourceContent | undefined>;

/** One resource that an agent may read: a fixed URI. */
export interface ResourceEntry extends EntryLooks, EntryGuard {
  readonly id: string;
  readonly origin: string;
  readonly uri: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** What is listed as its type. Left out: JSON. */
  readonly mimeType?: string | undefined;
  /** What is there now; `undefined`: nothing. */
  read(call: EntryCall): ReadResult;
  readonly watch: ResourceWatch;
  /** Its JSON text -> what is listed besides, sorted by URI. Left out where nothing is. */
  readonly toItems?: (text: string) => readonly ListedItem[];
}

/** One variable of a template. */
export interface TemplateVariable {
  readonly name: string;
  readonly json: JsonSchema;
  readonly required: boolean;
  /** Values that there are, such as the keys of a collection. Left out where only the schema can tell. */
  readonly complete?: Completer;
}

/** A family of resources that an agent may read: a URI with variables. */
export interface TemplateEntry extends EntryLooks, EntryGuard {
  readonly id: string;
  readonly origin: string;
  /** The URI up to the first variable, without the slash. */
  readonly base: string;
  /** RFC 6570, for example `surface://ci/log/{node}`. */
  readonly uriTemplate: string;
  readonly variables: readonly TemplateVariable[];
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** What is listed as their type. Left out: JSON. */
  readonly mimeType?: string | undefined;
  /**
   * The whole URI, segment by segment, where it is not one of those that begin as all others do. Left out: the variables
   * are what stands behind the base.
   */
  readonly segments?: readonly UriSegment[];
  /** Whether the variables stand in the query behind the base, in any order. @default false */
  readonly isQuery?: boolean;
  /** What one member of the family holds; variables by name, decoded and coerced. `undefined`: nothing. */
  read(variables: JsonObject, call: EntryCall): ReadResult;
  /** How that member is watched. */
  watch(variables: JsonObject): ResourceWatch;
}
