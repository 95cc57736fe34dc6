import type { Ended, RequestEnd, Work, WorkEnd, WorkStart } from "./observation.ts";

/** The fields of an end that depend on the outcome. */
export type WorkOutcome = Omit<Ended, "ms" | "result">;

/** A record that is being made. */
export type Draft<TRecord> = { -readonly [TKey in keyof TRecord]: TRecord[TKey] };

/** The optional fields of all records of a request, nested call or question. */
type WorkDetails = Pick<Work, "protocol" | "session" | "client" | "operation" | "trace" | "bytesIn">;

/** Adds the details that are known. One by one, in each request: a loop over them takes four times as long, a spread ten times. */
export function addDetails(
  record: Draft<WorkDetails>,
  details: { readonly [TKey in keyof WorkDetails]?: WorkDetails[TKey] | undefined },
): void {
  const { protocol, session, client, operation, trace, bytesIn } = details;
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

/** Returns the end of a request or nested call. @param ms - milliseconds since the start. */
export function toEnd(start: WorkStart, ms: number, outcome: WorkOutcome): Draft<WorkEnd> {
  const end = beginEnd(start, ms, outcome);
  addDetails(end, start);
  const { code, rpcCode, correlationId, refusedAt, bytesOut } = outcome;
  if (code !== undefined) end.code = code;
  if (rpcCode !== undefined) end.rpcCode = rpcCode;
  if (correlationId !== undefined) end.correlationId = correlationId;
  if (refusedAt !== undefined) end.refusedAt = refusedAt;
  if (bytesOut !== undefined) end.bytesOut = bytesOut;
  return end;
}
