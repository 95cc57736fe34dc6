import { describe, expect, it } from "vitest";
import type { InputRequest } from "../../../src/catalog/asking/asking.ts";
import { Refusal } from "../../../src/errors.ts";
import { clientKinds } from "../../../src/mcp/asking/ask-protocol.ts";
import { PushedAsks } from "../../../src/mcp/asking/pushed-asks.ts";
import type { ResponseFrame } from "../../../src/mcp/parse-frame.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { isJsonObject, type JsonObject } from "../../../src/schema/json.ts";

const capable: JsonObject = { elicitation: {}, sampling: {}, roots: {} };
const form: InputRequest = { kind: "elicit", params: { message: "Who?", requestedSchema: { type: "object" } } };
const sample: InputRequest = { kind: "sample", params: { messages: [], maxTokens: 5 } };
const roots: InputRequest = { kind: "roots", params: {} };

class Harness {
  readonly sent: Record<string, unknown>[] = [];
  readonly drops: (() => void)[] = [];
  readonly faults: Fault[] = [];
  readonly controller = new AbortController();
  capabilities: JsonObject | undefined = capable;
  readonly asks = new PushedAsks({
    kinds: () => clientKinds(this.capabilities),
    send: (json, onDropped) => {
      this.sent.push(JSON.parse(json));
      this.drops.push(onDropped);
    },
    report: (fault) => this.faults.push(fault),
  });

  /** What a question comes to; never rejects. */
  push(ask: InputRequest, signal: AbortSignal = this.controller.signal): Promise<unknown> {
    const { push } = this.asks.port;
    if (push === undefined) throw new Error("there is no way to push");
    return push({ ...ask, timeoutMs: 60_000 }, signal).catch((cause: unknown) => cause);
  }

  answer(at: number, more: Partial<ResponseFrame>): void {
    this.asks.answer({ kind: "response", id: this.sent[at]?.["id"], ...more });
  }
}

/** Settles with what a promise has come to, or with "open". */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  return Promise.race([promise, Promise.resolve("open")]);
}

