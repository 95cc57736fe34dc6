import { afterEach, describe, expect, it } from "vitest";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import { toRpcError } from "../../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { StatelessHarness } from "../stateless/stateless-harness.ts";
import { openSteps } from "../sessions/app.ts";
import { callOf, handshakeOf, SessionHarness } from "../sessions/session-harness.ts";

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** Somebody who comes by a view of the app's, told from others by its project. */
function by(project: string, more: Partial<Caller> = {}): Caller {
  return { ...anonymous, ...more, view: { surface: "default", project, userAgent: "test" } };
}

/** An app that lets nobody in by some of them, and keeps who has asked. */
function openDenying(): { runtime: AppRuntime; denied: Set<string>; asked: Caller[] } {
  const denied = new Set(["locked"]);
  const asked: Caller[] = [];
  const { runtime } = openSteps();
  const viewFor: AppRuntime["viewFor"] = (caller) => {
    asked.push(caller);
    const isDenied = denied.has(caller.view?.project ?? "");
    return isDenied ? toRpcError(-32_603, "tool surface denied: not today") : runtime.viewFor(caller);
  };
  return { runtime: { ...runtime, viewFor }, denied, asked };
}

function openLegacy(): { harness: SessionHarness; denied: Set<string>; asked: Caller[] } {
  const { runtime, ...more } = openDenying();
  const harness = new SessionHarness(runtime);
  ending.push(() => harness.close());
  return { harness, ...more };
}

const denial = { error: { code: -32_603, message: "tool surface denied: not today" } };
const echo = callOf(1, "echo", { args: { text: "hi" } });

describe("a session", () => {
  it("keeps the view of its handshake when later requests name another", async () => {
    const { harness, asked } = openLegacy();
    const session = await harness.open({ caller: by("readonly") });
    const reply = harness.post(echo, { session, caller: by("locked") });
    await harness.until(() => reply.isOver);
    expect(reply.plain).toMatchObject({ status: 200, body: { result: { structuredContent: { text: "hi" } } } });
    expect(harness.get({ session, caller: by("locked") }).sink?.state).toBe("open");
    const client = { name: "test", version: "1" };
    expect(asked.map(({ view }) => view)).toEqual(
      asked.map(() => ({ surface: "default", project: "readonly", userAgent: "test", client })),
    );
  });

  it("keeps the view that it has when later requests name none", async () => {
    const { harness, asked } = openLegacy();
    const session = await harness.open({ caller: by("readonly") });
    harness.post(echo, { session });
    expect(asked.at(-1)?.view?.project).toBe("readonly");
  });

  it("keeps no view when its handshake named none, but for the client", async () => {
    const { harness, asked } = openLegacy();
    const session = await harness.open();
    harness.post(echo, { session, caller: by("locked") });
    expect(asked.at(-1)?.view).toEqual({ surface: "default", client: { name: "test", version: "1" } });
  });

  it("takes the caller from each request, not from the handshake", async () => {
    const { harness, asked } = openLegacy();
    const alice = { id: "alice", isAnonymous: false };
    const session = await harness.open({ caller: by("readonly", { ...alice, scopes: ["steps:read"] }) });
    harness.post(echo, { session, caller: by("readonly", { ...alice, scopes: ["steps:write"] }) });
    expect(asked.at(-1)).toMatchObject({ id: "alice", scopes: ["steps:write"], view: { project: "readonly" } });
  });

  it("is not opened, and holds no permit, when its view is denied", async () => {
    const { harness } = openLegacy();
    for (let time = 0; time < 3; time += 1) {
      const reply = harness.post(handshakeOf("2025-11-25"), { caller: by("locked") });
      await harness.until(() => reply.isOver);
      expect(reply.plain).toMatchObject({ status: 200, body: { id: "first", ...denial } });
      expect(reply.headers).not.toHaveProperty("mcp-session-id");
    }
    expect(harness.setting.admission.counts.sessions).toBe(0);
    expect(harness.counters.read().gate).toBe(0);
  });

  it("answers every request with why, and serves none, when its view is denied later", async () => {
    const { harness, denied } = openLegacy();
    const session = await harness.open({ caller: by("readonly") });
    denied.add("readonly");
    for (const method of ["tools/list", "ping", "resources/subscribe", "logging/setLevel", "unknown/method"]) {
      const reply = harness.post({ id: method, method, params: {} }, { session });
      await harness.until(() => reply.isOver);
      expect(reply.plain).toMatchObject({ status: 200, body: { id: method, ...denial } });
      expect(reply.headers["mcp-session-id"]).toBe(session);
    }
    const stream = harness.get({ session });
    expect(stream.sink).toBeUndefined();
    expect(stream.plain).toMatchObject({ status: 403, body: denial });
    expect(harness.delete({ session }).given?.status).toBe(200);
  });

  it("still cancels its requests when its view is denied meanwhile", async () => {
    const { runtime, denied } = openDenying();
    const steps = openSteps();
    await runtime.close();
    const viewFor: AppRuntime["viewFor"] = (caller) =>
      denied.has(caller.view?.project ?? "") ? toRpcError(-32_603, "no") : steps.runtime.viewFor(caller);
    const harness = new SessionHarness({ ...steps.runtime, viewFor });
    ending.push(() => harness.close());
    const session = await harness.open({ caller: by("readonly") });
    harness.post(callOf(1, "walk", { token: "t" }), { session });
    await harness.until(() => steps.waiting === 1);
    denied.add("readonly");
    const cancelled = { method: "notifications/cancelled", params: { requestId: 1 } };
    expect(harness.post(cancelled, { session }).given?.status).toBe(202);
    await harness.until(() => steps.counts.aborted === 1);
  });
});

describe("a request of the modern era", () => {
  it.each(["server/discover", "tools/list", "tools/call", "subscriptions/listen", "ping", "unknown/method"])(
    "is answered with why when its view is denied: %s",
    async (method) => {
      const { runtime } = openDenying();
      const harness = new StatelessHarness(runtime);
      ending.push(() => harness.close());
      const reply = harness.ask({ id: 7, method, params: { name: "echo" } }, { caller: by("locked") });
      await harness.answered(reply);
      expect(reply.plain).toMatchObject({ status: 200, body: { id: 7, ...denial } });
      expect(harness.setting.admission.counts.streams).toBe(0);
    },
  );

  it("has its view resolved each time", async () => {
    const { runtime, denied } = openDenying();
    const harness = new StatelessHarness(runtime);
    ending.push(() => harness.close());
    const ask = async (): Promise<unknown> =>
      (await harness.answered(harness.ask({ id: 1, method: "tools/list" }, { caller: by("readonly") }))).plain.body;
    expect(await ask()).toHaveProperty("result");
    denied.add("readonly");
    expect(await ask()).toMatchObject(denial);
    denied.delete("readonly");
    expect(await ask()).toHaveProperty("result");
  });
});
