import type { Approval } from "../call/approvals.ts";
import type { CallState } from "../call/call-tree.ts";
import type { ObservedCaller, Outcome, RefusalStage, Transport } from "../observe/observation.ts";
import type { JsonValue } from "../schema/json.ts";

/**
 * Messages from the server to the live page, as JSON. All texts come from authors, clients and callers, and are shown as text only.
 * Times are Unix times in milliseconds by the clock of the server. Every list is bounded; a `more` counts what was left out.
 */

/** The app, and what its page may do. Never changes while the page is open. */
export interface ShownApp {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Identifies this start of the inspector: a page that sees another one reloads its state. */
  readonly instance: string;
  /** Whether the page may decide confirmations. */
  readonly approve: boolean;
  /** Whether arguments, results and values are sent, redacted. */
  readonly values: boolean;
}

/** A list that was cut. */
export interface Cut<TRow> {
  readonly rows: readonly TRow[];
  /** The number of further rows. */
  readonly more: number;
}

/** A connected client: a session, or a client without one that sent a request in the last minute. */
export interface ClientRow {
  readonly id: string;
  readonly transport: Transport;
  readonly protocol?: string;
  /** The name and version that the client program sent. Nothing proves them. */
  readonly client?: { readonly name: string; readonly version: string };
  readonly caller: ObservedCaller;
  readonly view: string;
  readonly since: number;
  readonly lastAt: number;
  readonly requests: number;
  /** Open streams of notices over HTTP. */
  readonly streams: number;
}

/** A running call, with the calls that it made. */
export interface CallRow {
  /** The id of the call in `app.calls`. */
  readonly id: string;
  readonly tool: string;
  readonly state: CallState;
  readonly caller: string;
  readonly view: string;
  readonly since: number;
  readonly deadline?: number;
  readonly progress?: { readonly done: number; readonly total?: number; readonly message?: string };
  readonly arguments?: JsonValue;
  readonly calls: readonly CallRow[];
  /** The number of further calls that it made. Left out without any. */
  readonly more?: number;
}

/** A question that waits for a user or a client. */
export interface QuestionRow {
  readonly id: string;
  readonly kind: "elicit" | "sample" | "roots";
  readonly isConfirmation: boolean;
  readonly tool?: string;
  readonly caller: string;
  readonly since: number;
}

/** A confirmation that no client can show, and that waits for a decision on the page. */
export type ApprovalRow = Approval;

/** The link to a live surface. `idle`: no connection was needed yet, or this side closed it. */
export interface LinkRow {
  readonly surface: string;
  readonly state: "up" | "down" | "idle";
  /** When the state began. Left out before the first change. */
  readonly since?: number;
  readonly reason?: "closed" | "gone" | "lost" | "unreachable";
  /** How often it came up again. */
  readonly reconnects: number;
}

/** A watched cell, collection or other resource. */
export interface ValueRow {
  readonly uri: string;
  readonly watchers: number;
  /** Whether the newest value may be old, because its source is away. */
  readonly isStale: boolean;
  readonly changes: number;
  readonly changedAt?: number;
  /** Bytes of the value as JSON. */
  readonly bytes?: number;
  /** The newest value, redacted and cut. Only with `values`. */
  readonly value?: JsonValue;
}

/** One ended request, nested call or refusal. */
export interface HistoryRow {
  /** Numbers the rows in the order of their ends, from 1. */
  readonly seq: number;
  /** When it ended. */
  readonly at: number;
  /** The method; `unknown` for one that the app does not have, and for a request that was refused before it was read. */
  readonly method: string;
  /** The wire name of the tool or prompt, or the id of the resource. Left out for a name that the caller may not see. */
  readonly name?: string;
  readonly kind?: "tool" | "resource" | "prompt";
  /** The id of the call in `app.calls`. */
  readonly call?: string;
  readonly parent?: string;
  readonly transport: Transport;
  readonly caller?: string;
  readonly client?: string;
  readonly view?: string;
  readonly outcome: Outcome;
  readonly stage?: RefusalStage;
  readonly code?: string;
  readonly rpcCode?: number;
  readonly correlationId?: string;
  readonly ms?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
  /** Only with `values`, and as long as there is room: the newest rows have them. */
  readonly arguments?: JsonValue;
  readonly result?: JsonValue;
}

