import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { Gate } from "../../src/mcp/gate.ts";
import { anonymous } from "../../src/surface/caller.ts";
import { toLazyConnector, toLazyExchange } from "../../src/mcp/lazy-sdk.ts";
import { createSdkExchange } from "../../src/mcp/sdk-http-seam.ts";
import type { SdkAsked } from "../../src/mcp/sdk-http-port.ts";
import type { RpcMessage, SdkConnector } from "../../src/mcp/sdk-port.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { envelope, handshake, legacyLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";

const faults: Fault[] = [];
const rejections: unknown[] = [];
const onRejection = (cause: unknown): void => void rejections.push(cause);

afterEach(() => {
  faults.length = 0;
  rejections.length = 0;
  process.off("unhandledRejection", onRejection);
});

const runtime = createHostileApp({
  // oxlint-disable-next-line typescript/no-misused-promises -- what is under test
  onFault: async (fault) => {
    faults.push(fault);
    throw new Error("the log is full");
  },
}).open();

const noSdk = (): Promise<never> => Promise.reject(new Error("there is no SDK"));
const badSdk: () => Promise<SdkConnector> = async () => () => {
  throw new Error("the SDK does not start");
};

describe("toLazyConnector()", () => {
  it.each([
    ["cannot be loaded", noSdk],
    ["cannot be connected", badSdk],
  ])("answers -32603 and reports once when the SDK %s", async (_how, load) => {
    process.on("unhandledRejection", onRejection);
    const sent: RpcMessage[] = [];
    const port = toLazyConnector(load)(runtime, { send: (message) => sent.push(message), caller: () => anonymous });
    port.deliver({ jsonrpc: "2.0", id: 1, method: "prompts/list" });
    port.deliver({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(1);
    port.deliver({ jsonrpc: "2.0", id: 2, method: "prompts/list" });
    port.deliver({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
    expect(faults).toHaveLength(1);
    const data = { correlationId: faults[0]?.correlationId };
    expect(data.correlationId).toMatch(/^[0-9a-f-]{36}$/);
    const error = { code: -32603, message: "Internal error", data };
    expect(sent).toEqual([1, 2].map((id) => ({ jsonrpc: "2.0", id, error })));
    await port.close();
    // A rejection is told a turn late.
    await sleep(20);
    expect(rejections).toEqual([]);
  });

  it("frees the ids when the SDK cannot be loaded", async () => {
    const sent: RpcMessage[] = [];
    const gate = new Gate({
      runtime,
      connectSdk: toLazyConnector(noSdk),
      send: (json) => sent.push(JSON.parse(json)),
    });
    gate.receive(legacyLine(0, "initialize", handshake));
    for (const count of [2, 3]) {
      gate.receive(legacyLine(1, "prompts/list"));
      await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(count);
      expect(sent.at(-1)).toMatchObject({ id: 1, error: { code: -32603 } });
    }
    // The handshake that was replayed to it was answered as well, and nobody asked for that.
    expect(sent.map(({ id }) => id)).toEqual([0, 1, 1]);
    await gate.close();
  });

  it("closes an SDK that joins when its connection is closed already, and delivers nothing", async () => {
    const seen: string[] = [];
    const connect: SdkConnector = () => ({
      deliver: () => void seen.push("delivered"),
      close: async () => void seen.push("closed"),
    });
    const port = toLazyConnector(async () => connect)(runtime, { send: () => {}, caller: () => anonymous });
    port.deliver({ jsonrpc: "2.0", id: 1, method: "prompts/list" });
    await port.close();
    expect(seen).toEqual(["closed"]);
  });
});

describe("toLazyExchange()", () => {
  const asked = (method: string): SdkAsked => ({
    frame: { kind: "request", id: 1, method, params: undefined },
    headers: {},
    caller: anonymous,
    limiter: undefined,
    reached: () => {},
    signal: new AbortController().signal,
    tell: () => {},
  });

  it("answers -32603 and reports once when the SDK cannot be loaded", async () => {
    const exchange = toLazyExchange(noSdk)(runtime);
    const answers = [await exchange(asked("a")), await exchange(asked("b"))];
    expect(faults).toHaveLength(1);
    const data = { correlationId: faults[0]?.correlationId };
    const error = { kind: "error", code: -32603, message: "Internal error", data };
    expect(answers).toEqual([1, 2].map(() => ({ kind: "error", status: 500, error })));
  });

  it("loads the SDK once, and not before it is needed, when many ask at once", async () => {
    let loaded = 0;
    const exchange = toLazyExchange(async () => {
      loaded += 1;
      return () => async () => undefined;
    })(runtime);
    expect(loaded).toBe(0);
    await Promise.all(["a", "b", "c"].map((method) => exchange(asked(method))));
    expect(loaded).toBe(1);
  });

  it("says nothing when it is ended early, in the SDK too", async () => {
    const exchange = createSdkExchange(runtime);
    const controller = new AbortController();
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "slow" };
    const params = { name: "slow", arguments: { ms: 60_000 }, _meta: envelope };
    const frame = { kind: "request", id: 1, method: "tools/call", params } as const;
    const answering = exchange({ ...asked("tools/call"), frame, headers, signal: controller.signal });
    await sleep(20);
    controller.abort();
    expect(await answering).toBeUndefined();
    expect(faults).toEqual([]);
  });
});
