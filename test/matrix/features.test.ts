import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { pixel, tracks } from "../mcp/features-app.ts";
import { matrix, type MatrixClient } from "./matrix-client.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("features-server.ts", import.meta.url), "matrix-features");
});

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A text property; empty where there is none. */
function textAt(from: unknown, key: string): string {
  const found: unknown = Reflect.get(Object(from), key);
  return typeof found === "string" ? found : "";
}

describe.each(matrix)("$name", { timeout: 60_000 }, ({ name, connect }) => {
  const isLegacy = name.includes("1.x") || name.includes("legacy");
  let client: MatrixClient;
  beforeAll(async () => {
    client = await connect(script);
  });
  afterAll(() => client.close());

  const contentOf = async (tool: string): Promise<unknown> => (await client.callTool({ name: tool }))["content"];

  it("lists prompts with their display metadata, and gets their messages", async () => {
    const { prompts } = await client.listPrompts();
    expect([prompts].flat().map((prompt) => Reflect.get(Object(prompt), "name"))).toEqual([
      "broken",
      "fetch",
      "hello",
      "refused",
      "review",
    ]);
    expect(prompts).toContainEqual(
      expect.objectContaining({
        title: "Review a track",
        icons: [{ src: "https://studio.example/icon.png", mimeType: "image/png" }],
        _meta: { "studio/x": [1] },
      }),
    );
    expect(await client.getPrompt({ name: "review", arguments: { track: "drums", tone: "kind" } })).toMatchObject({
      description: "Asks for a review",
      messages: [
        { role: "user", content: { type: "text", text: "Review drums, kind, all bars" } },
        { role: "assistant", content: { type: "image", data: pixel, mimeType: "image/png" } },
      ],
    });
  });

  it("gets errors for an unknown prompt and for invalid arguments", async () => {
    await expect(client.getPrompt({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
    await expect(client.getPrompt({ name: "review", arguments: { tone: "rude" } })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("tone"),
    });
  });

  it("completes arguments of prompts and keys of collections", async () => {
    const tone = await client.complete({
      ref: { type: "ref/prompt", name: "review" },
      argument: { name: "tone", value: "k" },
    });
    expect(tone).toMatchObject({ completion: { values: ["kind", "keen"], total: 2, hasMore: false } });
    const key = await client.complete({
      ref: { type: "ref/resource", uri: "studio://tracks/{key}" },
      argument: { name: "key", value: "" },
    });
    const box = await client.complete({
      ref: { type: "ref/prompt", name: "fetch" },
      argument: { name: "box", value: "low" },
      context: { arguments: { shelf: "low" } },
    });
    expect(box).toMatchObject({ completion: { values: ["low-1", "low-2"] } });
    expect(key).toMatchObject({ completion: { values: tracks.filter((each) => !each.includes("..")) } });
  });

  it("receives the log from the requested level on, as its era does", async () => {
    const heard: unknown[] = [];
    client.onLog((line) => heard.push(line));
    await client.callTool({ name: "link" });
    expect(heard).toEqual([]);
    // In the modern era it is asked for by each request, and by no method.
    if (isLegacy) await client.setLoggingLevel("debug");
    const asking = isLegacy ? {} : { _meta: { ...meta, "io.modelcontextprotocol/logLevel": "debug" } };
    await client.callTool({ name: "link", ...asking });
    await expect.poll(() => heard).toEqual([{ level: "debug", data: "looked up" }]);
    if (isLegacy) await client.setLoggingLevel("error");
  });

  it("is given pictures, sounds, resources and links", async () => {
    expect(await contentOf("picture")).toEqual([{ type: "image", data: pixel, mimeType: "image/png" }]);
    expect(await contentOf("sound")).toEqual([{ type: "audio", data: pixel, mimeType: "audio/wav" }]);
    expect(await contentOf("file")).toEqual([
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "a\ufffd" } },
      { type: "resource", resource: { uri: "file:///b.bin", blob: "AQID" } },
    ]);
    expect(await contentOf("link")).toMatchObject([{ type: "resource_link", uri: "studio://tracks", title: "Tracks" }]);
  });

  it("reads on, by the call that a large result names, to its end", async () => {
    await client.listTools();
    const result = await client.callTool({ name: "all_rows" });
    // Older clients reject a link.
    expect(result["content"]).toMatchObject([{ type: "text" }]);
    const structured = Object(result["structuredContent"]);
    let text = textAt(structured, "excerpt");
    for (let call = structured.readOn; call !== undefined;) {
      const part = await client.callTool({ name: call.tool, arguments: call.arguments });
      const value = Object(Object(part["structuredContent"]).value);
      text += textAt(value, "text");
      call = value.next === undefined ? undefined : { ...call, arguments: { uri: value.next } };
    }
    expect(JSON.parse(text)).toHaveProperty("rows.29999", "row 29999");
    const typed = await client.callTool({ name: "typed_rows" });
    expect(typed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("call read_resource with") }],
    });
  });

  it("gets blocks beside structured content, which it validates", async () => {
    await client.listTools();
    const result = await client.callTool({ name: "mixed" });
    expect(result).toMatchObject({
      structuredContent: { count: 2 },
      content: [{ text: "Two of them" }, { data: pixel }],
    });
    const { tools } = await client.listTools();
    expect(tools).toContainEqual(
      expect.objectContaining({ name: "mixed", _meta: { "anthropic/maxResultSizeChars": 100_000 } }),
    );
  });

  it("is given the blocks of a member, which advertises no output schema", async () => {
    const { tools } = await client.listTools();
    expect([tools].flat().find((tool) => textAt(tool, "name") === "chart")).not.toHaveProperty("outputSchema");
    expect(await client.callTool({ name: "chart" })).toMatchObject({
      structuredContent: { value: [1, 2] },
      content: [
        { type: "text", text: "Levels" },
        { type: "image", data: pixel, mimeType: "image/png" },
      ],
    });
  });

  it("reads bytes and texts of other types, and sees the types in the lists", async () => {
    expect(await client.readResource({ uri: "studio://cover" })).toMatchObject({
      contents: [{ uri: "studio://cover", mimeType: "image/png", blob: pixel }],
    });
    expect(await client.readResource({ uri: "studio://notes/2" })).toMatchObject({
      contents: [{ mimeType: "text/markdown", text: "# 2\ufffd" }],
    });
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(
      expect.objectContaining({
        uri: "studio://cover",
        mimeType: "image/png",
        title: "Cover",
        _meta: { "studio/x": [1] },
      }),
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toContainEqual(expect.objectContaining({ name: "notes", mimeType: "text/markdown" }));
  });

  it("reads an oversized value in parts to its end", async () => {
    const { structuredContent } = await client.callTool({ name: "bulk" });
    let text = textAt(structuredContent, "excerpt");
    for (let uri = textAt(structuredContent, "next"); uri !== "";) {
      const [content] = [(await client.readResource({ uri }))["contents"]].flat();
      const part: unknown = JSON.parse(textAt(content, "text"));
      text += textAt(part, "text");
      uri = textAt(part, "next");
    }
    expect(JSON.parse(text)).toEqual({ value: "ü".repeat(300_000) });
  });
});
