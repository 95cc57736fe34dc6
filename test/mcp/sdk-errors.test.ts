import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/surface/fault.ts";
import { toRpcError } from "../../src/mcp/protocol.ts";
import { SdkErrors } from "../../src/mcp/sdk-errors.ts";

const { signal } = new AbortController();
const request = { jsonrpc: "2.0", id: 1, method: "tools/call" };
const refused = (code: number) => ({ jsonrpc: "2.0", id: 1, error: { code, message: "raw", data: "raw" } });

function start() {
  const faults: Fault[] = [];
  const errors = new SdkErrors((fault) => void faults.push(fault));
  errors.handed(request);
  return { errors, faults };
}

describe("the SDK's errors", () => {
  it.each([-32602, -32603])("say that the params are wrong, and no more, when %i came before any handler", (code) => {
    const { errors } = start();
    const told = { ...refused(code), error: { code: -32602, message: "Invalid params" } };
    expect(errors.toClient(refused(code))).toEqual(told);
  });

  it("stay as they are when they are the handler's own, or of another kind", () => {
    const { errors } = start();
    errors.taken(1, signal);
    errors.told(1, signal, toRpcError(-32603, "ours"));
    expect(errors.toClient(refused(-32603))).toEqual(refused(-32603));
    errors.handed(request);
    expect(errors.toClient(refused(-32601))).toEqual(refused(-32601));
  });

  it("have the code of the era when a resource does not exist", () => {
    const { errors } = start();
    errors.taken(1, signal);
    errors.told(1, signal, toRpcError(-32002, "ours"));
    expect(errors.toClient(refused(-32602))).toMatchObject({ error: { code: -32002 } });
  });

  it("are masked when the SDK could not take a handler's answer, and its maker is told", () => {
    const { errors, faults } = start();
    errors.taken(1, signal);
    errors.told(1, signal, { kind: "result", body: "", meta: "", cacheable: false, introduces: false });
    const correlationId: unknown = expect.any(String);
    expect(errors.toClient(refused(-32602))).toEqual({
      ...refused(-32603),
      error: { code: -32603, message: "Internal error", data: { correlationId } },
    });
    expect(faults).toHaveLength(1);
  });

  it("are those of the request that has the id now when another one of that id was cancelled", () => {
    const { errors } = start();
    const cancelled = new AbortController();
    errors.handed({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    cancelled.abort();
    errors.handed(request);
    errors.told(1, cancelled.signal, toRpcError(-32002, "ours"));
    expect(errors.toClient(refused(-32603))).toMatchObject({ error: { code: -32602 } });
  });

  it("leave alone what is no answer, and answers that are none of an error", () => {
    const { errors } = start();
    const notice = { jsonrpc: "2.0", method: "notifications/message", params: {} };
    expect(errors.toClient(notice)).toBe(notice);
    const result = { jsonrpc: "2.0", id: 1, result: {} };
    expect(errors.toClient(result)).toBe(result);
  });
});
