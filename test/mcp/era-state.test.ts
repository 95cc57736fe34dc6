import { describe, expect, it } from "vitest";
import { EraState } from "../../src/mcp/mcp-connection.ts";
import type { Era, RpcError } from "../../src/mcp/protocol.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";

const modern: JsonObject = { _meta: envelope };

/** What a state makes of a request: the era in which it is served, or the code of the refusal. */
function admit(state: EraState, method: string, params?: JsonObject): Era | number {
  const answer: Era | RpcError = state.admit({ method, params });
  return typeof answer === "string" ? answer : answer.code;
}

function initialised(): EraState {
  const state = new EraState();
  admit(state, "initialize", handshake);
  state.initialised("initialize");
  return state;
}

describe("EraState", () => {
  it("serves only ping before a connection chose its era", () => {
    const state = new EraState();
    expect(admit(state, "tools/list")).toBe(-32600);
    expect(admit(state, "ping")).toBe("legacy");
    expect(state.isLegacy).toBe(false);
  });

  it("is modern from the first request with an envelope on", () => {
    const state = new EraState();
    expect(admit(state, "tools/list", modern)).toBe("modern");
    expect(admit(state, "tools/list")).toBe(-32602);
    expect(admit(state, "initialize", handshake)).toBe(-32022);
  });

  it("may still become legacy after server/discover", () => {
    const state = new EraState();
    expect(admit(state, "server/discover", modern)).toBe("modern");
    expect(admit(state, "tools/list")).toBe(-32602);
    expect(admit(state, "initialize", handshake)).toBe("legacy");
    state.initialised("initialize");
    expect(state.isLegacy).toBe(true);
  });

  it("stays modern when server/discover comes again", () => {
    const state = new EraState();
    admit(state, "tools/list", modern);
    admit(state, "server/discover", modern);
    expect(admit(state, "initialize", handshake)).toBe(-32022);
  });

  it("is legacy when the handshake was answered, also to requests with an envelope", () => {
    const state = initialised();
    expect(admit(state, "tools/list")).toBe("legacy");
    expect(admit(state, "tools/list", modern)).toBe("legacy");
    expect(admit(state, "initialize", handshake)).toBe(-32600);
  });

  it("stays open when the handshake did not succeed", () => {
    const state = new EraState();
    admit(state, "initialize", handshake);
    expect(state.isLegacy).toBe(false);
    expect(admit(state, "tools/list")).toBe(-32600);
    expect(admit(state, "initialize", handshake)).toBe("legacy");
  });

  it("makes room for another handshake when the first was cancelled", () => {
    const state = new EraState();
    expect(state.cancelInitialize(undefined)).toBe(false);
    state.initialised("initialize");
    expect(state.cancelInitialize("nobody")).toBe(false);
    expect(state.cancelInitialize("initialize")).toBe(true);
    expect(admit(state, "initialize", handshake)).toBe("legacy");
    state.initialised("again");
    expect(admit(state, "initialize", handshake)).toBe(-32600);
  });
});
