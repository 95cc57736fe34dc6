import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import { StatelessHarness } from "../stateless/stateless-harness.ts";
import type { FakeReply } from "../sessions/session-harness.ts";
import { able, accept, resultOf } from "./ask-harness.ts";
import { type AskingApp, openAskingApp } from "./asking-app.ts";

const opened: StatelessHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

/** What a client is answered that is asked something. */
interface Required {
  readonly resultType: string;
  readonly inputRequests: Readonly<Record<string, { readonly method: string }>>;
  readonly requestState: string;
}

/** What a request says besides its name and arguments. */
interface Said {
  readonly caller?: Caller;
  readonly token?: string;
  readonly accept?: string;
  readonly args?: object;
  readonly capabilities?: object;
  /** Its params besides: what a retry says. */
  readonly more?: object;
}

interface Opened {
  readonly did: AskingApp["asked"];
  readonly harness: StatelessHarness;
  readonly call: (name: string, said?: Said) => Promise<FakeReply>;
}

function open(bounds: ConstructorParameters<typeof StatelessHarness>[1] = {}): Opened {
  const { runtime, asked } = openAskingApp();
  const harness = new StatelessHarness(runtime, { keepAliveMs: 0, ...bounds });
  opened.push(harness);
  let calls = 0;
  const call: Opened["call"] = (name, { args = {}, token, capabilities = able, more = {}, ...sent } = {}) => {
    calls += 1;
    const progress = token === undefined ? {} : { progressToken: token };
    const meta = { ...progress, "io.modelcontextprotocol/clientCapabilities": capabilities };
    const params = { name, arguments: args, ...more };
    return harness.answered(harness.ask({ id: calls, method: "tools/call", params }, { ...sent, meta }));
  };
  return { did: asked, harness, call };
}

function requiredOf(reply: FakeReply): Required {
  // The tests look at what they go on with.
  return resultOf(reply) as Required;
}

/** Everything that a stream was told, and that nothing follows. */
function errorOf(reply: FakeReply): unknown {
  return reply.given === undefined ? reply.messages.at(-1)?.["error"] : reply.plain.body["error"];
}

const alice: Caller = { id: "alice", isAnonymous: false, scopes: ["asks:read", "asks:write"] };
const elicitation = { code: -32_021, data: { requiredCapabilities: { elicitation: { form: {} } } } };

describe("a modern request that asks", () => {
  it("gets its questions as one JSON response, and the result for its retry", async () => {
    const { call, did } = open();
    const first = await call("greet");
    expect(first.plain.status).toBe(200);
    const { resultType, inputRequests, requestState } = requiredOf(first);
    expect(resultType).toBe("input_required");
    expect(inputRequests).toEqual({ name: { method: "elicitation/create", params: expect.objectContaining({}) } });
    const retry = await call("greet", { more: { requestState, inputResponses: { name: accept("Ada") } } });
    expect(resultOf(retry)).toMatchObject({ resultType: "complete", structuredContent: { said: "Ada" } });
    expect(did.runs).toBe(2);
    expect(did.faults).toEqual([]);
  });

  it("gets its questions as the last event of a stream when it has a progress token", async () => {
    const { call } = open();
    const first = await call("told", { token: "t" });
    expect(first.messages.map(({ method }) => method)).toEqual(["notifications/progress", undefined]);
    const { resultType, requestState } = requiredOf(first);
    expect(resultType).toBe("input_required");
    const retry = await call("told", { token: "t", more: { requestState, inputResponses: { name: accept("Ada") } } });
    expect(resultOf(retry)).toMatchObject({ structuredContent: { said: "Ada" } });
    await sleep(20);
    expect(first.messages).toHaveLength(2);
    expect(first.sink?.state).toBe("ended");
  });

  it("D13 gets status 400 when its client cannot be asked, also with a progress token", async () => {
    const { call, did } = open();
    const plain = await call("greet", { capabilities: {} });
    expect(plain.plain).toMatchObject({ status: 400, body: { error: elicitation } });
    const streamed = await call("greet", { capabilities: { sampling: {} }, token: "t" });
    expect(streamed.plain).toMatchObject({ status: 400, body: { error: elicitation } });
    expect(did.failures).toEqual(["CLIENT_CANNOT", "CLIENT_CANNOT"]);
    const erase = await call("erase", { capabilities: {}, args: { what: "it" } });
    expect(erase.plain).toMatchObject({ status: 400, body: { error: elicitation } });
    expect(did.runs).toBe(2);
  });

  it("is refused on its stream when that has begun", async () => {
    const { call } = open();
    const reply = await call("told", { capabilities: {}, token: "t" });
    expect(reply.given).toBeUndefined();
    expect(reply.messages.map(({ method }) => method)).toEqual(["notifications/progress", undefined]);
    expect(errorOf(reply)).toMatchObject(elicitation);
  });

  it("continues where it stopped after each retry, whichever questions stay open", async () => {
    const { call } = open();
    const args = { count: 2 };
    let { requestState, inputRequests } = requiredOf(await call("rounds", { args }));
    expect(Object.keys(inputRequests)).toEqual(["round_1"]);
    const left = await call("rounds", { args, more: { requestState, inputResponses: { other: accept("Eve") } } });
    ({ requestState, inputRequests } = requiredOf(left));
    expect(Object.keys(inputRequests)).toEqual(["round_1"]);
    const inputResponses = { round_1: accept("Ada"), round_2: accept("Eve") };
    ({ requestState, inputRequests } = requiredOf(
      await call("rounds", { args, more: { requestState, inputResponses } }),
    ));
    // What was not asked yet has no answer.
    expect(Object.keys(inputRequests)).toEqual(["round_2"]);
    const more = { requestState, inputResponses: { round_1: accept("Eve"), round_2: accept("Bo") } };
    expect(resultOf(await call("rounds", { args, more }))).toMatchObject({ structuredContent: { said: "Ada Bo" } });
  });

  it("asks everything at once that it needs at once", async () => {
    const { call } = open();
    const { inputRequests } = requiredOf(await call("all"));
    expect(
      Object.values(inputRequests)
        .map(({ method }) => method)
        .toSorted(),
    ).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
  });

  it("frees its permit when it has asked", async () => {
    const { call } = open({ maxInFlight: 1 });
    for (let turn = 0; turn < 20; turn += 1) expect(requiredOf(await call("greet")).resultType).toBe("input_required");
  });
});

