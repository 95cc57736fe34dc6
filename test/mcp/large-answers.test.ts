import * as z from "zod";
import { afterEach, describe, expect, it } from "vitest";
import { cell, cellSource, defineSurface, mcp, mcpResource, readOnly, mcpTool, procedure } from "../../src/index.ts";
import { content, imageBlock, textBlock } from "../../src/catalog/content/content.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const rows = Array.from({ length: 4000 }, (_, index) => ({ index, text: `row "${index}" of ü and \u{1f3fa}` }));
const pixels = Buffer.alloc(12_000).toString("base64");

const surface = defineSurface("bulk", {
  small: mcpResource(cell({ schema: z.string() })),
  rows: mcpResource(cell({ schema: z.array(z.object({ index: z.int(), text: z.string() })) })),
  rewrite: mcpTool(procedure({ input: z.object({}), output: z.object({ rows: z.array(z.unknown()) }) })),
  look: readOnly(mcpTool(procedure({ input: z.object({}), output: z.object({ rows: z.array(z.unknown()) }) }))),
});

const limits = { maxResultBytes: 8192, maxResourceBytes: 16_384 };

function createUnpulled() {
  return mcp(surface, { uriPrefix: "bulk://", ...limits })
    .implement({
      small: cellSource("few"),
      rows: cellSource(rows),
      rewrite: () => ({ rows }),
      look: () => ({ rows }),
    })
    .tools({
      any: { handler: () => ({ rows }) },
      picture: {
        handler: () => content([textBlock("a picture"), imageBlock({ data: pixels, mimeType: "image/png" })]),
      },
    });
}

function createApp() {
  return createUnpulled()
    .pull()
    .views({ hub: { face: "gateway" } });
}

const opened: ConnectionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

const ways = [{ era: "legacy" }, { era: "modern" }] as const;

/** A client that reads results; each request has an id of its own. */
async function open(
  { era }: { era: Era },
  create: () => Pick<ReturnType<typeof createUnpulled>, "open"> = createApp,
): Promise<(method: string, params: object) => Promise<Sent>> {
  const harness = await new ConnectionHarness(create().open()).open(era);
  opened.push(harness);
  let id = 0;
  return async (method, params) => {
    id += 1;
    return harness.request(era, id, { method, params });
  };
}

type Request = Awaited<ReturnType<typeof open>>;

function at(from: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce((value: unknown, key) => Reflect.get(Object(value), key), from);
}

/** What a resource says, parsed. */
async function read(request: Request, uri: unknown): Promise<unknown> {
  const answer = await request("resources/read", { uri });
  return JSON.parse(String(at(answer, "result", "contents", 0, "text")));
}

/** All of what was cut, from a first part on. */
async function readOn(excerpt: unknown, readPart: (uri: unknown) => Promise<unknown>): Promise<string> {
  let text = String(at(excerpt, "excerpt"));
  for (let uri = at(excerpt, "next"); uri !== undefined;) {
    const part = await readPart(uri);
    text += String(at(part, "text"));
    uri = at(part, "next");
  }
  return text;
}

