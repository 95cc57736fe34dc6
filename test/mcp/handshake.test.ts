import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { legacyVersions } from "../../src/mcp/handshake.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { legacyLine, modernLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import type { Sent } from "./client-harness.ts";
import { ConnectionHarness } from "./connection-harness.ts";
import { OracleHarness } from "./oracle/oracle-harness.ts";

const clientInfo = { name: "test", version: "1" };

function open(instructions?: string): AppRuntime {
  return createHostileApp({ onFault: () => {}, ...(instructions === undefined ? {} : { instructions }) }).open();
}

/** Sends one line to a gate and to the SDK, and waits for both answers. */
async function toBoth(line: string, instructions?: string): Promise<readonly [hot: Sent, sdk: Sent]> {
  const gates = [new ConnectionHarness(open(instructions)), new OracleHarness(open(instructions))] as const;
  try {
    const [hot, sdk] = await Promise.all(
      gates.map(async (harness) => {
        harness.receive(line);
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

describe("the handshake over stdio", () => {
  it("accepts the SDK's legacy versions, except for the one that requires batches", () => {
    expect(legacyVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== "2025-03-26"));
  });

  it.each([
    ["2025-03-26", "2024-11-05"],
    ["2025-08-01", "2025-06-18"],
    ["2024-01-01", "2025-11-25"],
  ])("answers initialize for %s, which is not served, with %s", async (asked, version) => {
    const [hot] = await toBoth(initializeLine(asked));
    expect(hot).toHaveProperty("result.protocolVersion", version);
  });

  it.each([...legacyVersions, "2026-07-28", "1900-01-01", ""])(
    "answers initialize for %s as the SDK does",
    async (version) => {
      const [hot, sdk] = await toBoth(initializeLine(version));
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
    const [hot, sdk] = await toBoth(initializeLine("2025-11-25"), "Read the state first.");
    expect(hot).toEqual(sdk);
    expect(hot).toHaveProperty("result.instructions", "Read the state first.");
  });

  it.each([undefined, "Read the state first."])(
    "answers server/discover as the SDK does (instructions: %s)",
    async (words) => {
      const [hot, sdk] = await toBoth(modernLine(1, "server/discover"), words);
      expect(hot).toEqual(sdk);
      expect(hot).toHaveProperty("result.supportedVersions");
    },
  );

  it("takes a second handshake after the first was cancelled, and downgrades results to its version", async () => {
    const harness = new ConnectionHarness(open());
    await harness.open("legacy", "2024-11-05");
    harness.receive('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"open"}}');
    harness.receive(initializeLine("2025-06-18"));
    expect(harness.answers(1)).toMatchObject([{ result: { protocolVersion: "2025-06-18" } }]);
    const params = { name: "echo", arguments: { text: "a" } };
    const answer = await harness.request("legacy", 2, { method: "tools/call", params });
    expect(answer).toHaveProperty("result.structuredContent", { text: "a" });
    await harness.close();
  });

  it("fails on a bad progress token, and may then be sent again", async () => {
    const harness = new ConnectionHarness(open());
    const bad = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo, _meta: { progressToken: {} } };
    expect(await harness.request("legacy", 1, { method: "initialize", params: bad })).toHaveProperty(
      "error.code",
      -32602,
    );
    const early = await harness.request("legacy", 2, { method: "tools/list" });
    expect(early).toHaveProperty("error.code", -32600);
    await harness.open("legacy");
    expect(await harness.request("legacy", 3, { method: "tools/list" })).toHaveProperty("result.tools");
    await harness.close();
  });

  it("keeps the version of a modern connection when its client sends initialize under the envelope", async () => {
    const harness = await new ConnectionHarness(open()).open("modern");
    const params = { protocolVersion: "2024-10-07", capabilities: {}, clientInfo };
    expect(await harness.request("modern", 1, { method: "initialize", params })).toHaveProperty("error.code", -32601);
    const call = { name: "echo", arguments: { text: "a" } };
    const answer = await harness.request("modern", 2, { method: "tools/call", params: call });
    expect(answer).toHaveProperty("result.structuredContent", { text: "a" });
    await harness.close();
  });

  it("knows no handshake of the other era", async () => {
    const modern = await new ConnectionHarness(open()).open("modern");
    expect(await modern.request("modern", 5, { method: "initialize" })).toHaveProperty("error");
    await modern.close();
  });
});
