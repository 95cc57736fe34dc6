import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { http } from "../../../src/http/index.ts";
import type { ServableApp } from "../../../src/mcp/servable-app.ts";
import { createDemo } from "../support/demo-app.ts";
import { until } from "../../surface/support.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function connect(app: ServableApp): Promise<Client> {
  const serving = await http({ exit: false, sessions: false }).serve(app);
  closers.push(() => serving.close());
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url)));
  closers.push(() => client.close());
  return client;
}

describe("the SDK's client of the modern era over HTTP", () => {
  it("calls, and hears of progress, when it asks for it", async () => {
    const client = await connect(createDemo().app);
    expect(client.getProtocolEra()).toBe("modern");
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
    const result = await client.callTool({ name: "steps", arguments: { count: 3 } }, { onprogress });
    expect(result.structuredContent).toEqual({ value: 3 });
    expect(heard).toHaveLength(3);
  });

  it("aborts the handler when it cancels", async () => {
    const demo = createDemo();
    const client = await connect(demo.app);
    const controller = new AbortController();
    const calling = client.callTool({ name: "sleep", arguments: { ms: 60_000 } }, { signal: controller.signal });
    await until(() => demo.sleeping() === 1, "the call to run");
    controller.abort();
    const end = calling.then(
      () => "answered",
      () => "rejected",
    );
    expect(await end).toBe("rejected");
    await until(() => demo.aborted() === 1, "the handler to be aborted");
  });

  it("hears of changes when it listens", async () => {
    const client = await connect(createDemo().app);
    const uri = "surface://demo/count";
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    await client.callTool({ name: "add", arguments: { by: 1 } });
    await until(() => heard.length > 0, "the change");
    expect(heard).toEqual([uri]);
    await subscription.close();
  });
});
