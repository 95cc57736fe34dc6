import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { toRpcError } from "../../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { settle } from "../../surface/support.ts";
import { callOf } from "../sessions/session-harness.ts";
import { able, accept, AskHarness, questionsOf } from "./ask-harness.ts";

const opened: AskHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

function open(bounds: Partial<HttpBounds> = {}, more: ConstructorParameters<typeof AskHarness>[1] = {}): AskHarness {
  const harness = new AskHarness(bounds, more);
  opened.push(harness);
  return harness;
}

const ada = { structuredContent: { said: "Ada" } };
const bo = { structuredContent: { said: "Bo" } };
const alice: Caller = { id: "alice", isAnonymous: false, scopes: ["asks:read", "asks:write"] };
const inOnePiece = { accept: "application/json" };

describe("a question of a session", () => {
  it("is sent on the stream of its own request when that has no progress token", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    expect(reply.headers).toMatchObject({ "content-type": "text/event-stream", "mcp-session-id": session });
    // An id to resume from comes first.
    expect(reply.events[0]).toMatchObject({ data: undefined });
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "What is your name?" } });
    expect(harness.answer(question, accept("Ada"), { session }).given?.status).toBe(202);
    expect(await harness.answered(reply)).toMatchObject(ada);
    expect(reply.messages).toHaveLength(2);
    expect(reply.sink?.state).toBe("ended");
  });

  it("is sent after the reports of progress of its request", async () => {
    const harness = open();
    const session = await harness.openAble();
    const reply = harness.post(callOf(1, "told", { token: "t" }), { session });
    const question = await harness.question(reply);
    expect(reply.messages.map(({ method }) => method)).toEqual(["notifications/progress", "elicitation/create"]);
    harness.answer(question, accept("Ada"), { session });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("goes out on the session's own stream when its request takes no stream, or its client has left", async () => {
    const harness = open();
    const session = await harness.openAble();
    const notices = harness.get({ session });
    const plain = await harness.asked("greet", { session, headers: inOnePiece }, notices);
    harness.answer(plain.question, accept("Ada"), { session });
    expect(await harness.answered(plain.reply)).toMatchObject(ada);
    expect(plain.reply.plain.status).toBe(200);
    const left = harness.post(callOf(9, "greet_late"), { session });
    left.cut();
    await harness.until(() => questionsOf(notices).length === 2);
    const [, second] = questionsOf(notices);
    harness.answer(second ?? { id: "" }, { action: "decline" }, { session });
    await harness.until(() => harness.did.runs === 2);
  });

  it("is sent again to the client that resumes the stream", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    reply.cut();
    const resumed = harness.get({ session }, reply.events[0]?.id);
    expect(questionsOf(resumed)).toEqual([question]);
    harness.answer(question, accept("Ada"), { session });
    expect(await harness.answered(resumed)).toMatchObject(ada);
  });

  it("waits for the first client that listens", async () => {
    const harness = open();
    const session = await harness.openAble();
    const reply = harness.post(callOf(1, "greet"), { session, headers: inOnePiece });
    await harness.until(() => harness.did.runs === 1);
    await settle(3);
    const question = await harness.question(harness.get({ session }));
    harness.answer(question, accept("Ada"), { session });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("fails, and is not sent any more, when its client takes no stream at all", async () => {
    const harness = open();
    const session = await harness.openAble();
    const reply = harness.post(callOf(1, "greet"), { session, headers: inOnePiece });
    await harness.until(() => harness.did.runs === 1);
    await settle(3);
    await harness.clock.pass(4999);
    expect(harness.did.failures).toEqual([]);
    await harness.clock.pass(1);
    expect(await harness.answered(reply)).toMatchObject({ isError: true });
    expect(harness.did.failures).toEqual(["ASK_FAILED"]);
    expect(questionsOf(harness.get({ session }))).toEqual([]);
  });

  it("goes on when its client has listened by then", async () => {
    const harness = open();
    const session = await harness.openAble();
    const reply = harness.post(callOf(1, "greet"), { session, headers: inOnePiece });
    await harness.until(() => harness.did.runs === 1);
    await settle(3);
    const question = await harness.question(harness.get({ session }));
    await harness.clock.pass(5000);
    harness.answer(question, accept("Ada"), { session });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("is not answered by a token of the same caller's that was granted less", async () => {
    const harness = open();
    const session = await harness.openAble({ caller: alice });
    const { reply, question } = await harness.asked("greet", { session, caller: alice });
    const lesser: Caller = { ...alice, scopes: ["asks:read"] };
    expect(harness.answer(question, accept("Eve"), { session, caller: lesser }).given?.status).toBe(202);
    await settle(3);
    expect(harness.did.failures).toEqual([]);
    harness.answer(question, accept("Ada"), { session, caller: alice });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("D9 fails at once when it is dropped before a client received it", async () => {
    const harness = open({ maxQueued: 1 });
    const session = await harness.openAble();
    const first = harness.post(callOf(1, "greet"), { session, headers: inOnePiece });
    await harness.until(() => harness.did.runs === 1);
    await settle(3);
    harness.post(callOf(2, "greet"), { session, headers: inOnePiece });
    expect(await harness.answered(first)).toMatchObject({ isError: true });
    expect(harness.did.failures).toEqual(["ASK_FAILED"]);
    expect(harness.leg.dropped).toBe(1);
  });

  it("D9 fails at once when it is thrown away on a stream that is not read", async () => {
    const harness = open({ maxQueued: 1 });
    const session = await harness.openAble();
    const first = harness.post(callOf(1, "greet"), { session }, 1);
    await harness.until(() => first.sink !== undefined);
    harness.post(callOf(2, "greet"), { session }, 1);
    await harness.until(() => harness.did.failures.length > 0);
    expect(harness.did.failures[0]).toBe("ASK_FAILED");
    expect(questionsOf(first)).toEqual([]);
  });

  it("is never sent to a client that did not declare elicitation", async () => {
    const harness = open();
    const session = await harness.open({ capabilities: { sampling: {} } });
    const notices = harness.get({ session });
    const reply = harness.post(callOf(1, "greet"), { session });
    expect(await harness.answered(reply)).toMatchObject({ isError: true });
    expect(reply.plain.status).toBe(200);
    expect(harness.did.failures).toEqual(["CLIENT_CANNOT"]);
    expect(notices.messages).toEqual([]);
  });

  it("fails after its timeout, and the client receives a cancellation", async () => {
    const harness = open({}, { asking: { timeoutMs: { elicit: 60 } } });
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    expect(await harness.answered(reply)).toMatchObject({ isError: true });
    expect(harness.did.failures).toEqual(["ASK_TIMEOUT"]);
    expect(reply.messages[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: question.id } });
    expect(harness.answer(question, accept("late"), { session }).plain.status).toBe(202);
    expect(reply.messages).toHaveLength(3);
  });
});

describe("a tool in a session that sets its time", () => {
  it("is answered within it, and the question is taken back", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("hurried", { session });
    expect(JSON.stringify(await harness.answered(reply))).toContain("the client had not answered the form");
    expect(harness.did.failures).toEqual(["TIMEOUT"]);
    const cancelled = {
      method: "notifications/cancelled",
      params: { requestId: question.id, reason: "no answer in time" },
    };
    expect(reply.messages).toContainEqual(expect.objectContaining(cancelled));
    const { length } = reply.messages;
    expect(harness.answer(question, accept("late"), { session }).plain.status).toBe(202);
    expect(reply.messages).toHaveLength(length);
  });
});

describe("an answer in a session", () => {
  it("counts once when it is sent twice, and not when its question is over", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    harness.answer(question, accept("Ada"), { session });
    expect(harness.answer(question, accept("Eve"), { session }).given?.status).toBe(202);
    expect(await harness.answered(reply)).toMatchObject(ada);
    const next = await harness.asked("greet", { session });
    expect(harness.answer(question, accept("Eve"), { session }).given?.status).toBe(202);
    harness.answer(next.question, accept("Bo"), { session });
    expect(await harness.answered(next.reply)).toMatchObject(bo);
  });

  it("counts only in its own session, and only from its own caller", async () => {
    const harness = open();
    const session = await harness.openAble({ caller: alice });
    const other = await harness.openAble({ caller: alice });
    const { reply, question } = await harness.asked("greet", { session, caller: alice });
    const eve = accept("Eve");
    expect(harness.answer(question, eve, { session: other, caller: alice }).given?.status).toBe(202);
    const stranger = { ...alice, id: "eve" };
    expect(harness.answer(question, eve, { session, caller: stranger }).given?.status).toBe(404);
    await settle(3);
    expect(reply.messages).toHaveLength(1);
    harness.answer(question, accept("Ada"), { session, caller: alice });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("does not count when its sender's token is no longer valid", async () => {
    const denied = new Set<string>();
    const error = toRpcError(-32_603, "tool surface denied: no");
    const deny = (runtime: AppRuntime): AppRuntime => ({
      ...runtime,
      viewFor: (caller) => (denied.has(caller.id) ? error : runtime.viewFor(caller)),
    });
    const harness = open({}, { change: deny });
    const session = await harness.openAble({ caller: alice });
    const { reply, question } = await harness.asked("greet", { session, caller: alice });
    denied.add("alice");
    expect(harness.answer(question, accept("Eve"), { session, caller: alice }).given?.status).toBe(202);
    await settle(3);
    expect(reply.messages).toHaveLength(1);
    denied.clear();
    harness.answer(question, accept("Ada"), { session, caller: alice });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("counts when a token asks and answers that was granted less than another of its caller's", async () => {
    const harness = open();
    const session = await harness.openAble({ caller: alice });
    harness.post(callOf(1, "outlive"), { session, caller: alice });
    const less = { ...alice, scopes: ["asks:read"] };
    const { reply, question } = await harness.asked("greet", { session, caller: less });
    harness.answer(question, accept("Ada"), { session, caller: less });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });

  it("fails its question when it is an error, or nothing that the form allows", async () => {
    const harness = open();
    const session = await harness.openAble();
    const refused = await harness.asked("greet", { session });
    harness.post({ id: refused.question.id, error: { code: -1, message: "a secret of the client's" } }, { session });
    expect(JSON.stringify(await harness.answered(refused.reply))).not.toContain("secret");
    const wrong = await harness.asked("greet", { session });
    harness.answer(wrong.question, { action: "accept", content: { name: 7 } }, { session });
    expect(await harness.answered(wrong.reply)).toMatchObject({ isError: true });
    const odd = await harness.asked("greet", { session });
    harness.answer(odd.question, { action: "perhaps" }, { session });
    expect(await harness.answered(odd.reply)).toMatchObject({ isError: true });
    expect(harness.did.failures).toEqual(["ASK_FAILED", "ASK_FAILED", "ASK_FAILED"]);
  });

  it("without a question gets 202 and has no effect, whatever its content", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    for (const id of [undefined, null, 1, "", question.id.toUpperCase(), { id: question.id }, [question.id]]) {
      expect(harness.post({ id, result: accept("Eve") }, { session }).given?.status).toBe(202);
    }
    await settle(3);
    expect(reply.messages).toHaveLength(1);
    harness.answer(question, accept("Ada"), { session });
    expect(await harness.answered(reply)).toMatchObject(ada);
  });
});

describe("a session with open questions", () => {
  it("rejects at once when it is deleted, and hears no answer after", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    harness.delete({ session });
    await harness.until(() => harness.did.failures.length === 1);
    expect(harness.did.failures).toEqual(["CLOSED"]);
    expect(reply.sink?.state).toBe("ended");
    expect(harness.answer(question, accept("Eve"), { session }).given?.status).toBe(404);
  });

  it("rejects at once when the server closes", async () => {
    const harness = open();
    const session = await harness.openAble();
    await harness.asked("greet", { session });
    await harness.leg.close();
    await harness.until(() => harness.did.failures.length === 1);
    expect(harness.did.failures).toEqual(["CLOSED"]);
  });

  it("rejects at once when the server drains, and says so to its client", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    const later = harness.post(callOf(1, "greet_late"), { session });
    await harness.leg.drain();
    expect(harness.did.failures).toEqual(["DISCONNECTED", "DISCONNECTED"]);
    expect(await harness.answered(reply)).toMatchObject({ isError: true });
    const [, taken, answer] = reply.messages;
    expect(taken).toMatchObject({ method: "notifications/cancelled", params: { requestId: question.id } });
    expect(JSON.stringify(answer)).toContain("the session of the client is ending");
    expect(await harness.answered(later)).toMatchObject({ isError: true });
  });

  it("D8 is not idle while a question is open, also of a part that outlives its call", async () => {
    const harness = open({ sessionIdleMs: 1_000 });
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("outlive", { session });
    expect(await harness.answered(reply)).toMatchObject({ structuredContent: { said: "over" } });
    await harness.clock.pass(10_000);
    expect(harness.did.late).toEqual([]);
    harness.answer(question, accept("Ada"), { session });
    await harness.until(() => harness.did.late.length === 1);
    expect(harness.did.late).toEqual([{ said: "Ada" }]);
  });

  it("receives on its own stream the cancellation of a question whose call is answered", async () => {
    const harness = open({}, { asking: { timeoutMs: { elicit: 200 } } });
    const session = await harness.openAble();
    const notices = harness.get({ session });
    const { reply, question } = await harness.asked("outlive", { session });
    await harness.answered(reply);
    await harness.until(() => harness.did.failures.length > 0);
    expect(harness.did.failures).toEqual(["ASK_TIMEOUT"]);
    expect(notices.messages).toMatchObject([{ method: "notifications/cancelled", params: { requestId: question.id } }]);
    // Whoever resumes the stream of the call finds nothing behind its result.
    const resumed = harness.get({ session }, reply.events[0]?.id);
    expect(resumed.messages).toHaveLength(2);
  });

  it("asks on the stream of each request", async () => {
    const harness = open();
    const session = await harness.openAble();
    const notices = harness.get({ session });
    const both = [await harness.asked("greet", { session }), await harness.asked("greet", { session })];
    expect(both.map(({ reply }) => questionsOf(reply).length)).toEqual([1, 1]);
    for (const [at, { question }] of both.entries()) harness.answer(question, accept(`user ${at}`), { session });
    expect(await Promise.all(both.map(({ reply }) => harness.answered(reply)))).toMatchObject([
      { structuredContent: { said: "user 0" } },
      { structuredContent: { said: "user 1" } },
    ]);
    expect(notices.messages).toEqual([]);
    const { question } = await harness.asked("greet", { session });
    harness.delete({ session });
    await harness.until(() => harness.did.failures.length === 1);
    expect(harness.did.failures).toEqual(["CLOSED"]);
    expect(harness.answer(question, accept("Eve"), { session }).given?.status).toBe(404);
  });

  it("asks nothing for a part whose call is answered already", async () => {
    const harness = open();
    const session = await harness.openAble();
    const notices = harness.get({ session });
    const reply = harness.post(callOf(1, "outlive_late"), { session });
    expect(await harness.answered(reply)).toMatchObject({ structuredContent: { said: "over" } });
    await harness.until(() => harness.did.late.length === 1);
    expect(harness.did.failures).toEqual(["ABORTED"]);
    expect([...notices.messages, ...reply.messages]).toEqual([]);
  });

  it("cancels its question when its client cancels the call, or drops a call that ends then", async () => {
    const harness = open();
    const session = await harness.openAble();
    const { reply, question } = await harness.asked("greet", { session });
    const params = { requestId: "call 1" };
    harness.post({ method: "notifications/cancelled", params }, { session });
    await harness.until(() => harness.did.failures.length === 1);
    expect(reply.sink?.state).toBe("ended");
    const sent = reply.messages.length;
    harness.answer(question, accept("Eve"), { session });
    const dropped = await harness.asked("greet_or_end", { session });
    dropped.reply.cut();
    await harness.until(() => harness.did.failures.length === 2);
    await settle(3);
    expect(harness.did.failures).toEqual(["ABORTED", "ABORTED"]);
    expect(reply.messages).toHaveLength(sent);
  });

  it("D12 asks for roots once, and again when they change", async () => {
    const harness = open();
    const session = await harness.openAble();
    const first = await harness.asked("locate", { session });
    harness.answer(first.question, { roots: [{ uri: "file:///one" }] }, { session });
    expect(await harness.answered(first.reply)).toMatchObject({ structuredContent: { said: "file:///one" } });
    const known = harness.post(callOf(2, "locate"), { session });
    expect(await harness.answered(known)).toMatchObject({ structuredContent: { said: "file:///one" } });
    expect(questionsOf(known)).toEqual([]);
    harness.post({ method: "notifications/roots/list_changed" }, { session });
    const again = await harness.asked("locate", { session });
    harness.answer(again.question, { roots: [{ uri: "file:///two" }] }, { session });
    expect(await harness.answered(again.reply)).toMatchObject({ structuredContent: { said: "file:///two" } });
  });

  it("accepts answers while waiting calls hold every permit", async () => {
    const harness = open({ maxInFlight: 1 });
    const session = await harness.openAble();
    const first = await harness.asked("greet", { session });
    const second = harness.post(callOf(2, "greet"), { session });
    await settle(3);
    expect(harness.did.runs).toBe(1);
    harness.answer(first.question, accept("Ada"), { session });
    expect(await harness.answered(first.reply)).toMatchObject(ada);
    harness.answer(await harness.question(second), accept("Bo"), { session });
    expect(await harness.answered(second)).toMatchObject(bo);
  });

  it("receives its own answers when a hundred sessions ask at once, some with several questions", async () => {
    const harness = open();
    const sessions = await Promise.all(Array.from({ length: 100 }, () => harness.openAble()));
    const answers = sessions.map(async (session, at) => {
      const reply = harness.post(callOf(1, at % 2 === 0 ? "greet" : "all"), { session });
      await harness.until(() => questionsOf(reply).length === (at % 2 === 0 ? 1 : 3));
      // Those who asked last are answered first.
      await sleep(100 - at);
      for (const question of questionsOf(reply)) {
        if (question.method === "elicitation/create") harness.answer(question, accept(`user ${at}`), { session });
        else if (question.method === "roots/list")
          harness.answer(question, { roots: [{ uri: `file:///${at}` }] }, { session });
        else {
          const content = { type: "text", text: `word ${at}` };
          harness.answer(question, { role: "assistant", content, model: "test" }, { session });
        }
      }
      return harness.answered(reply);
    });
    expect(await Promise.all(answers)).toMatchObject(
      sessions.map((_session, at) => ({
        structuredContent: { said: at % 2 === 0 ? `user ${at}` : `user ${at}, word ${at}, file:///${at}` },
      })),
    );
  });

  it("asks for prompts and resources as for tools", async () => {
    const harness = open();
    const session = await harness.openAble();
    const prompt = harness.post({ id: 1, method: "prompts/get", params: { name: "welcome" } }, { session });
    harness.answer(await harness.question(prompt), accept("Ada"), { session });
    expect(JSON.stringify(await harness.answered(prompt))).toContain("Welcome Ada");
    const read = harness.post({ id: 2, method: "resources/read", params: { uri: "asks://notes" } }, { session });
    harness.answer(await harness.question(read), accept("Bo"), { session });
    expect(JSON.stringify(await harness.answered(read))).toContain("Notes of Bo");
  });

  it("keeps the capabilities of each kind of client from its handshake", async () => {
    const harness = open();
    const session = await harness.open({ capabilities: { ...able, sampling: undefined } });
    const reply = harness.post(callOf(1, "write"), { session });
    expect(await harness.answered(reply)).toMatchObject({ isError: true });
    expect(questionsOf(await harness.asked("greet", { session }).then((asked) => asked.reply))).toHaveLength(1);
  });
});
