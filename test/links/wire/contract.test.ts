import { describe, expect, it } from "vitest";
import * as z from "zod";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import type { Schema } from "../../../src/schema/standard.ts";
import { cell, collection, event, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface, type Surface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import type { Member, Spec } from "../../../src/surface/member.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { createMemoryPair, type Loose } from "../support/memory-transport.ts";
import { rich } from "../support/rich-surface.ts";
import { serveWire, RawPeer, agree, outcome } from "./support.ts";
import { operationsOf } from "../../surface/uses-of.ts";

const formless: Schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };

function surfaceOf(spec: Spec): Surface<Spec> {
  return defineSurface("s", spec as Record<never, never>) as Surface<Spec>;
}

function implement(spec: Spec) {
  const handlers: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(spec)) {
    if (member.kind === "cell") handlers[key] = cellSource(member.default);
    else if (member.kind === "collection") handlers[key] = cellSource(new Map());
    else if (member.kind === "procedure") handlers[key] = (input: unknown) => input;
    else handlers[key] = async function* () {};
  }
  return implementSurface(surfaceOf(spec), handlers as never);
}

/** Connects a client of one spec to a live surface of another. */
async function meet(live: Spec, asked: Spec) {
  const pair = createMemoryPair();
  const opened = implement(live);
  serveWire(opened, pair.server, { onFault: () => {} });
  const connection = await openWireClient(surfaceOf(asked), pair.client);
  return { ...connection, live: opened, pair };
}

const same = procedure({ input: z.number(), output: z.number() });

