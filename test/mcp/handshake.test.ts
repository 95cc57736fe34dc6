import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { Gate } from "../../src/mcp/gate.ts";
import { legacyVersions } from "../../src/mcp/handshake.ts";
import { connectSdkStdio } from "../../src/mcp/sdk-stdio-seam.ts";
import type { RpcMessage, SdkConnector } from "../../src/mcp/sdk-port.ts";
import { legacyLine, modernLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { GateHarness, type Sent } from "./gate-harness.ts";

const clientInfo = { name: "test", version: "1" };

function createGate(hotPath: boolean, instructions?: string): GateHarness {
  const words = instructions === undefined ? {} : { instructions };
  return new GateHarness(createHostileApp({ hotPath, onFault: () => {}, ...words }).open());
}

/** Sends one line to a gate of each path, and waits for both answers. */
async function onBothPaths(line: string, instructions?: string): Promise<readonly [hot: Sent, sdk: Sent]> {
  const gates = [createGate(true, instructions), createGate(false, instructions)] as const;
  try {
    const [hot, sdk] = await Promise.all(
      gates.map(async (harness) => {
        harness.gate.receive(line);
        await harness.until(() => harness.sent.length > 0);
        return harness.sent[0] ?? {};
      }),
    );
    return [hot ?? {}, sdk ?? {}];
  } finally {
    await Promise.all(gates.map((harness) => harness.close()));
  }
}

function initializeLine(protocolVersion: string): string {
  return legacyLine(1, "initialize", { protocolVersion, capabilities: {}, clientInfo });
}

describe("the handshake of the gate", () => {
  it("knows the legacy revisions that the SDK knows, but for the one that demands batches", () => {
    expect(legacyVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== "2025-03-26"));
  });

  it.each([
    ["2025-03-26", "2024-11-05"],
    ["2025-08-01", "2025-06-18"],
    ["2024-01-01", "2025-11-25"],
  ])("answers initialize for %s, which is not served, with %s", async (asked, version) => {
    const [hot] = await onBothPaths(initializeLine(asked));
    expect(hot).toHaveProperty("result.protocolVersion", version);
  });

  it.each([...legacyVersions, "2026-07-28", "1900-01-01", ""])(
    "answers initialize for %s as the SDK does",
    async (version) => {
      const [hot, sdk] = await onBothPaths(initializeLine(version));
      expect(hot).toEqual(sdk);
      expect(hot).toHaveProperty("result.protocolVersion");
      // Its list of resources never changes.
      expect(hot).toHaveProperty("result.capabilities.resources", { subscribe: true });
      // One of its tools can tell the log; it has no prompts.
      expect(hot).toHaveProperty("result.capabilities.logging", {});
      expect(hot).not.toHaveProperty("result.capabilities.prompts");
    },
  );

  it("answers initialize with instructions as the SDK does", async () => {
    const [hot, sdk] = await onBothPaths(initializeLine("2025-11-25"), "Read the state first.");
    expect(hot).toEqual(sdk);
    expect(hot).toHaveProperty("result.instructions", "Read the state first.");
  });

  it.each([undefined, "Read the state first."])(
    "answers server/discover as the SDK does (instructions: %s)",
    async (words) => {
      const [hot, sdk] = await onBothPaths(modernLine(1, "server/discover"), words);
      expect(hot).toEqual(sdk);
      expect(hot).toHaveProperty("result.supportedVersions");
    },
  );

  it("replays itself to an SDK that joins late, once, before anything else", () => {
    const heard: RpcMessage[] = [];
    const sent: string[] = [];
    const connectSdk: SdkConnector = (_runtime, { send: say }) => ({
      deliver: (message) => {
        heard.push(message);
        if ("id" in message) say({ jsonrpc: "2.0", id: message["id"], result: {} });
      },
      close: async () => {},
    });
    const runtime = createHostileApp({ onFault: () => {} }).open();
    const gate = new Gate({ runtime, connectSdk, send: (json) => sent.push(json) });
    gate.receive(initializeLine("2025-06-18"));
    gate.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect(heard).toEqual([]);
    gate.receive(legacyLine(2, "prompts/list"));
    gate.receive(legacyLine(3, "prompts/list"));
    expect(heard.map((message) => message["method"])).toEqual([
      "initialize",
      "notifications/initialized",
      "prompts/list",
      "prompts/list",
    ]);
    expect(heard[0]).toHaveProperty("params.protocolVersion", "2025-06-18");
    // Its own answer went nowhere: the client was answered three times, once a request.
    expect(sent.map((json) => JSON.parse(json).id)).toEqual([1, 2, 3]);
  });

  it("tells an SDK that has joined of a second handshake, which follows the cancelled first", async () => {
    const heard: RpcMessage[] = [];
    const said: RpcMessage[] = [];
    const sent: Sent[] = [];
    const connectSdk: SdkConnector = (runtime, { send: say, caller }) => {
      const sdk = connectSdkStdio(runtime, {
        caller,
        send: (message) => {
          said.push(message);
          say(message);
        },
      });
      return {
        deliver: (message) => {
          heard.push(message);
          sdk.deliver(message);
        },
        close: () => sdk.close(),
      };
    };
    const runtime = createHostileApp({ onFault: () => {} }).open();
    const gate = new Gate({ runtime, connectSdk, send: (json) => sent.push(JSON.parse(json)) });
    gate.receive(initializeLine("2024-11-05"));
    gate.receive(legacyLine(2, "prompts/list"));
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(2);
    gate.receive('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    gate.receive(initializeLine("2025-06-18"));
    gate.receive(legacyLine(3, "prompts/list"));
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(4);
    const versions = heard.map(({ params }) => Reflect.get(Object(params), "protocolVersion")).filter(Boolean);
    expect(versions).toEqual(["2024-11-05", "2025-06-18"]);
    // The real SDK takes the second one as it took the first.
    expect(said.filter(({ result }) => result !== undefined)).toMatchObject([
      { result: { protocolVersion: "2024-11-05" } },
      { result: { protocolVersion: "2025-06-18" } },
    ]);
    expect(sent.map(({ id }) => id)).toEqual([1, 2, 1, 3]);
    await gate.close();
  });

  it("leaves an SDK that joins late in the same era", async () => {
    const harness = await createGate(true).open("legacy");
    // Whatever the SDK does not know either, it answers: so it has joined, and serves the legacy era.
    expect(await harness.request("legacy", 5, { method: "prompts/list" })).toHaveProperty("error.code", -32601);
    expect(await harness.request("legacy", 6, { method: "server/discover" })).toHaveProperty("error.code", -32601);
    expect(harness.sent).toHaveLength(2);
    await harness.close();
  });

  it("knows no handshake of the other era", async () => {
    const modern = await createGate(true).open("modern");
    expect(await modern.request("modern", 5, { method: "initialize" })).toHaveProperty("error");
    await modern.close();
  });
});
