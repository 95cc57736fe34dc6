import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Refusal, SurfaceError, surfaceErrorCodes } from "../../../src/errors.ts";
import { linkLossOf } from "../../../src/links/dial-link.ts";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { createMemoryPair } from "../support/memory-transport.ts";
import { day } from "../support/rich-surface.ts";
import { serveWire, connectRaw, connectRich, outcome } from "./support.ts";
import { operationsOf } from "../../surface/uses-of.ts";

describe("errors over a wire", () => {
  it("carry a refusal with its details as they were", async () => {
    const { client, live } = await connectRich();
    const refused = await outcome(client.bury.call({ at: day, how: "refused" }));
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ code: "TAKEN", message: "somebody was here", details: { by: day } });
    const free = await outcome(client.bury.call({ at: day, how: "freely refused" }));
    expect(free).toMatchObject({ code: "ODD", message: "no", details: { any: ["thing"] } });
    const bad = await outcome(client.bury.call({ at: day, how: "badly refused" }));
    expect([bad.code, bad.details]).toEqual(["TAKEN", undefined]);
    await live.close();
  });

  it("mask what a handler throws and name it by its correlation id", async () => {
    const { client, pair, faults, live } = await connectRich();
    const masked = await outcome(client.bury.call({ at: day, how: "broken" }));
    expect(masked).toBeInstanceOf(SurfaceError);
    expect(masked).toMatchObject({ code: "INTERNAL", correlationId: faults[0]?.correlationId });
    expect(JSON.stringify(pair.server.sent)).not.toContain("secret");
    await live.close();
  });

  it("carry the issues of an input that does not fit", async () => {
    const { client, live } = await connectRich();
    const error = await outcome(client.bury.call({ at: day, how: 5 as never }));
    expect(error).toMatchObject({ code: "VALIDATION_ERROR", issues: [{ path: "how" }] });
    expect(await outcome(client.rang.wait(undefined, { timeoutMs: -1 }))).toMatchObject({ code: "VALIDATION_ERROR" });
    const stream = client.clock.open({ from: "x" as never })[Symbol.asyncIterator]();
    expect(await outcome(stream.next())).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    await live.close();
  });

  it("refuse a use of an unknown member or of another kind before anything is sent", async () => {
    const { channel, pair, live } = await connectRich();
    const count = pair.client.sent.length;
    expect(await outcome(operationsOf(channel).get("nobody", {}))).toMatchObject({ code: "UNKNOWN_MEMBER" });
    expect(await outcome(operationsOf(channel).get("toString", {}))).toMatchObject({ code: "UNKNOWN_MEMBER" });
    expect(await outcome(operationsOf(channel).get("bury", {}))).toMatchObject({ code: "WRONG_KIND" });
    const argument = () => {};
    expect(await outcome(operationsOf(channel).call("echo", argument, {}))).toMatchObject({ code: "UNSERIALISABLE" });
    expect(pair.client.sent.length).toBe(count);
    await live.close();
  });

  it("report an answer that has no JSON form to the owner, and say so", async () => {
    const surface = defineSurface("odd", { give: procedure({ input: z.string() }) });
    const live = implementSurface(surface, { give: (what) => (what === "map" ? new Map() : 5n) });
    const pair = createMemoryPair();
    const faults: { correlationId: string }[] = [];
    serveWire(live, pair.server, { onFault: (fault) => void faults.push(fault) });
    const { client } = await openWireClient(surface, pair.client);
    const error = await outcome(client.give.call("map"));
    expect(error).toMatchObject({ code: "UNSERIALISABLE", correlationId: faults[0]?.correlationId });
    await live.close();
  });

  it("fail the one use whose request or answer is too large", async () => {
    const { client, pair, live } = await connectRich();
    const large = "x".repeat(500);
    pair.client.maxLength = 400;
    expect(await outcome(client.echo.call(large))).toMatchObject({ code: "FRAME_TOO_LARGE" });
    pair.client.maxLength = 4000;
    pair.server.maxLength = 400;
    expect(await outcome(client.echo.call(large))).toMatchObject({ code: "FRAME_TOO_LARGE" });
    expect(await client.echo.call(1)).toBe(1);
    await live.close();
  });

  it("end the one stream whose item is too large", async () => {
    const { client, chest, pair, live } = await connectRich();
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    await watch.next();
    pair.server.maxLength = 300;
    chest.set({ ...chest.get(), note: "x".repeat(400) });
    expect(await outcome(watch.next())).toMatchObject({ code: "FRAME_TOO_LARGE" });
    expect(await client.echo.call(1)).toBe(1);
    await live.close();
  });

  it.each(surfaceErrorCodes.map((code) => [code]))(
    "never are a failed connection when a far side says %s, and never in its words",
    async (code) => {
      const { client, peer } = await connectRaw();
      const use = outcome(client.chest.get());
      const { id } = await peer.next((message) => message.method === "surface/ask");
      const data = { kind: "surface", code, message: "boo", issues: [{ path: "a", message: "b" }], correlationId: "c" };
      peer.refuse(id, { code: -32000, message: "boo", data });
      const error = await use;
      expect(error).toBeInstanceOf(SurfaceError);
      expect(linkLossOf(error)).toBeUndefined();
      expect(error.code).not.toBe("DISCONNECTED");
      expect(error.message).not.toContain("boo");
    },
  );

  it.each([
    ["no data", { code: -32000, message: "x" }, "PROTOCOL_MISMATCH"],
    ["an unknown kind", { code: -32000, message: "x", data: { kind: "odd" } }, "INTERNAL"],
    ["an unknown code", { code: -32000, message: "x", data: { kind: "surface", code: "NOPE" } }, "INTERNAL"],
    ["a code that is none", { code: -32000, message: "x", data: { kind: "surface", code: {} } }, "INTERNAL"],
    ["a refusal without a code", { code: -32000, message: "x", data: { kind: "refusal", message: "x" } }, "INTERNAL"],
    [
      "issues whose messages are objects",
      {
        code: -32000,
        message: "x",
        data: { kind: "surface", code: "VALIDATION_ERROR", issues: [{ path: "a", message: { toString: 1 } }] },
      },
      "VALIDATION_ERROR",
    ],
    [
      "issues that are none",
      { code: -32000, message: "x", data: { kind: "surface", code: "ABSENT", issues: 5 } },
      "ABSENT",
    ],
    ["that it was not taken, without goodbye", { code: -32001, message: "x" }, "PROTOCOL_MISMATCH"],
    ["a write error of the library", { code: -32099, message: "x" }, "PROTOCOL_MISMATCH"],
    ["the library's own end", { code: -32097, message: "x" }, "PROTOCOL_MISMATCH"],
  ])("are errors of this side when a far side answers with %s", async (_what, error, code) => {
    const { client, peer } = await connectRaw();
    const use = outcome(client.chest.get());
    const { id } = await peer.next((message) => message.method === "surface/ask");
    peer.refuse(id, error);
    expect(await use).toMatchObject({ code });
  });

  it("are bounded when a far side sends many and long issues", async () => {
    const { client, peer } = await connectRaw();
    const use = outcome(client.chest.get());
    const { id } = await peer.next((message) => message.method === "surface/ask");
    const issues = Array.from({ length: 99 }, () => ({ path: "p".repeat(9999), message: "m\n".repeat(9999) }));
    peer.refuse(id, { code: -32000, message: "x", data: { kind: "surface", code: "VALIDATION_ERROR", issues } });
    const error = await use;
    expect(error.issues).toHaveLength(5);
    expect(JSON.stringify(error.issues).length).toBeLessThan(3000);
  });

  it.each([
    ["nothing", {}],
    ["another type", { value: 5 }],
    ["no object", 7],
    ["a date that is none", { value: { at: "yesterday", size: "1", parts: [], tags: [] } }],
  ])("INVALID_OUTPUT: are told when a far side answers with %s, and the connection lives", async (_what, result) => {
    const { client, peer } = await connectRaw();
    const use = outcome(client.chest.get());
    const { id } = await peer.next((message) => message.method === "surface/ask");
    peer.answer(id, result);
    const error = await use;
    expect(error).toMatchObject({ code: "INVALID_OUTPUT" });
    expect(error.message).toContain('"chest"');
    const again = client.maybe.get();
    const next = await peer.next((message) => message.params?.member === "maybe");
    peer.answer(next.id, {});
    expect(await again).toBeUndefined();
  });

  it("INVALID_OUTPUT: ends a stream whose item does not fit, and cancels it", async () => {
    const { client, peer } = await connectRaw();
    const watch = client.chest.watch()[Symbol.asyncIterator]();
    const step = outcome(watch.next());
    const { id, params } = await peer.next((message) => message.method === "surface/follow");
    peer.tell("surface/item", { stream: params.stream, value: 5 });
    expect(await step).toMatchObject({ code: "INVALID_OUTPUT" });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    await peer.next((message) => message.method === "$/cancelRequest" && message.params.id === id);
  });
});
