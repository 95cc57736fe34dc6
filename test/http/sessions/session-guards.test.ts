import { afterEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import { openSteps } from "./app.ts";
import { SessionHarness, callOf, handshakeOf } from "./session-harness.ts";

const full: Caller = { id: "ann", isAnonymous: false, scopes: ["steps:read", "openid"] };
const less: Caller = { id: "ann", isAnonymous: false, scopes: ["openid"] };

const opened: SessionHarness[] = [];

function open(...more: ConstructorParameters<typeof SessionHarness>) {
  const harness = new SessionHarness(...more);
  opened.push(harness);
  return harness;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((harness) => harness.close()));
});

const subscribe = { id: 1, method: "resources/subscribe", params: { uri: "app://state" } };

describe("A token of the same caller with fewer scopes", () => {
  it("cannot read the streams of a session that was used with more scopes, and gets all their names", async () => {
    const harness = open(openSteps().runtime);
    const session = await harness.open({ caller: full });
    const told = harness.post(callOf(2, "echo", { args: { text: "secret" }, token: 7 }), { session, caller: full });
    await harness.until(() => told.messages.length > 0);
    const first = told.events[0]?.id;
    for (const lastId of [undefined, first]) {
      const reply = harness.get({ session, caller: less }, lastId);
      expect(reply.plain).toMatchObject({ status: 403, body: { error: { code: -32011 } } });
      expect(reply.headers["www-authenticate"]).toBe("steps:read");
      expect(reply.sink).toBeUndefined();
    }
    expect(harness.get({ session, caller: full }, first).messages).toMatchObject([{ id: 2 }]);
  });

  it("cannot read further once the session is used with more scopes; the full token can", async () => {
    const harness = open(openSteps().runtime);
    const session = await harness.open({ caller: less });
    const early = harness.get({ session, caller: less });
    expect(early.sink?.state).toBe("open");
    harness.post(subscribe, { session, caller: full });
    expect(early.sink?.state).toBe("ended");
    const late = harness.get({ session, caller: full });
    harness.post({ ...subscribe, id: 2 }, { session, caller: { ...full, scopes: [...full.scopes, "steps:write"] } });
    expect(harness.get({ session, caller: less }).plain.status).toBe(403);
    // Who reads was not granted what was used last.
    expect(late.sink?.state).toBe("ended");
  });

  it("can read the streams of a session that was used with the same scopes", async () => {
    const harness = open(openSteps().runtime);
    const session = await harness.open({ caller: less });
    expect(harness.get({ session, caller: less }).sink?.state).toBe("open");
  });
});

describe("Subscriptions of a session", () => {
  it("wait for permits as reads do, and are refused when too many wait", async () => {
    const harness = open(openSteps().runtime, { maxInFlight: 2 });
    const session = await harness.open();
    const replies = Array.from({ length: 300 }, (_, id) => harness.post({ ...subscribe, id }, { session }));
    expect(replies.filter(({ given }) => given === undefined)).toHaveLength(258);
    expect(replies.at(-1)?.plain).toMatchObject({ status: 429, body: { error: { code: -32000 } } });
    await harness.until(() => replies.every(({ given }) => given !== undefined));
    expect(replies.filter(({ given }) => given?.status === 200)).toHaveLength(258);
  });

  it("release their permits when they are cancelled, waiting or not", async () => {
    const harness = open(openSteps().runtime, { maxInFlight: 1 });
    const session = await harness.open();
    for (let id = 0; id < 5; id += 1) harness.post({ ...subscribe, id }, { session });
    for (const requestId of [3, 0, 1, 4, 2]) {
      harness.post({ method: "notifications/cancelled", params: { requestId } }, { session });
    }
    const reply = harness.post({ ...subscribe, id: 9 }, { session });
    await harness.until(() => reply.given !== undefined);
    expect(reply.plain.status).toBe(200);
  });
});

describe("Every answer within a session", () => {
  it("names it when a notification, a response, and a second handshake are answered", async () => {
    const harness = open(openSteps().runtime);
    const session = await harness.open();
    const notice = harness.post({ method: "notifications/initialized" }, { session });
    const second = harness.post(handshakeOf("2025-11-25"), { session });
    for (const reply of [notice, second]) expect(reply.headers["mcp-session-id"]).toBe(session);
    expect([notice.given?.status, second.given?.status]).toEqual([202, 400]);
  });
});

describe("A handshake", () => {
  it("gets an internal error, holds no permit, and is reported, when creating its session fails", async () => {
    const faults: unknown[] = [];
    const { runtime } = openSteps();
    const scopes = new Proxy(runtime.scopes, {
      get: () => {
        throw new Error("secret");
      },
    });
    const broken = { ...runtime, scopes, report: (fault: unknown) => void faults.push(fault) };
    const harness = open(broken);
    const reply = harness.post(handshakeOf("2025-11-25"));
    await harness.until(() => reply.given !== undefined);
    expect(reply.plain).toMatchObject({ status: 500, body: { id: "first", error: { code: -32603 } } });
    expect(reply.given?.body).not.toContain("secret");
    expect(faults).toHaveLength(1);
    expect(harness.setting.admission.counts.sessions).toBe(0);
  });
});