describe.each(ways)("an answer that is too large, in the $era era", (way) => {
  it("is marked JSON when it is a resource's, and leads to all of it", async () => {
    const request = await open(way);
    const answer = await request("resources/read", { uri: "bulk://rows" });
    const text = JSON.stringify(rows);
    const [found] = [at(answer, "result", "contents")].flat();
    const mark = at(found, "_meta", "surface-mcp/truncated");
    expect(found).toMatchObject({ uri: "bulk://rows", mimeType: "application/json" });
    expect(mark).toEqual({ bytes: Buffer.byteLength(text), next: expect.stringContaining("bulk://_parts/") });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(limits.maxResourceBytes);
    const excerpt: unknown = JSON.parse(String(at(found, "text")));
    expect(excerpt).toMatchObject({ truncated: true, ...Object(mark) });
    expect(await readOn(excerpt, (uri) => read(request, uri))).toBe(text);
  });

  it("is the tool's result when the tool advertises no schema, and its text is exactly the JSON of that", async () => {
    const request = await open(way);
    const { result } = await request("tools/call", { name: "any", arguments: {} });
    const structured = at(result, "structuredContent");
    expect(at(result, "isError")).toBeUndefined();
    expect(structured).toMatchObject({ truncated: true });
    expect(JSON.parse(String(at(result, "content", 0, "text")))).toEqual(structured);
    // Hosts that show only the beginning of a text show how to read on.
    expect(Object.keys(Object(structured))).toEqual(["truncated", "readOn", "next", "bytes", "excerpt"]);
    expect(at(structured, "readOn")).toEqual({ tool: "read_resource", arguments: { uri: at(structured, "next") } });
    expect(at(result, "content", 1)).toBeUndefined();
    expect(await readOn(structured, (uri) => read(request, uri))).toBe(JSON.stringify({ rows }));
  });

  it.each([
    ["rewrite", "the call took effect and need not be repeated"],
    ["look", "the call succeeded"],
  ])("is an error when %s advertises a schema, and says that %s", async (name, words) => {
    const request = await open(way);
    const { result } = await request("tools/call", { name, arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty("structuredContent");
    const error = at(result, "_meta", "surface-mcp/error");
    expect(error).toMatchObject({ code: "RESULT_TOO_LARGE" });
    const text = String(at(result, "content", 0, "text"));
    expect(text).toMatch(new RegExp(`^RESULT_TOO_LARGE: ${words}, but`));
    expect(text).toContain('{"rows":[{"index":0');
    const next = at(error, "details", "next");
    expect(text.split("\n").slice(1, 3)).toEqual([
      `To read on, call read_resource with ${JSON.stringify({ uri: next })}`,
      "It begins:",
    ]);
    expect(at(result, "content", 1)).toBeUndefined();
    const excerpt = { excerpt: text.slice(text.indexOf('{"rows"')), next };
    expect(await readOn(excerpt, (uri) => read(request, uri))).toBe(JSON.stringify({ rows }));
  });

  it("is an error without an excerpt when it is made of blocks", async () => {
    const request = await open(way);
    const { result } = await request("tools/call", { name: "picture", arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining("RESULT_TOO_LARGE") }],
      _meta: { "surface-mcp/error": { code: "RESULT_TOO_LARGE", details: { bytes: expect.any(Number) } } },
    });
    expect(at(result, "content", 1)).toBeUndefined();
  });

  it("can be read part by part by the tool that reads resources, which itself never answers more", async () => {
    const request = await open(way);
    const call = async (uri: unknown): Promise<unknown> => {
      const answer = await request("tools/call", { name: "read_resource", arguments: { uri } });
      expect(Buffer.byteLength(String(at(answer, "result", "content", 0, "text")))).toBeLessThan(limits.maxResultBytes);
      return at(answer, "result");
    };
    const first = await call("bulk://rows");
    const details = at(first, "_meta", "surface-mcp/error", "details");
    const text = String(at(first, "content", 0, "text"));
    const excerpt = { excerpt: text.slice(text.indexOf("\n{") + 1), next: at(details, "next") };
    const whole = await readOn(excerpt, async (uri) => at(await call(uri), "structuredContent", "value"));
    expect(JSON.parse(whole)).toEqual({ uri: "bulk://rows", value: rows });
  });

  it("leads on by a link where no tool reads", async () => {
    const request = await open(way, createUnpulled);
    const { result: any } = await request("tools/call", { name: "any", arguments: {} });
    const { result: look } = await request("tools/call", { name: "look", arguments: {} });
    const next = at(any, "structuredContent", "next");
    expect(at(any, "structuredContent")).not.toHaveProperty("readOn");
    expect(at(any, "content", 1)).toMatchObject({ type: "resource_link", uri: next });
    expect(String(at(look, "content", 0, "text"))).toContain(
      `To read on, read the resource ${String(at(look, "content", 1, "uri"))}`,
    );
    expect(await readOn(at(any, "structuredContent"), (uri) => read(request, uri))).toBe(JSON.stringify({ rows }));
  });

  it("gives an invalid id the text for an unknown part", async () => {
    const request = await open(way);
    const never = await request("resources/read", { uri: `bulk://x/${"0".repeat(32)}/2` });
    const forged = await request("resources/read", { uri: `bulk://_parts/${"0".repeat(32)}/2` });
    expect(at(forged, "error", "code")).toBe(at(never, "error", "code"));
    expect(at(forged, "error", "message")).toBe(at(never, "error", "message"));
    expect(await read(request, "bulk://small")).toBe("few");
  });
});
