import { describe, expect, it } from "vitest";
import * as z from "zod";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import { toMemberCodec, type Verb } from "../../../src/links/wire/member-codec.ts";
import { cell, collection, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { kPushed, type Reading, Stale, type Staleness } from "../../../src/surface/reading.ts";
import { Pushed } from "../../surface/owner/pushed.ts";
import { settle } from "../../surface/support.ts";
import { createMemoryPair } from "../support/memory-transport.ts";
import { serveWire, connectRaw } from "./support.ts";

const since = "2026-01-02T03:04:05.678Z";
const lost: Staleness = { reason: "lost", since };
const size = cell({ schema: z.bigint() });
const rows = collection({ key: z.string(), schema: z.object({ at: z.date() }) });
const at = new Date(since);

describe("a stale value over a wire", () => {
  it.each<readonly [Verb, unknown, unknown]>([
    ["get", 5n, { value: "5" }],
    ["watch", 5n, { value: "5" }],
  ])("%s of a cell carries it both ways", (verb, value, part) => {
    const codec = toMemberCodec(size, "size").answer(verb);
    expect(codec?.encode(value)).toEqual(part);
    const answer = { ...(part as object), stale: lost };
    expect(codec?.encode(new Stale(value, lost))).toEqual(answer);
    expect(codec?.receive(answer)).toEqual(new Stale(value, lost));
    expect(codec?.receive(part)).toEqual(value);
  });

  it.each<readonly [Verb, unknown, unknown]>([
    ["item", { at }, { value: { at: since } }],
    ["watchItem", undefined, {}],
    ["keys", ["a"], { value: [{ value: "a" }] }],
    ["watchKeys", [], { value: [] }],
  ])("%s of a collection carries it both ways", (verb, value, part) => {
    const codec = toMemberCodec(rows, "rows").answer(verb);
    const answer = { ...(part as object), stale: lost };
    expect(codec?.encode(new Stale(value, lost))).toEqual(answer);
    expect(codec?.receive(answer)).toEqual(new Stale(value, lost));
    expect(codec?.receive(part)).toEqual(value);
  });

  it.each([
    [
      { reason: "later", since },
      { reason: "later", since },
    ],
    [
      { reason: "lost", since: "2026-01-02T03:04:05+01:00", more: 1 },
      { reason: "lost", since: "2026-01-02T03:04:05+01:00" },
    ],
    ["lost", undefined],
    [null, undefined],
    [[], undefined],
    [{}, undefined],
    [{ reason: "lost" }, undefined],
    [{ reason: 5, since }, undefined],
    [{ reason: "", since }, undefined],
    [{ reason: "a".repeat(33), since }, undefined],
    [{ reason: "lost\u202e", since }, undefined],
    [{ reason: "ignore all that", since }, undefined],
    [{ reason: "lost", since: "2".repeat(41) }, undefined],
    [{ reason: "lost", since: "2026 ignore all that" }, undefined],
    [{ reason: "lost", since: `${since}\n` }, undefined],
  ])("what is received of %j is %j", (stale, read) => {
    const received = toMemberCodec(size, "size").answer("get")?.receive({ value: "5", stale });
    expect(received).toEqual(read === undefined ? 5n : new Stale(5n, read as Staleness));
  });

  it("what is said of a frame or of an answer of a procedure is not read", () => {
    const frames = toMemberCodec(stream({ output: z.string() }), "frames");
    const run = toMemberCodec(procedure({ output: z.string() }), "run");
    for (const codec of [frames.answer("latest"), frames.answer("open"), run.answer("call")]) {
      expect(codec?.receive({ value: "5", stale: lost })).toBe("5");
    }
  });

  it("a client that is told so by hand hands out the value, and says so to those who ask", async () => {
    const { client, peer, connection } = await connectRaw();
    const read = client.maybe.reading();
    const asked = await peer.next(({ method }) => method === "surface/ask");
    peer.answer(asked.id, { stale: lost });
    expect(await read).toEqual({ value: undefined, stale: lost });
    const keys = client.places.keysReading();
    const listed = await peer.next(({ method, params }) => method === "surface/ask" && params.verb === "keys");
    peer.answer(listed.id, { value: [{ value: { row: 1 } }], stale: lost });
    expect(await keys).toEqual({ value: [{ row: 1 }], stale: lost });
    await connection.close();
  });

  it("a watcher sees a value go stale and come back", async () => {
    const surface = defineSurface("s", { size });
    const pushed = new Pushed<Reading<bigint>>();
    const source = { [kPushed]: { open: (signal: AbortSignal) => pushed.run(signal) } };
    const live = implementSurface(surface, { size: source }, { onFault: () => {} });
    const pair = createMemoryPair();
    serveWire(live, pair.server, {});
    const connection = await openWireClient(surface, pair.client, {});
    const values = connection.client.size.readings()[Symbol.asyncIterator]();
    const first = values.next();
    await settle(6);
    pushed.push({ value: 5n });
    expect((await first).value).toEqual({ value: 5n });
    pushed.push({ value: 5n, stale: lost });
    expect((await values.next()).value).toEqual({ value: 5n, stale: lost });
    expect(await connection.client.size.get()).toBe(5n);
    pushed.push({ value: 5n });
    expect((await values.next()).value).toEqual({ value: 5n });
    await connection.close();
    await live.close();
  });

  it("a watcher of the value alone hears of another value, however often it goes stale and comes back before", async () => {
    const surface = defineSurface("s", { size });
    const pushed = new Pushed<Reading<bigint>>();
    const source = { [kPushed]: { open: (signal: AbortSignal) => pushed.run(signal) } };
    const live = implementSurface(surface, { size: source }, { onFault: () => {} });
    const pair = createMemoryPair();
    serveWire(live, pair.server, {});
    const connection = await openWireClient(surface, pair.client, {});
    const values = connection.client.size.watch()[Symbol.asyncIterator]();
    const first = values.next();
    await settle(6);
    pushed.push({ value: 5n });
    expect((await first).value).toBe(5n);
    const second = values.next();
    // More than may be under way: what is not handed out gives its credit back all the same.
    for (let round = 0; round < 20; round += 1) {
      pushed.push({ value: 5n, ...(round % 2 === 0 ? { stale: lost } : {}) });
      await settle(9);
    }
    pushed.push({ value: 6n });
    expect((await second).value).toBe(6n);
    await connection.close();
    await live.close();
  });
});
