import { afterEach, describe, expect, it } from "vitest";
import { bearer } from "../../../src/http/auth/http-auth.ts";
import type { HttpOptions } from "../../../src/http/options.ts";
import { http } from "../../../src/http/index.ts";
import { until } from "../../surface/support.ts";
import { modernPost } from "../support/modern-post.ts";
import { able, accept } from "./ask-harness.ts";
import { type AskingApp, createAskingApp } from "./asking-app.ts";
import { RawSession } from "./raw-session.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const resource = "https://asks.example/mcp";
const auth = bearer({
  resource,
  verify: async (token) => ({ id: token, scopes: ["asks:read", "asks:write"], resource }),
});

interface Served {
  readonly url: string;
  readonly did: AskingApp["asked"];
}

async function serve(options: HttpOptions = {}): Promise<Served> {
  const { app, asked } = createAskingApp();
  const serving = await http({ exit: false, drainMs: 0, ...options }).serve(app);
  closers.push(() => serving.close());
  return { url: serving.url, did: asked };
}

const saying = (said: string): object => ({ result: { structuredContent: { said } } });

describe("asking over sockets", () => {
  it("sends a question again to the client that resumes its stream, and then its answer", async () => {
    const { url } = await serve();
    const session = await RawSession.open(url);
    const reply = await session.call(1, "greet");
    const question = await reply.question();
    reply.cut();
    const resumed = await session.resume(reply.ids[0] ?? "");
    expect(await resumed.question()).toEqual(question);
    expect((await session.respond(question, accept("Ada"))).status).toBe(202);
    expect(await resumed.answer()).toMatchObject(saying("Ada"));
    await until(() => resumed.isEnded, "the end of the stream");
    expect(resumed.messages).toHaveLength(2);
  });

  it("takes an answer once, in its own session, and in time", async () => {
    const { url } = await serve();
    const [session, other] = [await RawSession.open(url), await RawSession.open(url)];
    const reply = await session.call(1, "greet");
    const question = await reply.question();
    expect((await other.respond(question, accept("Eve"))).status).toBe(202);
    expect((await session.respond(question, accept("Ada"))).status).toBe(202);
    expect((await session.respond(question, accept("Eve"))).status).toBe(202);
    expect(await reply.answer()).toMatchObject(saying("Ada"));
    const next = await session.call(2, "greet");
    const second = await next.question();
    expect((await session.respond(question, accept("Eve"))).status).toBe(202);
    await session.respond(second, accept("Bo"));
    expect(await next.answer()).toMatchObject(saying("Bo"));
  });

  it("refuses an answer from another principal who knows the session and the question", async () => {
    const { url } = await serve({ auth });
    const session = await RawSession.open(url, "alice");
    const reply = await session.call(1, "greet");
    const question = await reply.question();
    expect((await session.as("eve").respond(question, accept("Eve"))).status).toBe(404);
    await session.respond(question, accept("Ada"));
    expect(await reply.answer()).toMatchObject(saying("Ada"));
  });

  it("ends the question with its session, whose id gets 404 then", async () => {
    const { url, did } = await serve();
    const session = await RawSession.open(url);
    const reply = await session.call(1, "greet");
    const question = await reply.question();
    expect((await session.end()).status).toBe(200);
    await until(() => did.failures.length === 1 && reply.isEnded, "the end of the question");
    expect(reply.messages).toHaveLength(1);
    expect((await session.respond(question, accept("Eve"))).status).toBe(404);
  });

  it("does not wait for an answer when it closes", async () => {
    const { app, asked } = createAskingApp();
    const serving = await http({ exit: false, drainMs: 600_000 }).serve(app);
    const session = await RawSession.open(serving.url);
    const reply = await session.call(1, "greet");
    await reply.question();
    await serving.close();
    expect(asked.failures).toEqual(["DISCONNECTED"]);
    expect(await reply.answer()).toMatchObject({ result: { isError: true } });
  });

  it("gives a hundred sessions that ask at once their own answers", async () => {
    const { url } = await serve();
    const answered = async (at: number): Promise<unknown> => {
      const session = await RawSession.open(url);
      const reply = await session.call(1, "greet");
      await session.respond(await reply.question(), accept(`user ${at}`));
      return reply.answer();
    };
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => answered(at)));
    expect(answers).toMatchObject(answers.map((_, at) => saying(`user ${at}`)));
  });

  it("refuses a retry of another principal, and keeps the state for its own", async () => {
    const { url, did } = await serve({ auth });
    const ask = async (token: string, more: object): Promise<Record<string, unknown>> => {
      const meta = { "io.modelcontextprotocol/clientCapabilities": able };
      const post = modernPost("tools/call", { name: "greet", arguments: {}, ...more, _meta: meta });
      const headers = { ...Object(post.headers), authorization: `Bearer ${token}` };
      // What is sent is JSON-RPC.
      return (await (await fetch(url, { ...post, headers })).json()) as Record<string, unknown>;
    };
    const { result } = await ask("alice", {});
    const requestState: unknown = Reflect.get(Object(result), "requestState");
    const retry = { requestState, inputResponses: { name: accept("Ada") } };
    expect(await ask("eve", retry)).toMatchObject({ error: { code: -32_602 } });
    expect(did.runs).toBe(1);
    expect(await ask("alice", retry)).toMatchObject(saying("Ada"));
  });
});
