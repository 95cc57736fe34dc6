import type { TraceContext } from "../surface/trace-context.ts";
import type { Ended, ObservedCaller, ObservedOperation, Origin, RequestEnd } from "./observation.ts";
import type { Transport, Work, WorkEnd, WorkStart } from "./observation.ts";

/** The fields of an end that depend on the outcome. */
export type WorkOutcome = Omit<Ended, "ms" | "result">;

/** A record that is being made. */
export type Draft<TRecord> = { -readonly [TKey in keyof TRecord]: TRecord[TKey] };

/** A request or nested call, before any record is made of it. */
export interface ReadWork {
  /** As `performance.now()` counts. To read that clock again costs more than all else that a reader does. */
  readonly startedAt: number;
  readonly transport: Transport;
  readonly protocol: string | undefined;
  readonly session: string | undefined;
  readonly caller: ObservedCaller;
  readonly client: Origin["client"];
  readonly view: string;
  /** As in records; `undefined` for a nested call. */
  readonly method: string | undefined;
  readonly operation: ObservedOperation | undefined;
  readonly bytesIn: number | undefined;
  /** As in records. Made on demand. */
  readonly id: string;
  /** The id of its call in `app.calls`, if the request called a tool. Made on demand. */
  readonly callId: string | undefined;
  /** The number of that call among those of hosts. */
  readonly callNumber: number | undefined;
}

/**
 * A part of this package that reads requests and calls themselves. For it alone no records of them are made.
 *
 * @param outcome - `undefined` at the start.
 * @param endedAt - as `startedAt`; 0 at the start.
 */
export type WorkReader = (work: ReadWork, outcome: WorkOutcome | undefined, endedAt: number) => void;

/** The optional fields of all records of a request, nested call or question. */
type WorkDetails = Pick<Work, "protocol" | "session" | "client" | "operation" | "trace" | "bytesIn">;

/** Adds the details that are known. One by one, in each request: a loop over them takes four times as long, a spread ten times. */
export function addDetails(
  record: Draft<WorkDetails>,
  { protocol, session, client, operation, bytesIn }: Partial<Pick<ReadWork, Exclude<keyof WorkDetails, "trace">>>,
  trace: TraceContext | undefined,
): void {
  if (protocol !== undefined) record.protocol = protocol;
  if (session !== undefined) record.session = session;
  if (client !== undefined) record.client = client;
  if (operation !== undefined) record.operation = operation;
  if (trace !== undefined) record.trace = trace;
  if (bytesIn !== undefined) record.bytesIn = bytesIn;
}

function beginEnd(start: WorkStart, ms: number, { outcome }: WorkOutcome): Draft<WorkEnd> {
  const { id, transport, caller, view } = start;
  const at = Date.now();
  if (start.type === "call-start")
    return { type: "call-end", at, id, parent: start.parent, transport, caller, view, ms, outcome };
  const { rpcId, method, traceFrom } = start;
  const end: Draft<RequestEnd> = { type: "request-end", at, id, rpcId, method, transport, caller, view, ms, outcome };
  if (traceFrom !== undefined) end.traceFrom = traceFrom;
  return end;
}

/** Returns the end of a request or nested call. */
export function toEnd(
  start: WorkStart,
  { ms, callId }: Pick<RequestEnd, "ms"> & { readonly callId: string | undefined },
  outcome: WorkOutcome,
): Draft<WorkEnd> {
  const end = beginEnd(start, ms, outcome);
  addDetails(end, start, start.trace);
  if (callId !== undefined && end.type === "request-end") end.callId = callId;
  const { code, rpcCode, correlationId, refusedAt, bytesOut } = outcome;
  if (code !== undefined) end.code = code;
  if (rpcCode !== undefined) end.rpcCode = rpcCode;
  if (correlationId !== undefined) end.correlationId = correlationId;
  if (refusedAt !== undefined) end.refusedAt = refusedAt;
  if (bytesOut !== undefined) end.bytesOut = bytesOut;
  return end;
}
