import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { http, type HttpServing } from "../../../src/http/http.ts";
import { bundleScript } from "../../fixtures/bundle-script.ts";
import { httpClients, type HttpClient } from "../../http/support/http-clients.ts";
import { matrix } from "../../matrix/matrix-client.ts";
import { createShopApp } from "./shop-app.ts";
import { versions } from "./versions.ts";

/** The functions that the clients of all transports have. */
interface WireClient extends Pick<HttpClient, "callTool" | "readResource" | "watch" | "close"> {
  listTools(): Promise<unknown>;
}

interface Way {
  readonly name: string;
  readonly connect: (version: string) => Promise<{ readonly client: WireClient; close(): Promise<void> }>;
}

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("shop-server.ts", import.meta.url), "trpc-shop");
});

const transports: readonly Way[] = [
  ...matrix.map(({ name, connect }): Way => ({
    name: `${name} over stdio`,
    async connect(version) {
      const client = await connect(script, [version]);
      const watch = (uri: string, updated: () => void): Promise<unknown> => client.watchUris([uri], updated);
      return { client: Object.assign(client, { watch }), close: () => client.close() };
    },
  })),
  ...httpClients.map(({ name, connect }): Way => ({
    name: `${name} over HTTP`,
    async connect(version) {
      const serving: HttpServing = await http({ port: 0, exit: false }).serve(createShopApp(version));
      const client = await connect({ url: serving.url });
      const close = async (): Promise<void> => {
        await client.close();
        await serving.close();
      };
      return { client, close };
    },
  })),
];

const ways = versions.flatMap(({ version }) => transports.map((way) => ({ version, ...way })));

describe.each(ways)("a router of tRPC $version and $name", { timeout: 30_000 }, ({ version, connect }) => {
  let client: WireClient;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const connected = await connect(version);
    client = connected.client;
    close = () => connected.close();
  });
  afterAll(() => close());

  const call = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    client.callTool({ name, arguments: args });
  /** Returns the names of the subscriptions that the shop has seen end. */
  const ended = async (): Promise<unknown> => Reflect.get(Object(await call("ended")), "structuredContent");

  it("list it, call it and read it", async () => {
    expect(await client.listTools()).toMatchObject({
      tools: ["broken", "deaf", "ended", "fail", "observed", "order_cancel", "order_show", "strict", "throws"].map(
        (name) => ({ name }),
      ),
    });
    const shown = await client.callTool({ name: "order_show", arguments: { id: "o1" } });
    expect(shown).toMatchObject({ structuredContent: { id: "o1 of anonymous" } });
    expect(shown["structuredContent"]).not.toHaveProperty("secret");
    expect(await client.readResource({ uri: "surface://trpc/orders" })).toMatchObject({
      contents: [{ mimeType: "application/json", text: expect.stringContaining('"id":"o1"') }],
    });
  });

  it("answer bad input, refusals and faults as results", async () => {
    const invalid = (text: string): object => ({
      isError: true,
      content: [{ text: expect.stringContaining(`VALIDATION_ERROR: the arguments do not fit\n- ${text}`) }],
    });
    expect(await call("order_show", { id: "o" })).toMatchObject(invalid("id: "));
    expect(await call("strict", { id: "a" })).toMatchObject(invalid("id: must start with o"));
    const stacked = { id: "o1", reason: "late", at: "1970-01-01T00:00:01Z" };
    expect(await call("order_cancel", stacked)).toMatchObject({ structuredContent: { ...stacked, at: 1000 } });
    expect(await call("fail", { code: "NOT_FOUND" })).toMatchObject({
      isError: true,
      content: [{ text: "NOT_FOUND: the shop says NOT_FOUND" }],
    });
    for (const name of ["throws", "broken"]) {
      const masked = JSON.stringify(await call(name));
      expect(masked).toContain("INTERNAL");
      expect(masked).not.toMatch(/secret|validation/i);
    }
  });

  it("pull items, and end the subscription", async () => {
    const pulled = await call("observed", { max_items: 2 });
    expect(pulled).toMatchObject({ structuredContent: { items: [{ tick: 1 }, { tick: 2 }], ended: false } });
    await expect.poll(ended).toEqual({ value: ["observed"] });
  });

  it("watch a subscription, and hear of its items", async () => {
    let updates = 0;
    await client.watch("surface://trpc/ticks", () => void (updates += 1));
    await expect.poll(() => updates).toBeGreaterThan(1);
  });

  it("abort a call in mid-subscription, after which its finally runs", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const running = client.callTool(
      { name: "deaf", arguments: { wait_ms: 60_000, max_items: 1000 } },
      { signal: controller.signal },
    );
    await expect(running).rejects.toThrow(/abort/i);
    await expect.poll(ended).toEqual({ value: ["observed", "deaf"] });
  });
});
