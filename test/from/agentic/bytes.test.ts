import { afterEach, describe, expect, it } from "vitest";
import { mcpAgentic } from "../../../src/builder/mcp-agentic.ts";
import type { AgenticAction } from "../../../src/from/agentic/service-shape.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { isSchema, standardOf } from "../../../src/schema/standard.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { readState, settled, show, stage, state, type Begin, type Staged } from "./support.ts";

const blob = { type: "blob", mediaType: "image/png" };
const floats = { type: "typed-buffer", items: { type: "number", precision: 1 } };
const hello = Buffer.from("hello").toString("base64");
const halves = Buffer.from(new Float32Array([0.5, -2]).buffer).toString("base64");

type Client = ReturnType<typeof connect>;

function connect(staged: Staged) {
  return createTestClient(mcpAgentic(staged.service));
}

const open: Client[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((agent) => agent.close()));
});

/** A service behind an app, and a client of that. */
function play(begin: Begin): { readonly staged: Staged; readonly agent: Client } {
  const staged = stage(begin);
  const agent = connect(staged);
  open.push(agent);
  return { staged, agent };
}

/** Calls an action of this schema. Returns the input that the service was given, or the text of the refusal. */
async function send(schema: object, args: JsonObject): Promise<unknown> {
  const { staged, agent } = play({ actions: { it: { schema } } });
  const answer = await agent.tools["it"]?.(args);
  return answer?.isError === true ? answer.text : staged.ran[0]?.[1];
}

async function textOf(value: unknown): Promise<unknown> {
  return value instanceof Blob ? [value.type, await value.text()] : value;
}

function object(properties: Readonly<Record<string, object>>, more: object = {}): object {
  return { type: "object", properties, additionalProperties: false, ...more };
}

describe("bytes in the input of an action", () => {
  it("are a Blob of the media type that the schema names", async () => {
    expect(await textOf(await send(blob, { value: hello }))).toEqual(["image/png", "hello"]);
    expect(await textOf(await send({ type: "blob" }, { value: "" }))).toEqual(["", ""]);
  });

  it.each<[object, unknown]>([
    [{}, new Uint8Array(8)],
    [{ items: { type: "string" } }, new Uint8Array(8)],
    [{ items: { type: "boolean" } }, new Uint8Array(8)],
    [{ items: { type: "number", enum: [1, 2] } }, new Uint8Array(8)],
    [{ items: { type: "integer", minimum: 0, maximum: 255 } }, new Uint32Array(2)],
    [{ items: { type: "integer", minimum: -1, maximum: 255 } }, new Int32Array(2)],
    [{ items: { type: "integer" } }, new Float64Array(1)],
    [{ items: { type: "number", precision: 1 } }, new Float32Array(2)],
    [{ items: { type: "number" } }, new Float64Array(1)],
  ])("are the array in which a typed buffer of %j keeps its items", async (more, expected) => {
    const given = await send({ type: "typed-buffer", ...more }, { value: Buffer.alloc(8).toString("base64") });
    expect(given).toStrictEqual(expected);
  });

  it("are decoded everywhere in an input, and no other value is", async () => {
    const schema = object({
      name: { type: "string" },
      picture: blob,
      list: { type: "array", items: floats },
      either: { oneOf: [floats, { type: "null" }] },
      both: { allOf: [{ properties: { a: floats } }, { properties: { b: { type: "string" } } }] },
      deep: { type: "object", properties: { id: { type: "string" } }, additionalProperties: floats },
    });
    const given = await send(schema, {
      name: hello,
      list: [halves, halves],
      either: halves,
      both: { a: halves, b: hello },
      deep: { id: hello, ["__proto__"]: halves, x: halves },
    });
    const array = new Float32Array([0.5, -2]);
    expect(given).toStrictEqual({
      name: hello,
      list: [array, array],
      either: array,
      both: { a: array, b: hello },
      deep: { id: hello, ["__proto__"]: array, x: array },
    });
    expect(await send(schema, { either: null })).toStrictEqual({ either: null });
  });

  it("are decoded by the first alternative that fits", async () => {
    const either = { anyOf: [floats, { type: "string" }, object({ raw: blob })] };
    expect(await send(object({ either }), { either: halves })).toEqual({ either: new Float32Array([0.5, -2]) });
    expect(await send(object({ either }), { either: "hi" })).toEqual({ either: "hi" });
    expect(await send(object({ either }), { either: { raw: "hi" } })).toContain("- either.raw: expected base64");
  });

  it("are decoded in a copy: the arguments of a call are compared and shown later", async () => {
    const shown = show(
      stage({ actions: { it: { schema: object({ at: { type: "array", items: floats } }) } } }).service,
    );
    const schema = shown.source.list()[0]?.inputSchema;
    const args = { at: [halves] };
    const checked = isSchema(schema) ? standardOf(schema).validate(args) : undefined;
    expect(checked).toStrictEqual({ value: { at: [new Float32Array([0.5, -2])] } });
    expect(args).toStrictEqual({ at: [halves] });
  });

  it("are decoded for an action of several parameters", async () => {
    const given: unknown[] = [];
    const mix: AgenticAction = {
      parameters: [floats, { type: "string" }],
      execute: (...input: unknown[]) => void given.push(...input),
    };
    const { agent } = play({ actions: { mix } });
    await agent.tools["mix"]?.({ arg0: halves, arg1: halves });
    expect(given).toStrictEqual([new Float32Array([0.5, -2]), halves]);
  });

  it.each([
    ["is no base64", "not base64!"],
    ["has no padding", "aGVsbG8"],
    ["is of the alphabet for URLs", "_-8="],
    ["has a line break", "aGVs\nbG8="],
    ["has bits after its end", "aGVsbG9="],
    ["is a data URL", `data:image/png;base64,${hello}`],
  ])("are refused with the name of their field when the text %s", async (_what, text) => {
    const refusal = await send(object({ at: object({ pictures: { type: "array", items: blob } }) }), {
      at: { pictures: [hello, text] },
    });
    expect(refusal).toContain("- at.pictures.1: expected base64");
    expect(await send(blob, { value: text })).toContain("- value: expected base64");
  });

  it("are refused when their length is no multiple of the item size", async () => {
    expect(await send(object({ at: floats }), { at: hello })).toContain(
      "- at: expected 4 bytes for each item of a Float32Array, received 5 bytes",
    );
  });

  it("are a base64 text in the schema, which describes the items of a typed buffer", async () => {
    const { agent } = play({
      actions: { it: { schema: object({ a: blob, b: { ...floats, description: "Heights" } }) } },
    });
    const [tool] = await agent.listTools();
    expect(tool).toMatchObject({
      inputSchema: {
        properties: {
          a: { type: "string", contentEncoding: "base64", contentMediaType: "image/png" },
          b: { type: "string", contentEncoding: "base64", description: "Heights: the bytes of a Float32Array" },
        },
      },
    });
  });

  it("are decoded by the current schema, also when its JSON text stays the same", async () => {
    const { staged, agent } = play({ actions: { it: { schema: blob } } });
    await agent.tools["it"]?.({ value: hello });
    staged.actions.tell({ it: { schema: { type: "typed-buffer", mediaType: "image/png" } } });
    await settled();
    await agent.tools["it"]?.({ value: hello });
    expect(staged.ran.map(([, input]) => (input as object).constructor)).toEqual([Blob, Uint8Array]);
  });

  it("are the same operation for as long as the action says the same", async () => {
    const { service, actions } = stage({ actions: { it: { schema: object({ a: floats }) } } });
    const shown = show(service);
    const [before] = shown.source.list();
    actions.tell({ it: { schema: object({ a: { ...floats } }) } });
    await settled();
    expect(shown.source.list()[0]).toBe(before);
    expect(shown.changes()).toBe(0);
  });

  it("exclude an action when they cannot be decoded", () => {
    const shown = show(stage({ actions: { it: { schema: { patternProperties: { a: blob } } }, other: {} } }).service);
    expect(shown.names()).toEqual(["other"]);
    expect(shown.messages()).toEqual([
      'Cannot list action "it": Cannot decode the bytes below "patternProperties" of a schema; it is left out',
    ]);
  });
});