describe("PushedAsks", () => {
  it.each([
    [form, "elicitation/create"],
    [sample, "sampling/createMessage"],
  ])("sends the question %j as a request", async (ask, method) => {
    const harness = new Harness();
    const answer = harness.push(ask);
    expect(harness.sent).toEqual([{ jsonrpc: "2.0", id: expect.any(String), method, params: ask.params }]);
    harness.answer(0, { result: { said: 1 } });
    expect(await answer).toEqual({ said: 1 });
    expect(harness.asks.size).toBe(0);
  });

  it("sends no params when there are none", async () => {
    const harness = new Harness();
    const answer = harness.push(roots);
    expect(harness.sent).toEqual([{ jsonrpc: "2.0", id: expect.any(String), method: "roots/list" }]);
    harness.answer(0, { result: { roots: [] } });
    expect(await answer).toEqual({ roots: [] });
  });

  it("gives each its own answer when several are open and answered in another order", async () => {
    const harness = new Harness();
    const answers = Array.from({ length: 20 }, () => harness.push(form));
    for (let at = 19; at >= 0; at -= 1) harness.answer(at, { result: { at } });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 20 }, (_, at) => ({ at })));
  });

  it("drops an answer when it comes twice", async () => {
    const harness = new Harness();
    const answer = harness.push(form);
    harness.answer(0, { result: { first: true } });
    harness.answer(0, { result: { first: false } });
    expect(await answer).toEqual({ first: true });
  });

  it("drops an answer when its id is another session's, a number, or no id", async () => {
    const harness = new Harness();
    const other = new Harness();
    const answer = harness.push(form);
    void other.push(form);
    for (const id of [other.sent[0]?.["id"], 1, 0, null, undefined, {}, "1", "__proto__"]) {
      harness.asks.answer({ kind: "response", id, result: { forged: true } });
    }
    expect(await stateOf(answer)).toBe("open");
  });

  it.each([
    [{ error: { code: -1, message: "User rejected: secret" } }, { clientCode: -1 }],
    [{ error: { code: "x" } }, undefined],
    [{ error: "no" }, undefined],
    [{ error: [] }, undefined],
    [{ error: { code: 1 }, result: {} }, { clientCode: 1 }],
    [{ result: [] }, undefined],
    [{ result: "text" }, undefined],
    [{ result: null }, undefined],
    [{}, undefined],
  ])("rejects with ASK_FAILED when the answer is %j", async (frame, details) => {
    const harness = new Harness();
    const answer = harness.push(form);
    harness.answer(0, frame);
    const cause = await answer;
    expect(cause).toMatchObject({ name: "Refusal", code: "ASK_FAILED", details });
    expect(String(cause)).not.toContain("secret");
  });

  it("takes a result when an empty error stands beside it", async () => {
    const harness = new Harness();
    const answer = harness.push(form);
    harness.answer(0, { result: { a: 1 }, error: null });
    expect(await answer).toEqual({ a: 1 });
  });

  it.each([
    // The question for roots is shared, and ends when the last call leaves it.
    [roots, "the call that asked is over"],
    [sample, "no answer in time"],
    [form, "no answer in time"],
  ])("takes %j back and drops a late answer when its time is over", async (ask, reason) => {
    const harness = new Harness();
    const answer = harness.push(ask);
    expect(await stateOf(answer)).toBe("open");
    harness.controller.abort(new Refusal("ASK_TIMEOUT", "too late"));
    expect(await answer).toBeInstanceOf(Error);
    const [question, taken] = harness.sent;
    expect(taken).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: question?.["id"], reason },
    });
    harness.answer(0, { result: {} });
    expect(harness.sent).toHaveLength(2);
  });

  it("rejects with the signal's own error, and cancels the sent request, when its call ends", async () => {
    const harness = new Harness();
    const answer = harness.push(form);
    harness.controller.abort(new Error("gone"));
    expect(await answer).toMatchObject({ code: "ABORTED" });
    expect(await harness.push(form)).toMatchObject({ code: "ABORTED" });
    expect(await harness.push(roots)).toMatchObject({ code: "ABORTED" });
    const [question, taken] = harness.sent;
    expect(taken).toMatchObject({ method: "notifications/cancelled", params: { requestId: question?.["id"] } });
    expect(harness.sent).toHaveLength(2);
    expect(harness.asks.size).toBe(0);
  });

  it.each([
    ["is gone", (asks: PushedAsks) => asks.close(), 0],
    ["is still there, which it tells so", (asks: PushedAsks) => asks.drain(), 3],
  ])(
    "rejects with DISCONNECTED, at once and later, when the session ends of a client that %s",
    async (_who, end, told) => {
      const harness = new Harness();
      const answers = [harness.push(form), harness.push(sample), harness.push(roots), harness.push(roots)];
      const ids = harness.sent.map(({ id }) => id);
      end(harness.asks);
      end(harness.asks);
      for (const answer of answers) expect(await answer).toMatchObject({ code: "DISCONNECTED" });
      expect(await harness.push(form)).toMatchObject({ code: "DISCONNECTED" });
      expect(await harness.push(roots)).toMatchObject({ code: "DISCONNECTED" });
      const taken = harness.sent.slice(3).map(({ params }) => isJsonObject(params) && params["requestId"]);
      expect(taken).toEqual(ids.slice(0, told));
    },
  );

  it("rejects with ASK_FAILED when the question was thrown away before it was sent", async () => {
    const harness = new Harness();
    const answer = harness.push(form);
    harness.drops[0]?.();
    expect(await answer).toMatchObject({ name: "Refusal", code: "ASK_FAILED" });
    harness.drops[0]?.();
  });

  it("sends questions after a pause if they are still awaited", async () => {
    const harness = new Harness();
    const gone = new AbortController();
    const late = new AbortController();
    harness.asks.hold(true);
    const left = harness.push(form, gone.signal);
    const expired = harness.push(form, late.signal);
    const answer = harness.push(form);
    gone.abort();
    late.abort(new Refusal("ASK_TIMEOUT", "too late"));
    expect(harness.sent).toEqual([]);
    harness.asks.hold(false);
    harness.asks.hold(false);
    expect(harness.sent).toHaveLength(1);
    harness.answer(0, { result: { late: false } });
    expect(await answer).toEqual({ late: false });
    expect(await left).toMatchObject({ code: "ABORTED" });
    expect(await expired).toMatchObject({ code: "ASK_TIMEOUT" });
  });

  it("sends by the call's own stream if there is one", () => {
    const harness = new Harness();
    const own: string[] = [];
    const { push } = harness.asks.portFor((json) => own.push(json));
    void push?.({ ...form, timeoutMs: 60_000 }, harness.controller.signal).catch(() => {});
    expect(own).toHaveLength(1);
    expect(harness.sent).toEqual([]);
    harness.asks.close();
  });
});

