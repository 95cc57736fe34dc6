import { describe, expect, it } from "vitest";
import { Inspector } from "../../src/inspector/inspector.ts";
import type { ClientRow, HistoryRow } from "../../src/inspector/messages.ts";
import { kInspected } from "../../src/mcp/inspected-app.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import type { CallEnd, Refused, RequestEnd } from "../../src/observe/observation.ts";
import type { Redactor } from "../../src/observe/redact-secrets.ts";
import type { FaultReporter } from "../../src/surface/fault.ts";
import { createObservedApp } from "../observe/observed-app.ts";
import { doors as transports } from "../properties/tested-transports.ts";

const requests = [
  ["tools/call", { name: "echo", arguments: { text: "é" } }],
  ["tools/call", { name: "echo", arguments: { text: 1 } }],
  ["tools/call", { name: "outer" }],
  ["tools/call", { name: "no" }],
  ["tools/call", { name: "fault" }],
  ["tools/call", { name: "flawed" }],
  ["no/such", {}],
  ["tools/call", { name: "unknown" }],
  ["tools/call", { name: "inner", arguments: { deep: 2 } }],
  ["tools/list", {}],
  ["resources/read", { uri: "surface://observed/level" }],
  ["resources/read", { uri: "surface://observed/unknown" }],
  ["prompts/get", { name: "greet", arguments: { who: "Ann" } }],
] as const;

const keepAll: Redactor = (value) => value;

/** Returns a row without what differs from run to run. */
function toStable({ at, ms, arguments: _given, result: _result, correlationId, call, parent, ...row }: HistoryRow) {
  const withoutPrefix = (id = ""): string => id.replace(/^\w+-/, "");
  const isRecent = Math.abs(at - Date.now()) < 600_000;
  const has = { isRecent, ms: ms !== undefined && ms >= 0, correlationId: correlationId !== undefined };
  return { ...row, ...has, call: withoutPrefix(call), parent: withoutPrefix(parent) };
}

function toStableClient({ id, since, lastAt, ...row }: ClientRow) {
  return { ...row, isKnown: id !== "", isInOrder: Math.abs(lastAt - since) < 600_000 };
}

/** Opens an inspector with so few rows that each is in the place of another one. */
function inspect(app: ServableApp, values: Redactor | undefined) {
  const inspected = app[kInspected];
  if (inspected === undefined) throw new Error("cannot be inspected");
  const faults: string[] = [];
  const report: FaultReporter = ({ cause }) => void faults.push(String(cause));
  return { inspector: new Inspector(inspected, { values, report, history: 3 }), faults };
}

/** Serves the requests, with an inspector alone. @param values - with it, the inspector reads records. */
async function show(transport: (typeof transports)[number], values: Redactor | undefined) {
  // Without an observer.
  const { app } = createObservedApp({ observe: undefined as never });
  const { inspector, faults } = inspect(app, values);
  const rows: HistoryRow[] = [];
  const open = await transport.open(app, undefined);
  for (const [method, params] of requests) {
    await open.ask(method, params).catch(() => undefined);
    rows.push(...inspector.snapshot().history);
  }
  await open.watch("surface://observed/level");
  const { clients, calls, tools, refusals } = inspector.snapshot();
  await open.close();
  inspector.close();
  return {
    rows: rows.map(toStable),
    clients: clients.rows.map(toStableClient),
    tools: tools.rows.map(({ p50: _p50, p99: _p99, ...tool }) => tool),
    ...{ calls, refusals, faults },
  };
}

/** Returns the row that a record should have. */
function toExpected(record: RequestEnd | CallEnd | Refused) {
  if (record.type === "refused") {
    const { transport, caller, view, stage, rpcCode } = record;
    return { transport, caller: caller?.id, view, method: "unknown", outcome: "refused", stage, rpcCode };
  }
  const { transport, caller, client, view, operation, outcome, code, rpcCode, bytesIn, bytesOut } = record;
  const isNested = record.type === "call-end";
  return {
    ...{ transport, view, outcome, code, rpcCode, bytesIn, bytesOut },
    caller: caller.id,
    client: client && `${client.name} ${client.version}`,
    method: isNested ? "tools/call" : record.method,
    name: operation?.name ?? operation?.id,
    kind: operation?.kind,
    stage: record.refusedAt,
    correlationId: record.correlationId,
    call: isNested ? record.id : record.callId,
  };
}

describe.each(transports)("over $name, an inspector without values", (transport) => {
  it("shows the same rows, clients and totals as one that reads records", async () => {
    const [plain, full] = [await show(transport, undefined), await show(transport, keepAll)];
    expect([...plain.faults, ...full.faults]).toEqual([]);
    expect(plain.rows.length).toBeGreaterThan(requests.length);
    expect(plain).toEqual(full);
  });

  it("shows in each row the fields of its record, and none of the row in whose place it is", async () => {
    const { app, records } = createObservedApp();
    const { inspector } = inspect(app, undefined);
    const open = await transport.open(app, undefined);
    const seen = new Map<number, HistoryRow>();
    for (const [method, params] of requests) {
      await open.ask(method, params).catch(() => undefined);
      for (const row of inspector.snapshot().history) seen.set(row.seq, row);
    }
    const ends = records.filter(
      (record) => record.type === "request-end" || record.type === "call-end" || record.type === "refused",
    );
    await open.close();
    inspector.close();
    expect([...seen.values()].map(({ seq: _seq, at: _at, ms: _ms, parent: _parent, ...row }) => row)).toEqual(
      ends.map(toExpected),
    );
  });
});