describe("the bytes of a state", () => {
  const bytes = Buffer.from("hello");
  it.each<[string, unknown]>([
    ["a Uint8Array", new Uint8Array(bytes)],
    ["a Buffer", bytes],
    ["a DataView", new DataView(Uint8Array.from(bytes).buffer)],
    ["an ArrayBuffer", Uint8Array.from(bytes).buffer],
    ["a Blob", new Blob([bytes])],
    ["a part of an array", new Uint8Array([0, ...bytes, 0]).subarray(1, 6)],
  ])("are base64 when they are %s, also within a value", async (_what, value) => {
    const within = { is: [value, { of: value }], and: value, also: 1 };
    const states = { raw: state(value, { type: "blob" }), within: state(within, { type: "object" }) };
    const shown = show(stage({ states }).service, { states: "resource" });
    expect(await readState(shown, "state/raw")).toBe(hello);
    expect(await readState(shown, "state/within")).toEqual({
      is: [hello, { of: hello }],
      and: hello,
      also: 1,
    });
    expect(within.and).toBe(value);
    const asked = show(stage({ states }).service, { states: "tool" });
    expect(await asked.invoke("get_state", { keys: ["raw"] })).toEqual({ raw: hello });
  });

  it("are a list of numbers if the schema declares one", async () => {
    const list = { type: "array", items: { type: "number" } };
    const value = { at: new Float32Array([0.5, -2]), not: new Float32Array([0.5, -2]) };
    const schema = { properties: { at: { oneOf: [list, { type: "null" }] }, not: floats } };
    const shown = show(
      stage({ states: { it: state(value, schema), all: state([value.at], { items: list }) } }).service,
      {
        states: "resource",
      },
    );
    expect(readState(shown, "state/it")).toEqual({ at: [0.5, -2], not: halves });
    expect(readState(shown, "state/all")).toEqual([[0.5, -2]]);
  });

  it("are listed in their place among the other states while a Blob is read", async () => {
    const { service } = stage({ states: { a: state(new Blob([bytes])), b: state(2), c: state(new Map()) } });
    const answer = await show(service, { states: "tool" }).invoke("get_state", {});
    expect(JSON.stringify(answer)).toBe(
      `{"a":"${hello}","b":2,"%unreadable":{"c":"it holds a value that JSON cannot represent"}}`,
    );
  });
});
