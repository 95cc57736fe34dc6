import { describe, expect, it } from "vitest";
import { legacyVersions } from "../../src/mcp/handshake.ts";
import { otel } from "../../src/otel/index.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { envelope, handshake, legacyLine } from "../fixtures/envelope.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import { createObservedApp } from "../observe/observed-app.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { createMeter } from "./otel-sdk.ts";

/** Words that a client may choose, each of them another one. */
const chosen = (n: number): readonly (readonly [method: string, params: JsonObject])[] => [
  [`chosen/${n}`, {}],
  ["tools/call", { name: `chosen_${n}` }],
  ["tools/call", { name: "echo", arguments: { [`chosen_${n}`]: "chosen" } }],
  ["tools/call", { name: "echo", arguments: { text: `chosen ${n}` } }],
  ["resources/read", { uri: `surface://observed/chosen-${n}` }],
  ["prompts/get", { name: `chosen_${n}` }],
  ["completion/complete", { ref: { type: "ref/prompt", name: `chosen_${n}` }, argument: { name: "a", value: "b" } }],
  ["logging/setLevel", { level: `chosen_${n}` }],
  ["tools/list", { cursor: `chosen_${n}` }],
];

describe("metrics of a client that chooses its words", () => {
  const versionKey = "io.modelcontextprotocol/protocolVersion";
  const clientKey = "io.modelcontextprotocol/clientInfo";

  it.each(transports.filter(({ name }) => !name.startsWith("the test client")))(
    "have no more series after many requests than after a few over $name",
    async (transport) => {
      const { meter, measured } = createMeter();
      const { app } = createObservedApp({ observe: otel({ meter }) });
      const series = (): number => new Set(measured.map(({ attributes }) => JSON.stringify(attributes))).size;
      const play = async (from: number, to: number): Promise<void> => {
        for (let n = from; n < to; n += 1) {
          const client = await transport.open(app, undefined);
          for (const [method, params] of chosen(n)) {
            await client.ask(method, params);
            const meta = { ...envelope, [clientKey]: { name: `chosen ${n}`, version: `chosen ${n}` } };
            await client.ask(method, { ...params, _meta: meta });
            await client.ask(method, { ...params, _meta: { ...meta, [versionKey]: `chosen ${n}` } });
          }
          await client.close();
        }
      };
      await play(0, 1);
      const before = series();
      await play(1, 12);
      expect(measured.length).toBeGreaterThan(100);
      expect(series()).toBe(before);
      expect(JSON.stringify(measured)).not.toContain("chosen");
    },
  );

  it.each(["1999-01-01", "9999-12-31", "chosen", ""])(
    "have the version that the server chose for a handshake with %j",
    async (protocolVersion) => {
      const { meter, measured } = createMeter();
      const { app } = createObservedApp({ observe: otel({ meter }) });
      const harness = new ConnectionHarness(app.open());
      harness.receive(legacyLine(1, "initialize", { ...handshake, protocolVersion }));
      await harness.until(() => harness.sent.length > 0);
      await harness.close();
      const versions = measured.map(({ attributes }) => attributes["mcp.protocol.version"]);
      expect(versions).not.toEqual([]);
      for (const version of versions) expect(legacyVersions).toContain(version);
    },
  );
});
