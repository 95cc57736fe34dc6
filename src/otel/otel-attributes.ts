import type { Ended, Origin, SessionEnd, Transport, WorkEnd, WorkStart } from "../observe/observation.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { OtelAttributes } from "./otel-api.ts";

/** Errors of the client by the conventions: the span has no error. */
const clientErrors: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32002]);

/** Ids of requests are texts of the client. */
const maxRequestId = 128;

const networks: Readonly<Record<Transport, OtelAttributes>> = {
  stdio: { "network.transport": "pipe" },
  http: { "network.transport": "tcp", "network.protocol.name": "http" },
  "sdk-v1": {},
  test: {},
};

/** The method of a request; `undefined` for a nested call, which is no request. */
function methodOf(work: WorkStart | WorkEnd): string | undefined {
  if (!("method" in work)) return undefined;
  return work.method === "unknown" ? "_OTHER" : work.method;
}

/** Returns the name of a span. No text of the client is in it: a name is there only if the operation exists. */
export function toSpanName(start: WorkStart): string {
  const method = methodOf(start) ?? "execute_tool";
  const name = start.operation?.name;
  return name === undefined ? method : `${method} ${name}`;
}

function toOriginAttributes({ transport, protocol }: Origin): OtelAttributes {
  return { ...networks[transport], ...(protocol === undefined ? {} : { "mcp.protocol.version": protocol }) };
}

/** Returns the attributes of a request or nested call that spans and metrics share. All have few values. */
function toWorkAttributes(work: WorkStart | WorkEnd): OtelAttributes {
  const method = methodOf(work);
  const { kind, name } = work.operation ?? {};
  return toDefined({
    "mcp.method.name": method,
    "gen_ai.operation.name": method === undefined || method === "tools/call" ? "execute_tool" : undefined,
    "gen_ai.tool.name": kind === "tool" ? name : undefined,
    "gen_ai.prompt.name": kind === "prompt" ? name : undefined,
    ...toOriginAttributes(work),
  });
}

/** Returns the attributes of a span at its start. */
export function toStartAttributes(start: WorkStart): OtelAttributes {
  return toDefined({
    ...toWorkAttributes(start),
    "jsonrpc.request.id": "rpcId" in start ? String(start.rpcId).slice(0, maxRequestId) : undefined,
    "mcp.session.id": start.session,
    "surface_mcp.operation.id": start.operation?.id,
  });
}

function errorTypeOf({ outcome, rpcCode }: Ended): string | undefined {
  if (rpcCode !== undefined) return clientErrors.has(rpcCode) ? undefined : String(rpcCode);
  // Without an error of JSON-RPC, the tool result reports one.
  return outcome === "failed" || outcome === "refused" ? "tool_error" : undefined;
}

/** Returns the error of a request by the conventions. The span is an error if it has `error.type`. */
function toErrorAttributes(end: WorkEnd): OtelAttributes {
  return toDefined({
    "error.type": errorTypeOf(end),
    "rpc.response.status_code": end.rpcCode === undefined ? undefined : String(end.rpcCode),
  });
}

/** Returns the attributes of a span at its end. */
export function toEndAttributes(end: WorkEnd): OtelAttributes {
  return toDefined({
    ...toErrorAttributes(end),
    "surface_mcp.outcome": end.outcome,
    "surface_mcp.refused_at": end.refusedAt,
    "surface_mcp.correlation_id": end.correlationId,
  });
}

/** Returns the attributes of the duration of a request. */
export function toOperationAttributes(end: WorkEnd): OtelAttributes {
  return { ...toWorkAttributes(end), ...toErrorAttributes(end) };
}

/** Returns the attributes of the duration of a session. */
export function toSessionAttributes(end: SessionEnd): OtelAttributes {
  return toOriginAttributes(end);
}
