import { afterEach, describe, expect, it } from "vitest";
import { http } from "../../src/http/http.ts";
import { handshake, legacyLine } from "../fixtures/envelope.ts";
import { createFeaturesApp } from "./features-app.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Ask = (method: string, params?: object) => Promise<Sent>;

async function overStdio(protocolVersion: string): Promise<Ask> {
  const harness = new ConnectionHarness(createFeaturesApp({ title: "Studio" }).open());
  open.push(() => harness.close());
  let id = 0;
  const ask: Ask = (method, params = {}) => harness.request("legacy", (id += 1), { method, params });
  return Object.assign(ask, { greeted: await ask("initialize", { ...handshake, protocolVersion }) });
}

async function overHttp(protocolVersion: string): Promise<Ask> {
  const serving = await http({ exit: false }).serve(createFeaturesApp({ title: "Studio" }));
  open.push(() => serving.close());
  let session: Record<string, string> = {};
  let id = 0;
  const ask: Ask = async (method, params = {}) => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session };
    const answer = await fetch(serving.url, { method: "POST", headers, body: legacyLine((id += 1), method, params) });
    session = { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
    const text = await answer.text();
    return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  };
  return Object.assign(ask, { greeted: await ask("initialize", { ...handshake, protocolVersion }) });
}

const doors = { stdio: overStdio, HTTP: overHttp };

/** Everything that a client can list or get, as text. */
async function everything(ask: Ask): Promise<string> {
  const answers = [Reflect.get(ask, "greeted")];
  for (const list of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]) {
    answers.push(await ask(list));
  }
  for (const name of ["picture", "sound", "file", "link", "mixed", "chart"])
    answers.push(await ask("tools/call", { name }));
  answers.push(await ask("prompts/get", { name: "review", arguments: { track: "Bass", tone: "kind" } }));
  answers.push(await ask("resources/read", { uri: "studio://tracks" }));
  for (const answer of answers) expect(answer).toHaveProperty("result");
  // A schema has titles of its own.
  return JSON.stringify(answers, (key, value) => (key === "inputSchema" ? undefined : value));
}

describe.each(Object.entries(doors))("a client over %s", (_door, connect) => {
  it.each([
    ["2024-11-05", ["icons", "title", "outputSchema", "structuredContent", "audio", "resource_link"]],
    ["2025-06-18", ["icons"]],
    ["2025-11-25", []],
  ])("of %s is sent nothing of %j", async (version, lacking) => {
    const ask = await connect(version);
    const all = await everything(ask);
    const parts = ["icons", "title", "outputSchema", "structuredContent", "audio", "resource_link"];
    expect(parts.filter((part) => !all.includes(`"${part}"`))).toEqual(lacking);
  });

  it("of an old version gets text instead of blocks that it does not know", async () => {
    const ask = await connect("2024-11-05");
    expect(await ask("tools/call", { name: "link" })).toMatchObject({
      result: { content: [{ type: "text", text: "Tracks (studio://tracks)" }] },
    });
    expect(await ask("tools/call", { name: "sound" })).toMatchObject({
      result: { content: [{ type: "text", text: "[audio/wav, 70 bytes]" }] },
    });
    const { result } = await ask("tools/call", { name: "mixed" });
    expect(result).toEqual({
      content: [
        { type: "text", text: "Two of them" },
        { type: "image", data: expect.any(String), mimeType: "image/png", annotations: { priority: 1 } },
      ],
    });
  });

  it("of 2025-03-26, which demands batches, is answered with the version before", async () => {
    const ask = await connect("2025-03-26");
    expect(ask).toHaveProperty("greeted.result.protocolVersion", "2024-11-05");
    expect(await ask("tools/call", { name: "link" })).toMatchObject({ result: { content: [{ type: "text" }] } });
  });
});
