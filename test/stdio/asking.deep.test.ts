import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { askingClients, type AskingClient, type AskingClientSetting, type Filled } from "./asking-client.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("fixtures/asking.ts", import.meta.url), "asking");
});

let clients: AskingClient[] = [];
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});

const ada: Filled = { action: "accept", content: { name: "Ada" } };

describe.each(askingClients)("asking $name over stdio", { timeout: 30_000 }, ({ connect, era }) => {
  const messages: string[] = [];

  async function open(more: Partial<AskingClientSetting> & { fill?: (message: string) => Filled } = {}) {
    messages.length = 0;
    const fill = (message: string): Filled => {
      messages.push(message);
      return more.fill?.(message) ?? ada;
    };
    const answers = { fill, roots: () => [{ uri: "file:///here" }] };
    const client = await connect({ script, answers, ...more });
    clients.push(client);
    return client;
  }

  it("has the user fill in a form, the model write, and learns where they work", async () => {
    const client = await open();
    expect(await client.callTool({ name: "greet" })).toMatchObject({ structuredContent: { text: "Hello Ada" } });
    expect(await client.callTool({ name: "write" })).toMatchObject({ structuredContent: { text: "Once" } });
    expect(await client.callTool({ name: "where" })).toMatchObject({
      structuredContent: { roots: ["file:///here"] },
    });
  });

  it("asks in rounds, several at once, for prompts and for resources", async () => {
    const fill = (message: string): Filled =>
      message === "Sure?" ? { action: "accept", content: { sure: true } } : ada;
    const client = await open({ fill });
    expect(await client.callTool({ name: "rounds" })).toMatchObject({
      structuredContent: { first: "accept", second: "accept" },
    });
    expect(messages).toEqual(["First?", "Sure?"]);
    expect(await client.callTool({ name: "several" })).toMatchObject({
      structuredContent: { first: "accept", second: "accept", roots: 1 },
    });
    expect(await client.getPrompt({ name: "letter" })).toMatchObject({
      messages: [{ content: { text: "Write to Ada" } }],
    });
    expect(await client.readResource({ uri: "surface://asker/desk" })).toMatchObject({
      contents: [{ text: '{"of":"Ada"}' }],
    });
  });

  it("is not asked after a nested call that may have changed something, which runs once", async () => {
    const client = await open();
    expect(await client.callTool({ name: "late" })).toMatchObject({
      isError: true,
      _meta: { "surface-mcp/error": { code: "ASK_AFTER_CHANGE" } },
    });
    expect(messages).toEqual([]);
    expect(await client.callTool({ name: "stamp" })).toMatchObject({ structuredContent: { stamps: 2 } });
  });

  it("runs what takes consent when it is given, and not when it is declined", async () => {
    const wipe = { name: "wipe", arguments: { disk: "sda" } };
    const willing = await open({ fill: () => ({ action: "accept", content: {} }) });
    expect(await willing.callTool(wipe)).toMatchObject({ structuredContent: { wiped: "sda" } });
    expect(messages).toEqual([expect.stringMatching(/Wipe it all[^]*sda/)]);
    const unwilling = await open({ fill: () => ({ action: "decline" }) });
    expect(await unwilling.callTool(wipe)).toMatchObject({
      isError: true,
      _meta: { "surface-mcp/error": { code: "DECLINED", details: { action: "decline" } } },
    });
  });

  it("is told no before anything is asked when the client cannot be asked", async () => {
    const client = await open({ capabilities: {} });
    const refused = await client.callTool({ name: "greet" }).catch((cause: unknown) => cause);
    const inResult = { isError: true, _meta: { "surface-mcp/error": { code: "CLIENT_CANNOT" } } };
    expect(refused).toMatchObject(era === "modern" ? { code: -32021 } : inResult);
    expect(messages).toEqual([]);
  });

  it.runIf(era === "legacy")("asks again where the user works when that has changed (D12)", async () => {
    let uri = "file:///a";
    const client = await open({ answers: { fill: () => ada, roots: () => [{ uri }] } });
    const where = async (): Promise<unknown> => (await client.callTool({ name: "where" }))["structuredContent"];
    expect(await where()).toEqual({ roots: ["file:///a"] });
    uri = "file:///b";
    expect(await where()).toEqual({ roots: ["file:///a"] });
    await client.rootsChanged();
    expect(await where()).toEqual({ roots: ["file:///b"] });
  });

  it("goes on with other calls when one was cancelled while it asked", async () => {
    const controller = new AbortController();
    let isFirst = true;
    const fill = async (): Promise<Filled> => {
      if (!isFirst) return ada;
      isFirst = false;
      controller.abort();
      // Later than the cancellation.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return ada;
    };
    const client = await open({ answers: { fill, roots: () => [] } });
    await expect(client.callTool({ name: "greet" }, controller.signal)).rejects.toBeInstanceOf(Error);
    expect(await client.callTool({ name: "greet" })).toMatchObject({ structuredContent: { text: "Hello Ada" } });
  });
});
