import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, vi } from "vitest";
import { modernLine } from "../fixtures/envelope.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { dev, exporting, patience, urlOf } from "./dev-support.ts";

/** Connects a client of the SDK, which notes the methods of notifications. */
async function connect(url: URL): Promise<{ readonly client: Client; readonly heard: string[] }> {
  const client = new Client({ name: "test", version: "1" });
  const heard: string[] = [];
  client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
  await client.connect(new StreamableHTTPClientTransport(url));
  atEndOfTest(() => client.close());
  return { client, heard };
}

async function say(client: Client): Promise<unknown> {
  const { structuredContent } = await client.callTool({ name: "say", arguments: { secret: "hunter2" } });
  return structuredContent;
}

async function pidOf(client: Client): Promise<number> {
  const { structuredContent } = await client.callTool({ name: "pid" });
  // The output schema says so.
  return (structuredContent as { readonly value: number }).value;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("dev over HTTP", () => {
  it("reloads a changed file within the session of its client, which hears of it, and shows each request", async () => {
    const served = await dev(exporting("one"), "--port", "0");
    const { client, heard } = await connect(await urlOf(served));
    await client.subscribeResource({ uri: "surface://dev/word" });
    expect(await say(client)).toEqual({ value: "one" });
    for (const word of ["two", "three"]) {
      heard.length = 0;
      await served.write(exporting(word));
      await vi.waitFor(() => {
        expect(heard).toEqual(
          expect.arrayContaining([
            "notifications/tools/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
          ]),
        );
      }, patience);
      expect(await say(client)).toEqual({ value: word });
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "say")?.description).toContain(`Says ${word}`);
    }
    expect(served.out()).toMatch(/^\d\d:\d\d:\d\d {2}tools\/call say {2}ok {2}[\d.]+ ms$/m);
    expect(served.out()).not.toContain("hunter2");
    expect(served.out()).not.toContain("\u001B");
    expect(served.err()).toContain("loaded\n");
  });

  it("tells a subscription without a session of the change, and then ends it with its result", async () => {
    const served = await dev(exporting("one"), "--port", "0");
    const url = await urlOf(served);
    const listened = await fetch(
      url,
      modernPost("subscriptions/listen", { notifications: { toolsListChanged: true } }),
    );
    await served.write(exporting("two"));
    const text = await listened.text();
    expect(text).toContain("notifications/tools/list_changed");
    expect(text.trim().split("\n").at(-1)).toContain(`"result":`);
    const called = await fetch(url, modernPost("tools/call", { name: "say", arguments: { secret: "x" } }));
    expect(await called.text()).toContain("two");
  });

  it("keeps the last version while another does not load", async () => {
    const served = await dev(exporting("one"), "--port", "0");
    const { client } = await connect(await urlOf(served));
    await served.write("export const word = missing;\n");
    await vi.waitFor(() => expect(served.out()).toContain("did not start; the last version"), patience);
    expect(served.err()).toContain("missing is not defined");
    expect(await say(client)).toEqual({ value: "one" });
    await served.write(exporting("two"));
    await vi.waitFor(async () => expect(await say(client)).toEqual({ value: "two" }), patience);
  });

  it("waits for a change when the first version does not load, or the app has ended", async () => {
    const served = await dev("throw new Error('not yet');\n", "--port", "0");
    await vi.waitFor(() => expect(served.out()).toContain("nothing is served until a file changes"), patience);
    await served.write(exporting("one"));
    const { client } = await connect(await urlOf(served));
    await expect(client.callTool({ name: "crash" })).rejects.toThrow("the request could not be passed on");
    await vi.waitFor(() => expect(served.out()).toContain("the app ended: it ended with code 7"), patience);
    await served.write(exporting("two"));
    await vi.waitFor(async () => expect(await say(client)).toEqual({ value: "two" }), patience);
  });

  it.each(["SIGINT", "SIGKILL"] as const)("leaves no process after %s", async (signal) => {
    const served = await dev(exporting("one"), "--port", "0");
    const { client } = await connect(await urlOf(served));
    const pid = await pidOf(client);
    expect(isRunning(pid)).toBe(true);
    served.child.kill(signal);
    expect(await once(served.child, "exit")).toEqual(signal === "SIGINT" ? [0, null] : [null, signal]);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), patience);
  });

  it("ends with 2 and a sentence for a port in use, and for options that exclude each other", async () => {
    const other = createServer();
    await once(other.listen(0, "127.0.0.1"), "listening");
    // A server on a port has an address of this form.
    const { port } = other.address() as AddressInfo;
    const served = await dev(exporting("one"), "--port", String(port));
    expect(await once(served.child, "close")).toEqual([2, null]);
    other.close();
    expect(served.err()).toContain(`Cannot serve at port ${port}: another process listens there`);
    const both = await dev(exporting("one"), "--port", "1", "--stdio");
    expect(await once(both.child, "close")).toEqual([2, null]);
    expect(both.err()).toContain(`"--stdio" excludes "--port"`);
  });
});

describe("dev over stdio", () => {
  it("reloads under one connection, and keeps standard output for messages", async () => {
    const served = await dev(exporting("one"), "--stdio");
    const send = (message: object): void => {
      served.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    };
    const messages = (): readonly { readonly id?: unknown; readonly method?: string }[] =>
      served
        .out()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    const until = (wanted: object): Promise<void> =>
      vi.waitFor(() => expect(messages()).toEqual(expect.arrayContaining([expect.objectContaining(wanted)])), patience);
    const call = (id: number, name: string): void =>
      send({ id, method: "tools/call", params: { name, arguments: { secret: "hunter2" } } });
    const clientInfo = { name: "test", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "resources/subscribe", params: { uri: "surface://dev/word" } });
    call(3, "say");
    await until({ id: 3, result: expect.objectContaining({ structuredContent: { value: "one" } }) });
    await served.write(exporting("two"));
    await until({ method: "notifications/tools/list_changed" });
    await until({ method: "notifications/resources/updated" });
    call(4, "say");
    await until({ id: 4, result: expect.objectContaining({ structuredContent: { value: "two" } }) });
    send({ id: 5, method: "tools/call", params: { name: "crash" } });
    await until({ id: 5, error: expect.objectContaining({ code: -32603 }) });
    call(6, "say");
    await served.write(exporting("three"));
    await until({ id: 6, result: expect.objectContaining({ structuredContent: { value: "three" } }) });
    call(7, "say");
    served.child.stdin.end();
    expect(await once(served.child, "close")).toEqual([0, null]);
    await until({ id: 7 });
    const ids = messages().flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(served.err()).toMatch(/tools\/call say {2}ok/);
    expect(served.err()).toContain("loaded\n");
    expect(served.err()).not.toContain("hunter2");
  });

  it("tells a subscription of a client from 2026-07-28 of the change, and then ends it with its result", async () => {
    const served = await dev(exporting("one"), "--stdio");
    const line = modernLine(1, "subscriptions/listen", { notifications: { toolsListChanged: true } });
    served.child.stdin.write(`${line}\n`);
    await vi.waitFor(() => expect(served.out()).toContain("notifications/subscriptions/acknowledged"), patience);
    await served.write(exporting("two"));
    await vi.waitFor(() => expect(served.out()).toMatch(/tools\/list_changed.*\n.*"id":1.*"result":/), patience);
  });
});
