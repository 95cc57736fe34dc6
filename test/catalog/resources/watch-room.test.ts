import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { createAnswerRenderer } from "../../../src/mcp/protocol.ts";
import { SubscriptionSession } from "../../../src/mcp/subscriptions/subscription-session.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { collection, procedure } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { systemClock } from "../../../src/surface/system-clock.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { readOnly } from "../../../src/tags/read-only.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { newFolder } from "../../links/unix/support.ts";
import { settle, until } from "../../surface/support.ts";

const surface = defineSurface("many", {
  items: mcpResource(collection({ key: z.number(), schema: z.number() })),
  hi: readOnly(mcpTool(procedure({ output: z.string() }))),
});

const uriOf = (index: number): string => `surface://many/items/${index}`;
const urisFrom = (start: number, count: number): string[] =>
  Array.from({ length: count }, (_none, index) => uriOf(start + index));

/** An app over a real link, to a backend of many items. */
async function openMany() {
  const items = cellSource(new Map(Array.from({ length: 3002 }, (_none, index) => [index, index])));
  const live = implementSurface(surface, { items, hi: () => "hello" });
  const path = `${await newFolder()}/s`;
  await listenUnixSocket(live, path);
  return { app: mcp(surface).pull().bridge(unixSocket(path)), live };
}

describe("what is watched", () => {
  it("leaves room for a call when as many wait for changes as may, and refuses one more in plain words", async () => {
    const { app, live } = await openMany();
    const client = createTestClient(app);
    const waits = Array.from({ length: 32 }, (_none, index) =>
      client.tools.wait_for_change({ uris: urisFrom(index * 64, 64), timeout_ms: 60_000 }),
    );
    expect(await client.tools.hi()).toMatchObject({ isError: false });
    const refused = await client.tools.wait_for_change({ uris: [uriOf(0), uriOf(3000)] });
    expect(refused.text).toContain("try again shortly");
    expect(refused.isError).toBe(true);
    // What is watched already takes no more room.
    const joined = client.tools.wait_for_change({ uris: [uriOf(0)], timeout_ms: 0 });
    expect((await joined).isError).toBe(false);
    await client.close();
    await Promise.allSettled(waits);
    await live.close();
  });

  it("answers busy to a subscription of either era when there is no room, and takes it when there is again", async () => {
    const { app, live } = await openMany();
    const runtime = app.open();
    const heard: { readonly id?: unknown; readonly error?: unknown; readonly method?: string }[] = [];
    const render = createAnswerRenderer(runtime.info);
    const session = new SubscriptionSession({
      runtime,
      send: (json) => void heard.push(JSON.parse(json)),
      answer: (id, answer, era) => void heard.push(JSON.parse(render(id, answer, era))),
      clock: systemClock,
      stallMs: 30_000,
    });
    const listen = (id: string, resourceSubscriptions: string[]): boolean => {
      const params = { notifications: { resourceSubscriptions } };
      const frame = { kind: "request", id, method: "subscriptions/listen", params } as const;
      return session.serve({ frame, era: "modern", caller: anonymous });
    };
    const subscribe = (id: string, uri: string): boolean => {
      const frame = { kind: "request", id, method: "resources/subscribe", params: { uri } } as const;
      return session.serve({ frame, era: "legacy", caller: anonymous });
    };
    const busy = { code: -32000, message: "Server busy: too many subscriptions are open" };
    const errorOf = (id: string): unknown => heard.find((message) => message.id === id)?.error;
    const ends = urisFrom(0, 2047).map((uri) => runtime.resources.watch(anonymous, uri, { changed: () => {} }));
    listen("two", urisFrom(3000, 2));
    expect(errorOf("two")).toMatchObject(busy);
    ends.push(runtime.resources.watch(anonymous, uriOf(2047), { changed: () => {} }));
    subscribe("one", uriOf(3000));
    expect(errorOf("one")).toMatchObject(busy);
    subscribe("known", uriOf(7));
    for (const end of ends.slice(-2)) end?.();
    listen("again", urisFrom(3000, 2));
    await until(() => heard.some(({ method }) => method === "notifications/subscriptions/acknowledged"));
    await until(() => heard.some(({ id }) => id === "known"));
    expect([errorOf("known"), errorOf("again")]).toEqual([undefined, undefined]);
    session.close();
    for (const end of ends) end?.();
    await settle();
    await runtime.close();
    await live.close();
  });
});
