import { describe, expect, it } from "vitest";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import { echo, startEcho } from "../support/echo-surface.ts";
import { createMemoryPair, type Loose } from "../support/memory-transport.ts";
import { serveWire, RawPeer } from "./support.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const trace = { traceparent, tracestate: "vendor=1", baggage: "tenant=blue" };

const malformed: readonly unknown[] = [
  null,
  "00",
  [],
  {},
  { traceparent: 7 },
  { traceparent: "00-xyz" },
  { traceparent: `${traceparent}${"-0".repeat(100_000)}` },
  { tracestate: "vendor=1" },
];

describe("a trace context on the wire", () => {
  it("is read by the server: valid fields reach the handler, a malformed context is dropped, and the call runs", async () => {
    const { live } = startEcho();
    const pair = createMemoryPair();
    serveWire(live, pair.server, { onFault: () => {} });
    const peer = new RawPeer(pair.client);
    peer.ask("hello", "surface/hello", { protocol: 1, surface: "echo", members: {} });
    await peer.reply("hello");
    let id = 0;
    const traced = async (sent: unknown, verb = "call", member = "traced"): Promise<unknown> => {
      id += 1;
      peer.ask(id, "surface/ask", { verb, member, trace: sent });
      return (await peer.reply(id)).result;
    };
    expect(await traced(trace)).toEqual({ value: trace });
    expect(await traced({ ...trace, tracestate: "\n", token: "secret" })).toEqual({
      value: { traceparent, baggage: "tenant=blue" },
    });
    for (const sent of malformed) expect(await traced(sent)).toEqual({ value: null });
    expect(await traced(7, "get", "count")).toEqual({ value: 1 });
    await live.close();
  });

  it("is sent by the client with calls only, and only if it is valid", async () => {
    const { live } = startEcho();
    const pair = createMemoryPair();
    serveWire(live, pair.server, { onFault: () => {} });
    const connection = await openWireClient(echo, pair.client, {});
    const { client } = connection;
    await client.traced.call(undefined, { trace: { ...trace, ["password"]: "x" } as typeof trace });
    for (const given of malformed) await client.traced.call(undefined, { trace: given as typeof trace });
    await client.traced.call();
    await client.count.get({ trace } as object);
    const asks: readonly Loose[] = pair.client.sent.filter(({ method }: Loose) => method === "surface/ask");
    expect(asks).toHaveLength(malformed.length + 3);
    expect(asks.map(({ params }) => params.trace)).toEqual([trace, ...asks.slice(1).map(() => undefined)]);
    await connection.close();
    await live.close();
  });
});