describe("contracts over a wire", () => {
  it("ignore members that only the live surface has, and words", async () => {
    const named = cell({ schema: z.number().describe("old words"), default: 1, title: "Old" });
    const renamed = cell({ schema: z.number().describe("new words"), title: "New" });
    const { channel, pair, live } = await meet({ named, more: same }, { named: renamed });
    expect(await operationsOf(channel).get("named", {})).toBe(1);
    expect(pair.client.sent.some(({ method }) => method === "surface/describe")).toBe(false);
    await live.close();
  });

  const number = z.number();
  const wide = z.object({ a: z.number(), b: z.number().optional() });
  const narrow = z.object({ a: z.number() });
  const compatible: [string, Member, Member][] = [
    ["gives more fields", cell({ schema: wide, default: { a: 1, b: 2 } }), cell({ schema: narrow })],
    ["lacks an optional field", cell({ schema: narrow, default: { a: 1 } }), cell({ schema: wide })],
    ["takes more optional fields", procedure({ input: wide }), procedure({ input: narrow })],
    ["declares more errors", procedure({ errors: { MORE: number } }), procedure({})],
    ["declares fewer errors", procedure({}), procedure({ errors: { MORE: number } })],
    ["tells progress", procedure({ progress: number }), procedure({})],
  ];

  it.each(compatible)("let a member pass when the live one %s", async (_how, live, asked) => {
    const met = await meet({ it: live }, { it: asked });
    const use =
      asked.kind === "cell"
        ? operationsOf(met.channel).get("it", {})
        : operationsOf(met.channel).call("it", { a: 1 }, {});
    const value = await outcome(use);
    expect(value instanceof Error ? value.message : "").toBe("");
    await met.live.close();
  });

  it("drop what the client's schema does not know", async () => {
    const { channel, live } = await meet(
      { it: cell({ schema: wide, default: { a: 1, b: 2 } }) },
      { it: cell({ schema: narrow }) },
    );
    expect(await operationsOf(channel).get("it", {})).toEqual({ a: 1 });
    await live.close();
  });

  const key = z.string();
  const different: [string, Member, Member, string][] = [
    ["has another value", cell({ schema: z.string() }), cell({ schema: number }), '"value" differs'],
    ["requires more", procedure({ input: wide.required() }), procedure({ input: narrow }), '"argument" differs'],
    ["takes no input", procedure({}), procedure({ input: number }), '"argument" differs'],
    ["takes an input", procedure({ input: number }), procedure({}), '"argument" differs'],
    ["says nothing of its answer", procedure({}), procedure({ output: number }), '"value" differs'],
    ["is of another kind", same, cell({ schema: number }), "it must be a cell, and is a procedure"],
    ["has other keys", collection({ key: z.number(), schema: number }), collection({ key, schema: number }), "differs"],
    [
      "has other items",
      collection({ key, schema: z.string() }),
      collection({ key, schema: number }),
      '"value" differs',
    ],
    ["has other frames", stream({ output: z.string() }), stream({ output: number }), '"value" differs'],
    ["has other occurrences", event({ output: z.string() }), event({ output: number }), '"value" differs'],
    [
      "tells other progress",
      procedure({ progress: z.string() }),
      procedure({ progress: number }),
      '"progress" differs',
    ],
    [
      "refuses otherwise",
      procedure({ errors: { A: key } }),
      procedure({ errors: { A: number } }),
      '"errors.A" differs',
    ],
  ];
  const verbs = { cell: "get", collection: "keys", stream: "latest", event: "recent", procedure: "call" } as const;

  it.each(different)(
    "refuse a member before anything is sent when the live one %s",
    async (...[, live, asked, words]) => {
      const met = await meet({ it: live, any: same }, { it: asked, any: same });
      const count = met.pair.client.sent.length;
      const verb = verbs[asked.kind];
      const error = await outcome((operationsOf(met.channel)[verb] as Loose)("it", undefined, {}));
      expect(error).toMatchObject({ code: "CONTRACT_MISMATCH", message: expect.stringContaining(words) });
      expect(error.message).toContain('Cannot use "it" of surface "s":');
      expect(met.pair.client.sent.length).toBe(count);
      expect(await operationsOf(met.channel).call("any", 5, {})).toBe(5);
      await met.live.close();
    },
  );

  it("name both shapes, clipped", async () => {
    const wideEnum = z.enum(Array.from({ length: 500 }, (_, index) => `option-${index}`));
    const { channel, live } = await meet(
      { it: cell({ schema: wideEnum, default: "option-0" }) },
      { it: cell({ schema: number }) },
    );
    const { message } = await outcome(operationsOf(channel).get("it", {}));
    expect(message).toContain('{"type":"number"}');
    expect(message).toContain("option-");
    expect(message.length).toBeLessThan(800);
    await live.close();
  });

  it("refuse a member that the live surface lacks, at each use, watches too", async () => {
    const { channel, live } = await meet({ any: same }, { any: same, gone: cell({ schema: number }) });
    expect(await outcome(operationsOf(channel).get("gone", {}))).toMatchObject({ code: "CONTRACT_MISMATCH" });
    const watch = operationsOf(channel).watch("gone", {})[Symbol.asyncIterator]();
    expect(await outcome(watch.next())).toMatchObject({ code: "CONTRACT_MISMATCH" });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    expect(await operationsOf(channel).call("any", 5, {})).toBe(5);
    await live.close();
  });

  it.each([
    ["here", number, formless],
    ["there", formless, number],
  ])(
    "tell SCHEMA_UNSUPPORTED of a schema without a JSON form %s, and let the others work",
    async (_where, live, asked) => {
      const met = await meet(
        { it: cell({ schema: live, default: 1 }), any: same },
        { it: cell({ schema: asked }), any: same },
      );
      expect(await outcome(operationsOf(met.channel).get("it", {}))).toMatchObject({ code: "SCHEMA_UNSUPPORTED" });
      expect(await operationsOf(met.channel).call("any", 5, {})).toBe(5);
      await met.live.close();
    },
  );

  it.each([
    ["nothing", {}, "CONTRACT_MISMATCH"],
    ["no members", { members: 5 }, "PROTOCOL_MISMATCH"],
    ["no object", 5, "PROTOCOL_MISMATCH"],
    ["no kind", { members: { chest: {} } }, "CONTRACT_MISMATCH"],
    ["no parts", { members: { chest: { kind: "cell", parts: 5 } } }, "CONTRACT_MISMATCH"],
    ["parts that are none", { members: { chest: { kind: "cell", parts: { value: 5 } } } }, "CONTRACT_MISMATCH"],
    ["other parts", { members: { chest: { kind: "cell", parts: { odd: {} } } } }, "CONTRACT_MISMATCH"],
  ])("refuse when a server describes a member with %s", async (what, described, code) => {
    const pair = createMemoryPair();
    const peer = new RawPeer(pair.server);
    const opening = outcome(openWireClient(rich, pair.client));
    const hello = await peer.next((message) => message.method === "surface/hello");
    const said = agree(hello) as { members: Record<string, unknown> };
    peer.answer(hello.id, { ...said, members: { ...said.members, chest: { kind: "cell", hash: "other" } } });
    const asked = await peer.next((message) => message.method === "surface/describe");
    expect(asked.params).toEqual({ members: ["chest"] });
    peer.answer(asked.id, what === "nothing" ? { members: {} } : described);
    const opened = await opening;
    const error = opened.channel === undefined ? opened : await outcome(operationsOf(opened.channel).get("chest", {}));
    expect(error).toMatchObject({ code });
  });
});
