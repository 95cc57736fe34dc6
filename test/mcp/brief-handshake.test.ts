import { describe, expect, it } from "vitest";
import { toBriefHandshake } from "../../src/mcp/brief-handshake.ts";

const whole = {
  protocolVersion: "2025-11-25",
  capabilities: { roots: { listChanged: true } },
  clientInfo: { name: "client", version: "1" },
};

describe("toBriefHandshake()", () => {
  it("keeps the version, the capabilities and what the client calls itself", () => {
    expect(toBriefHandshake(whole)).toEqual(whole);
  });

  it("keeps at most 10 KiB when megabytes were sent, in whatever part", () => {
    const junk = "é".repeat(1_000_000);
    const brief = toBriefHandshake({
      protocolVersion: junk,
      capabilities: { experimental: { junk } },
      clientInfo: { name: junk, version: junk, title: junk },
      junk,
    });
    expect(Buffer.byteLength(JSON.stringify(brief))).toBeLessThan(10 * 1024);
    expect(brief["capabilities"]).toEqual({});
  });

  it("keeps capabilities of just under 8 KiB, and none when they are larger", () => {
    const capabilities = (length: number) => ({ experimental: { a: { b: "x".repeat(length) } } });
    expect(toBriefHandshake({ ...whole, capabilities: capabilities(8100) })["capabilities"]).toEqual(
      capabilities(8100),
    );
    expect(toBriefHandshake({ ...whole, capabilities: capabilities(8200) })["capabilities"]).toEqual({});
  });
});
