import * as z from "zod";
import { describe, expect, it } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { CallContext } from "../../src/call/call-context.ts";
import {
  content,
  imageBlock,
  kContent,
  linkBlock,
  resourceBlock,
  textBlock,
} from "../../src/catalog/content/content.ts";
import { toLogSink } from "../../src/mcp/notifications.ts";
import { createAnswerRenderer } from "../../src/mcp/protocol.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { secret, unwritable } from "../fixtures/unwritable.ts";
import { handlersOf } from "../fixtures/handlers-of.ts";

const png = { data: "aGk=", mimeType: "image/png" };

const surface = defineSurface("s", {});

/** What one answer of a tool comes to on the wire, with what was reported and logged. */
async function answerOf(make: (log: (data: unknown) => void) => unknown) {
  const faults: Fault[] = [];
  const runtime = mcp(surface, { onFault: (fault) => void faults.push(fault) })
    .implement({})
    .tools({ make: { input: z.object({}), handler: (_args, { log }) => make((data) => log("error", data)) } })
    .open();
  const lines: string[] = [];
  const log = toLogSink("debug", {
    send: (line) => void lines.push(JSON.stringify(JSON.parse(line).params)),
    isFull: () => false,
  });
  const call = new CallContext({ log });
  const answer = await handlersOf(runtime)["tools/call"]?.({ name: "make", arguments: {} }, { era: "modern", call });
  await runtime.close();
  if (answer?.kind !== "result") throw new Error(`it is answered with ${JSON.stringify(answer)}`);
  const text = createAnswerRenderer({ name: "s", version: "1" })(1, answer, "modern");
  const { result } = JSON.parse(text) as { readonly result: Readonly<Record<string, unknown>> };
  return { answer: result, text, faults, lines };
}

type Maker = () => unknown;

/** Every place in which a handler may say something that is no JSON, to those who make an answer of it. */
function toHandlers(make: Maker): Readonly<Record<string, Maker>> {
  // What the compiler would not let through.
  const bad = make as () => never;
  return {
    meta: () => content([textBlock("a", { meta: bad() })]),
    "a field of meta": () => content([textBlock("a", { meta: { key: bad() } })]),
    annotations: () => content([textBlock("a", { annotations: bad() })]),
    audience: () => content([textBlock("a", { annotations: { audience: [bad()] } })]),
    text: () => content([textBlock(bad())]),
    block: () => content([bad()]),
    blocks: () => content(bad()),
    options: () => content(["a"], bad()),
    structured: () => content(["a"], { structured: make() }),
    bytes: () => content([imageBlock({ ...png, data: bad() })]),
    "MIME type": () => content([imageBlock({ ...png, mimeType: bad() })]),
    icons: () => content([linkBlock({ uri: "a:b", name: "a", icons: bad() })]),
    icon: () => content([linkBlock({ uri: "a:b", name: "a", icons: [bad()] })]),
    size: () => content([linkBlock({ uri: "a:b", name: "a", size: bad() })]),
    uri: () => content([resourceBlock({ uri: bad(), text: "a" })]),
    "text of a resource": () => content([resourceBlock({ uri: "a:b", text: bad() })]),
    "the answer itself": make,
  };
}

function hasType(block: unknown): boolean {
  return typeof block === "object" && block !== null && "type" in block;
}

describe("a tool that returns unserialisable content", () => {
  it.each(Object.entries(unwritable))("answers in whole blocks when it says %s", async (_what, make) => {
    for (const [place, handler] of Object.entries(toHandlers(make))) {
      const { answer, text } = await answerOf(handler);
      // A JSON array has this name.
      const blocks = answer["content"] as readonly unknown[];
      expect([place, blocks.length > 0, blocks.every(hasType)]).toEqual([place, true, true]);
      expect(text).not.toContain(secret);
      expect(text.length).toBeLessThan(1024 * 1024);
    }
  });

  it.each(Object.entries(unwritable))(
    "answers in whole JSON when it forges contents out of %s",
    async (_what, make) => {
      for (const forged of [make(), { blocks: make() }, { blocks: [make()] }]) {
        const { answer, text } = await answerOf(() => ({ [kContent]: forged }));
        expect(Array.isArray(answer["content"])).toBe(true);
        expect(text).not.toContain(secret);
      }
    },
  );

  it.each(Object.entries(unwritable))("logs the serialisable part of %s", async (_what, make) => {
    const { answer, lines } = await answerOf((log) => {
      log(make());
      log("after it");
      return "done";
    });
    expect(answer).toMatchObject({ structuredContent: { value: "done" } });
    expect(lines.at(-1)).toBe('{"level":"error","data":"after it"}');
    for (const line of lines) {
      expect(() => void JSON.parse(line)).not.toThrow();
      expect(line).not.toContain(secret);
      expect(line.length).toBeLessThan(64 * 1024);
    }
  });

  it.each([
    ["a text block", () => content([textBlock("a\ud800")])],
    ["a plain text", () => content(["\udc00a"])],
    ["a resource", () => content([resourceBlock({ uri: "a:b", text: "\ud800" })])],
    ["the name of a link", () => content([linkBlock({ uri: "a:b", name: "\ud83d" })])],
    ["meta", () => content([textBlock("a", { meta: { key: "\ud800" } })])],
    ["what programs are told", () => content(["a"], { structured: { key: "\ud800" } })],
  ])("writes well-formed text for half a character in %s", async (_where, make) => {
    const { text } = await answerOf(make);
    expect(text).toContain("\\ufffd");
    expect(text).not.toMatch(/\\ud[89a-f]/);
  });

  it.each([
    ...[
      "",
      "image",
      "image/",
      "/png",
      "image/png/x",
      "text/html",
      "image/png\r\nX-Evil: 1",
      "image/pn g",
      "image/\u202egnp",
    ],
    ...["image/png;", "IMAGE/png\u0000", `image/${"x".repeat(100_000)}`, "application/json", 5, null, ["image/png"]],
  ])("is refused the type %j of a picture", async (mimeType) => {
    const { answer, faults } = await answerOf(() => content([imageBlock({ ...png, mimeType: mimeType as string })]));
    expect(answer).toMatchObject({ isError: true });
    expect(faults).toHaveLength(1);
  });

  it.each(["a", "====", "aGk", "aG k=", "aGk=\n", "%%%%", "\u202e===", "aGk-", "aGk_"])(
    "is refused the bytes %j, which are not base64",
    async (data) => {
      const { answer, faults } = await answerOf(() => content([imageBlock({ ...png, data })]));
      expect(answer).toMatchObject({ isError: true });
      expect(faults).toHaveLength(1);
    },
  );

  it("answers that it is too large when a picture is", async () => {
    const { answer, text } = await answerOf(() => content([imageBlock({ ...png, data: new Uint8Array(10 ** 7) })]));
    expect(answer).toMatchObject({ isError: true, _meta: { "surface-mcp/error": { code: "RESULT_TOO_LARGE" } } });
    expect(text.length).toBeLessThan(4096);
  });
});