describe("a state", () => {
  const invalid = { code: -32_602 };

  it("is refused to another principal, for another tool and for other arguments, and nothing runs", async () => {
    const { call, did } = open();
    const { requestState } = requiredOf(await call("erase", { caller: alice, args: { what: "one" } }));
    const more = { requestState, inputResponses: { name: accept("Ada"), confirm: { action: "accept", content: {} } } };
    const eve = { ...alice, id: "eve" };
    expect(errorOf(await call("erase", { caller: eve, args: { what: "one" }, more }))).toMatchObject(invalid);
    expect(errorOf(await call("erase", { caller: alice, args: { what: "two" }, more }))).toMatchObject(invalid);
    expect(errorOf(await call("greet", { caller: alice, more }))).toMatchObject(invalid);
    expect(errorOf(await call("erase", { args: { what: "one" }, more }))).toMatchObject(invalid);
    expect(did.runs).toBe(0);
  });

  it("is accepted once, also when two requests use it at the same time", async () => {
    const { call, did } = open();
    const args = { what: "it" };
    const { requestState, inputRequests } = requiredOf(await call("erase", { args }));
    const [key = ""] = Object.keys(inputRequests);
    const more = { requestState, inputResponses: { [key]: { action: "accept", content: {} } } };
    const both = await Promise.all([call("erase", { args, more }), call("erase", { args, more })]);
    expect(both.filter((reply) => errorOf(reply) !== undefined).map(errorOf)).toEqual([
      expect.objectContaining(invalid),
    ]);
    expect(errorOf(await call("erase", { args, more }))).toMatchObject(invalid);
    expect(did.runs).toBe(1);
  });

  it("is refused after any change of its text", async () => {
    const { call, did } = open();
    const { requestState } = requiredOf(await call("greet"));
    const runs = did.runs;
    const middle = Math.floor(requestState.length / 2);
    const flipped = `${requestState.slice(0, middle)}${requestState[middle] === "A" ? "B" : "A"}${requestState.slice(middle + 1)}`;
    const forged = [
      `${requestState}-`,
      requestState.slice(0, -1),
      flipped,
      "",
      "s2.",
      "{}",
      1,
      null,
      [requestState],
      {},
    ];
    for (const state of forged) {
      const more = { requestState: state, inputResponses: { name: accept("Eve") } };
      expect(errorOf(await call("greet", { more }))).toMatchObject(invalid);
    }
    expect(did.runs).toBe(runs);
  });

  it("is required for answers to count", async () => {
    const { call, did } = open();
    const consent = { action: "accept", content: {} };
    const inputResponses = { name: accept("Eve"), confirm: consent, "confirm:erase": consent, $confirm: consent };
    expect(requiredOf(await call("greet", { more: { inputResponses } })).resultType).toBe("input_required");
    const erase = await call("erase", { args: { what: "it" }, more: { inputResponses } });
    expect(requiredOf(erase).resultType).toBe("input_required");
    expect(did.runs).toBe(1);
  });
});