describe("PushedAsks, roots", () => {
  const here = { roots: [{ uri: "file:///here" }] };
  const there = { roots: [{ uri: "file:///there" }] };

  it("asks once when several want to know at a time, and not again while nothing has changed (D12)", async () => {
    const harness = new Harness();
    const asked = [harness.push(roots), harness.push(roots)];
    expect(harness.sent).toHaveLength(1);
    harness.answer(0, { result: here });
    expect(await Promise.all(asked)).toEqual([here, here]);
    expect(await harness.push(roots)).toEqual(here);
    expect(harness.sent).toHaveLength(1);
  });

  it("asks again and notifies listeners when roots have changed (D12)", async () => {
    const harness = new Harness();
    let told = 0;
    const stop = harness.asks.port.onRoots?.(() => (told += 1));
    const first = harness.push(roots);
    harness.answer(0, { result: here });
    await first;
    harness.asks.notified("notifications/roots/list_changed");
    expect(told).toBe(1);
    const second = harness.push(roots);
    harness.answer(1, { result: there });
    expect(await second).toEqual(there);
    stop?.();
    harness.asks.notified("notifications/roots/list_changed");
    expect(told).toBe(1);
  });

  it("caches no answer that changed during the request", async () => {
    const harness = new Harness();
    const first = harness.push(roots);
    harness.asks.notified("notifications/roots/list_changed");
    const second = harness.push(roots);
    harness.answer(0, { result: here });
    expect(await first).toEqual(here);
    const third = harness.push(roots);
    harness.answer(1, { result: there });
    expect(await Promise.all([second, third])).toEqual([there, there]);
    expect(await harness.push(roots)).toEqual(there);
    expect(harness.sent).toHaveLength(2);
  });

  it("continues for the others when one waiting call ends, and is cancelled with the last", async () => {
    const harness = new Harness();
    const gone = new AbortController();
    const left = harness.push(roots, gone.signal);
    const other = harness.push(roots);
    gone.abort();
    expect(await left).toMatchObject({ code: "ABORTED" });
    expect(harness.asks.size).toBe(1);
    harness.controller.abort();
    expect(await other).toMatchObject({ code: "ABORTED" });
    expect(await stateOf(Promise.resolve(harness.asks.size))).toBe(0);
    const anew = harness.push(roots, new AbortController().signal);
    expect(harness.sent[1]).toMatchObject({ method: "notifications/cancelled" });
    harness.answer(2, { result: here });
    expect(await anew).toEqual(here);
  });

  it("asks again when the answer was none", async () => {
    const harness = new Harness();
    const first = harness.push(roots);
    harness.answer(0, { error: { code: 1, message: "no" } });
    expect(await first).toMatchObject({ code: "ASK_FAILED" });
    const second = harness.push(roots);
    harness.answer(1, { result: here });
    expect(await second).toEqual(here);
  });

  it("keeps no answer when it is very large", async () => {
    const harness = new Harness();
    const first = harness.push(roots);
    harness.answer(0, { result: { roots: [], _meta: { much: "x".repeat(100_000) } } });
    await first;
    void harness.push(roots);
    expect(harness.sent).toHaveLength(2);
    harness.asks.close();
  });

  it("caches no answer that is too deep to be written", async () => {
    const harness = new Harness();
    const first = harness.push(roots);
    const deep: unknown = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
    harness.answer(0, { result: { roots: [], _meta: { deep } } });
    expect(await first).toHaveProperty("roots");
    void harness.push(roots);
    expect(harness.sent).toHaveLength(2);
    harness.asks.close();
  });

  it("reports a listener's error and notifies the others when roots change", () => {
    const harness = new Harness();
    let told = 0;
    const { onRoots } = harness.asks.port;
    onRoots?.(() => {
      throw new Error("mine");
    });
    onRoots?.(() => (told += 1));
    harness.asks.notified("notifications/roots/list_changed");
    expect(told).toBe(1);
    expect(harness.faults).toHaveLength(1);
  });
});

describe("PushedAsks, capabilities of a client", () => {
  it.each([
    [undefined, []],
    [{}, []],
    [{ elicitation: {} }, ["elicit"]],
    [{ elicitation: { form: {} } }, ["elicit"]],
    [{ elicitation: { form: {}, url: {} } }, ["elicit"]],
    [{ elicitation: { url: {} } }, []],
    [{ elicitation: true }, []],
    [{ elicitation: null, sampling: null, roots: [] }, []],
    [{ sampling: {}, roots: { listChanged: true } }, ["sample", "roots"]],
  ])("reads them from the declaration %j", (capabilities, kinds) => {
    const harness = new Harness();
    harness.capabilities = capabilities;
    expect([...harness.asks.port.kinds]).toEqual(kinds);
  });

  it("reads no inherited ones", () => {
    const harness = new Harness();
    const inherited: unknown = Object.create(capable);
    harness.capabilities = isJsonObject(inherited) ? inherited : undefined;
    expect([...harness.asks.port.kinds]).toEqual([]);
  });

  it("is read again when there was another handshake", () => {
    const harness = new Harness();
    const port = harness.asks.port;
    expect(port.kinds.size).toBe(3);
    harness.capabilities = { roots: {} };
    expect([...port.kinds]).toEqual(["roots"]);
  });
});