/** What happened in one second. */
export interface SecondTotals {
  /** The start of the second. */
  readonly at: number;
  /** Ended tool calls, nested ones included. */
  readonly calls: number;
  readonly failed: number;
  readonly refused: number;
  /** Milliseconds of calls that did not wait for a person; left out without any. */
  readonly p50?: number;
  readonly p99?: number;
}

/** What happened to one tool since the start. */
export interface ToolTotals {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  readonly refused: number;
  /** Milliseconds of calls that did not wait for a person; left out without any. */
  readonly p50?: number;
  readonly p99?: number;
}

/** Everything that changes. */
export interface PageState {
  readonly clients: Cut<ClientRow>;
  readonly calls: Cut<CallRow>;
  readonly questions: Cut<QuestionRow>;
  /** Empty unless pages may decide. */
  readonly approvals: readonly ApprovalRow[];
  readonly links: readonly LinkRow[];
  readonly values: Cut<ValueRow>;
  /** The last two minutes, oldest first. Seconds without a request are left out. */
  readonly seconds: readonly SecondTotals[];
  /** The tools with the most calls. */
  readonly tools: Cut<ToolTotals>;
  /** Refusals at the door, by stage. */
  readonly refusals: Readonly<Partial<Record<RefusalStage, number>>>;
  /** Differs when the answer of `exposure` has changed. */
  readonly exposure: number;
}

/** The first event of a stream. */
export interface PageSnapshot extends PageState {
  readonly at: number;
  readonly app: ShownApp;
  /** The newest rows, oldest first. Older ones come by the route `history`. */
  readonly history: readonly HistoryRow[];
  /** The `seq` of the oldest row that the server keeps; 0 without any. */
  readonly oldest: number;
}

/** A further event: the parts that have changed since the last one, each as a whole. At most ten a second. */
export interface PageUpdate extends Partial<PageState> {
  readonly at: number;
  /** New rows, oldest first; the first ones may be in the snapshot already. Rows that are missing between two `seq` were too many to send, and come by the route `history`. */
  readonly history?: readonly HistoryRow[];
  readonly oldest?: number;
}

/** The answer of the route `history`: rows that match the filters, newest first. */
export interface HistoryPage {
  readonly rows: readonly HistoryRow[];
  /** The `seq` to go on before. Left out at the end. */
  readonly before?: number;
}

/** How a view shows an entry: as `listed`, behind a gateway, `readable` without a list, or not at all. */
export type ShownAs = { readonly as: "listed" | "operation" | "readable" } | { readonly hiddenBy: string };

/** An entry, the page of a tool, or a skill, as an agent gets it. */
export interface ExposureRow {
  readonly kind: "tool" | "resource" | "template" | "prompt" | "page" | "skill";
  readonly id: string;
  /** The wire name or URI. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** What it does: `reads`, `changes`, `destructive`, `open world`. */
  readonly effects: readonly string[];
  readonly scopes: readonly string[];
  /** How a call is confirmed, in words: `asks`, `asks, else runs`, `typed word`. Left out if it is not. */
  readonly confirm?: string;
  /** Tokens that its entry in a list costs a model, estimated. A page costs none: the host reads it. */
  readonly tokens: number;
  /** How each view shows it, in the order of `views`. */
  readonly shown: readonly ShownAs[];
}

/** A view, and what its list of tools costs a model. */
export interface ViewRow {
  readonly name: string;
  readonly face: "direct" | "gateway" | "denied";
  /** Listed tools: those of a gateway, not the operations behind it. */
  readonly tools: number;
  readonly tokens: number;
}

/** The answer of the route `exposure`. */
export interface PageExposure {
  readonly version: number;
  readonly views: readonly ViewRow[];
  readonly entries: readonly ExposureRow[];
  /** Members and tools that no agent can reach. */
  readonly unexposed: readonly { readonly name: string; readonly kind: string; readonly why: string }[];
  /** The numbers of further views, entries and unexposed members. Left out without any. */
  readonly more?: { readonly views: number; readonly entries: number; readonly unexposed: number };
}

/** The answer of the route `entry`, which gets an `id` and a `kind`: one entry, exactly as a list shows it to agents; a page without its HTML. */
export interface PageEntry {
  readonly id: string;
  readonly json: JsonValue;
}
