import { afterEach, describe, expect, it } from "vitest";
import type { LogEntry } from "../../src/catalog/entry.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { createFeaturesApp, pixel, tracks } from "../mcp/features-app.ts";
import { cast } from "../tags/support.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

function open() {
  const client = createTestClient(createFeaturesApp());
  opened.push(client);
  return client;
}

describe("createTestClient()", () => {
  it("has a prompt written", async () => {
    const client = open();
    expect(await client.prompt("review", { track: "drums", tone: "kind" })).toMatchObject({
      description: "Asks for a review",
      messages: [{ content: { text: "Review drums, kind, all bars" } }, { role: "assistant" }],
    });
    await expect(client.prompt("review")).rejects.toMatchObject({ name: "RpcFailure", code: -32602 });
    await expect(cast((name: "hello") => client.prompt(name), "nope")).rejects.toMatchObject({
      name: "RpcFailure",
      code: -32602,
    });
  });

  it("completes arguments of prompts and variables of templates", async () => {
    const client = open();
    expect(await client.complete({ prompt: "review", argument: "tone" }, "ke")).toEqual({
      values: ["keen"],
      total: 1,
      hasMore: false,
    });
    const { values } = await client.complete({ resource: "tracks", variable: "key" });
    expect(values).toEqual(tracks.filter((key) => !key.includes("..")));
    await expect(client.complete({ resource: "tempo", variable: "key" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("gives every block of a rich answer", async () => {
    const client = open();
    expect(await client.tools.mixed()).toEqual({
      isError: false,
      structured: { count: 2 },
      text: "Two of them",
      content: [
        { type: "text", text: "Two of them" },
        { type: "image", data: pixel, mimeType: "image/png", annotations: { priority: 1 } },
      ],
    });
  });

  it("reads non-JSON resources as text or bytes, and an oversized value as its notice", async () => {
    const client = open();
    expect(await client.read("cover")).toBe(pixel);
    expect(await client.read("notes", { page: 1 })).toBe("# 1\ufffd");
    expect(await client.read("tempo")).toEqual({ bpm: 120 });
    const answer = await client.tools.bulk();
    expect(answer).toMatchObject({ isError: false, structured: { truncated: true } });
  });

  it("receives a call's messages to the client's log, at every level", async () => {
    const client = open();
    const heard: LogEntry[] = [];
    await client.tools.link(undefined, { onLog: (entry) => heard.push(entry) });
    expect(heard).toEqual([{ level: "debug", data: "looked up" }]);
  });
});
