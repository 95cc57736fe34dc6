import { Buffer } from "node:buffer";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { HeldBytes } from "../../../src/http/body.ts";
import { bearer, http, type HttpServing } from "../../../src/http/index.ts";
import { cell, defineSurface, mcp, mcpResource, unixSocket } from "../../../src/index.ts";
import { Budget } from "../../../src/spine/budget.ts";
import { head, RawClient } from "../node/raw-client.ts";
import { StatelessHarness } from "../stateless/stateless-harness.ts";
import { openSteps } from "../sessions/app.ts";
import { SessionHarness } from "../sessions/session-harness.ts";
import { createDemo, type Demo } from "../support/demo-app.ts";
import { modernPost } from "../support/modern-post.ts";

function create(budget = new Budget({ total: 20, perKey: 8 }), key = "alice"): HeldBytes & { readonly budget: Budget } {
  return Object.assign(new HeldBytes(budget, key), { budget });
}

describe("HeldBytes", () => {
  it("says which bound is in the way when there is no room for more", () => {
    const hers = create();
    expect([hers.take(8), hers.take(1)]).toEqual([true, false]);
    expect(hers.refused).toEqual({ scope: "principal", limit: 8 });
  });

  it("frees the bytes of a body when its last holder releases it", () => {
    const bytes = create();
    const { budget } = bytes;
    bytes.hold();
    bytes.hold();
    bytes.take(8);
    bytes.release();
    expect(budget.use.used).toBe(8);
    bytes.release();
    expect(budget.use.used).toBe(0);
    expect(create(budget).take(8)).toBe(true);
  });

  it("drops the arriving body that was idle the longest when another needs its bytes", () => {
    const budget = new Budget({ total: 20, perKey: 20 });
    const [complete, stalled, moving, honest] = ["a", "b", "c", "d"].map((key) => create(budget, key));
    const ended: string[] = [];
    for (const bytes of [complete, stalled, moving]) bytes?.hold();
    Object.assign(stalled ?? {}, { onEvicted: () => void ended.push("stalled") });
    Object.assign(moving ?? {}, { onEvicted: () => void ended.push("moving") });
    for (const bytes of [complete, stalled, moving]) bytes?.take(6);
    stalled?.take(1);
    moving?.take(1);
    expect(honest?.take(4)).toBe(true);
    expect(ended).toEqual(["stalled"]);
    expect(budget.use).toEqual({ used: 17, limit: 20, refused: 0, evicted: 1 });
  });

  it("holds the bytes of a request while it waits or runs", async () => {
    const budget = new Budget({ total: 20, perKey: 8 });
    const steps = openSteps();
    const harness = new StatelessHarness(steps.runtime, { maxInFlight: 1 });
    const call = () => {
      const bytes = create(budget);
      bytes.hold();
      bytes.take(2);
      const reply = harness.call(1, "walk", { bytes });
      bytes.release();
      return reply;
    };
    const [first, second, third] = [call(), call(), call()];
    expect(budget.use.used).toBe(6);
    second.cut();
    expect(budget.use.used).toBe(4);
    await harness.until(() => (steps.arrive(), first.isOver));
    await harness.until(() => budget.use.used === 2);
    await harness.until(() => (steps.arrive(), third.isOver));
    await harness.until(() => budget.use.used === 0);
    await harness.close();
  });

  it("holds nothing for a subscription that is open", async () => {
    const harness = new StatelessHarness(openSteps().runtime);
    const bytes = create();
    bytes.hold();
    bytes.take(2);
    const params = { notifications: { toolsListChanged: true } };
    const reply = harness.ask({ id: 1, method: "subscriptions/listen", params }, { bytes });
    expect(bytes.budget.use.used).toBe(2);
    bytes.release();
    expect([reply.sink?.state, bytes.budget.use.used]).toEqual(["open", 0]);
    await harness.close();
  });

  it("holds the bytes of a subscription while it waits for its turn or the application", async () => {
    const surface = defineSurface("away", { state: mcpResource(cell({ schema: z.number(), default: 0 })) });
    const app = mcp(surface, { uriPrefix: "app://", onFault: () => {} }).bridge(unixSocket("/nowhere/away.sock"));
    const harness = new SessionHarness(app.open(), { maxInFlight: 1 });
    const session = await harness.open();
    const budget = new Budget({ total: 20, perKey: 8 });
    const replies = [1, 2, 3].map((id) => {
      const bytes = create(budget);
      bytes.hold();
      bytes.take(2);
      const params = { uri: "app://state" };
      const reply = harness.post({ id, method: "resources/subscribe", params }, { session, bytes });
      bytes.release();
      return reply;
    });
    expect(budget.use.used).toBe(6);
    harness.post({ method: "notifications/cancelled", params: { requestId: 3 } }, { session });
    expect(budget.use.used).toBe(4);
    await harness.clock.pass(1000);
    await harness.until(() => replies.every((reply) => reply.isOver));
    expect(budget.use.used).toBe(0);
    await harness.close();
  });
});

/** A body as it is sent, and how long it was said to be. */
interface Sent {
  readonly body: string;
  readonly bytes: number;
}

describe("a server over HTTP", () => {
  const opened: { close(): Promise<unknown> | void }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  });

  const resource = "https://demo.example/mcp";
  const mebibyte = 1024 * 1024;

  async function serve(demo: Demo): Promise<HttpServing> {
    const verify = async (id: string) => ({ id, scopes: ["demo:read"], resource });
    const serving = await http({ exit: false, auth: bearer({ resource, verify }) }).serve(demo.app);
    opened.push(serving);
    return serving;
  }

  function send({ port }: HttpServing, caller: string, { body, bytes }: Sent): RawClient {
    const client = new RawClient(port);
    opened.push({ close: () => void client.socket.destroy() });
    const mirrors = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: sleep"];
    const about = [`authorization: Bearer ${caller}`, `content-length: ${bytes}`, "content-type: application/json"];
    client.send(head("POST", ...about, ...mirrors), body);
    return client;
  }

  const text = ({ body }: RequestInit): string => (typeof body === "string" ? body : "");
  const status = async (client: RawClient): Promise<string> => (await client.until("\r\n\r\n")).slice(9, 12);

  it("refuses a caller at their limit of body bytes with 429, and serves other callers", async () => {
    const demo = createDemo();
    const serving = await serve(demo);
    const call = text(modernPost("tools/call", { name: "sleep", arguments: { ms: 60_000 } }));
    const most = 4 * mebibyte;
    const whole = call + " ".repeat(most - Buffer.byteLength(call));
    // As much as one caller may have, of requests that run.
    const running = Array.from({ length: 4 }, () => send(serving, "alice", { bytes: most, body: whole }));
    await until(() => demo.sleeping() === running.length);
    const refused = send(serving, "alice", { bytes: most, body: whole });
    const answers = await refused.until("\r\n\r\n");
    expect(serving.stats().limits.bodyBytes).toMatchObject({ used: 16 * mebibyte, limit: 64 * mebibyte, refused: 1 });
    expect(answers).toContain("429 Too Many Requests");
    expect(answers.toLowerCase()).toContain("retry-after: 1");
    const quick = text(modernPost("tools/call", { name: "sleep", arguments: { ms: 1 } }));
    expect(await status(send(serving, "bob", { bytes: Buffer.byteLength(quick), body: quick }))).toBe("200");
    for (const client of [...running, refused]) client.socket.destroy();
    await until(() => demo.sleeping() === 0);
    expect(await status(send(serving, "alice", { bytes: Buffer.byteLength(quick), body: quick }))).toBe("200");
  });

  async function until(is: () => boolean): Promise<void> {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
