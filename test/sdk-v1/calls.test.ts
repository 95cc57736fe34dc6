// oxlint-disable typescript/no-deprecated -- the low-level server of the SDK 1.x is what is attached to
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineSurface, mcp, type Caller, type LogLevel } from "../../src/index.ts";
import type { AttachOptions } from "../../src/sdk-v1/attach-options.ts";
import { V1Harness } from "./v1-harness.ts";

const empty = defineSurface("empty", {});

/** Tools that wait, report, log and say who asks, and what became of them. */
function createTools() {
  const seen: string[] = [];
  let started: () => void = () => {};
  const faults: unknown[] = [];
  const app = mcp(empty, { onFault: ({ cause }) => faults.push(cause) })
    .implement({})
    .tools({
      wait: {
        onDisconnect: "abort",
        handler: (_args, { signal }) => {
          seen.push("started");
          started();
          return new Promise<never>((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              seen.push(String(signal.reason.code));
              reject(signal.reason);
            });
          });
        },
      },
      report: {
        input: z.object({ times: z.int() }),
        handler: ({ times }, { progress }) => {
          for (let count = 1; count <= times; count += 1)
            progress({ progress: count, total: times, message: `${count}` });
          return "done";
        },
      },
      tell: {
        input: z.object({ level: z.enum(["debug", "info", "error"]) }),
        handler: ({ level }: { level: LogLevel }, { log }) => {
          log(level, { said: level });
          return "told";
        },
      },
      whoami: { scopes: ["look"], handler: (_args, { caller }) => ({ ...caller, scopes: [...caller.scopes] }) },
      view: { handler: (_args, { caller }) => ({ view: caller.view ?? null }) },
    });
  return { app, seen, faults, untilStarted: () => new Promise<void>((resolve) => (started = resolve)) };
}

const call = (name: string, args: object = {}, meta: object = {}): object => ({ name, arguments: args, _meta: meta });
const authInfo = { token: "t", clientId: "ide", scopes: ["look", "empty:read", "empty:write"] };

async function open(
  options: AttachOptions = {},
): Promise<V1Harness & { readonly tools: ReturnType<typeof createTools> }> {
  const tools = createTools();
  return Object.assign(await new V1Harness(tools.app, options).open(), { tools });
}

describe("a call on a server of the SDK 1.x", () => {
  it("ends when its client cancels it, is not answered, and frees its id", async () => {
    const harness = await open();
    const started = harness.tools.untilStarted();
    await harness.post({ id: 7, method: "tools/call", params: call("wait") });
    await started;
    await harness.notify("notifications/cancelled", { requestId: 7, reason: "enough" });
    await expect.poll(() => harness.tools.seen).toEqual(["started", "ABORTED"]);
    expect(await harness.request(7, "tools/call", call("report", { times: 0 }))).toHaveProperty("result");
    expect(harness.answers(7)).toHaveLength(1);
    await harness.close();
  });

  it.each<[string, (harness: V1Harness) => Promise<unknown>]>([
    ["the client leaves", (harness) => harness.leave()],
    ["the server closes", (harness) => harness.server.close()],
    ["what is attached is closed", (harness) => harness.attached.close()],
  ])("is aborted as by a server that closes when %s", async (_when, end) => {
    const harness = await open();
    const started = harness.tools.untilStarted();
    await harness.post({ id: 1, method: "tools/call", params: call("wait") });
    await started;
    await end(harness);
    await harness.attached.closed;
    await expect.poll(() => harness.tools.seen).toEqual(["started", "CLOSED"]);
    expect(harness.tools.faults).toEqual([]);
    await harness.close();
  });

  it("is answered when the attachment is closed: the server is still open, and its client waits", async () => {
    const harness = await open();
    const started = harness.tools.untilStarted();
    await harness.post({ id: 1, method: "tools/call", params: call("wait") });
    await started;
    await harness.attached.close();
    await harness.until(() => harness.answers(1).length > 0);
    expect(harness.answers(1)).toHaveLength(1);
    expect(harness.answers(1)[0]).toHaveProperty("result.isError", true);
    await harness.close();
  });

  it("refuses a second one under the same id, and still answers the first", async () => {
    const harness = await open();
    const started = harness.tools.untilStarted();
    await harness.post({ id: 1, method: "tools/call", params: call("wait") });
    await started;
    expect(await harness.request(1, "tools/call", call("report", { times: 0 }))).toHaveProperty("error.code", -32600);
    await harness.close();
  });

  it("reports its progress before its answer, to a client with a progress token", async () => {
    const harness = await open();
    await harness.request(1, "tools/call", call("report", { times: 3 }, { progressToken: "p" }));
    expect(harness.sent.map((message) => message["method"] ?? "answer")).toEqual([
      ...Array.from({ length: 3 }, () => "notifications/progress"),
      "answer",
    ]);
    expect(harness.notices("notifications/progress").at(-1)).toEqual({
      progressToken: "p",
      progress: 3,
      total: 3,
      message: "3",
    });
    harness.sent.length = 0;
    await harness.request(2, "tools/call", call("report", { times: 3 }));
    expect(harness.notices("notifications/progress")).toEqual([]);
    await harness.close();
  });

  it("drops reports that pile up unread, and none of the answers", async () => {
    const harness = await open();
    const sending = harness.server.notification.bind(harness.server);
    let release: () => void = () => {};
    const reading = new Promise<void>((resolve) => (release = resolve));
    // A transport that is as slow as its client.
    harness.server.notification = async (notice) => {
      await sending(notice);
      await reading;
    };
    const answered = harness.request(1, "tools/call", call("report", { times: 10_000 }, { progressToken: 1 }));
    await answered;
    expect(harness.notices("notifications/progress")).toHaveLength(256);
    const next = harness.request(2, "tools/call", call("report", { times: 0 }));
    expect(await harness.request(3, "ping")).toHaveProperty("result");
    expect(harness.answers(2)).toEqual([]);
    release();
    expect(await next).toHaveProperty("result");
    await harness.close();
  });
});

describe("the log on a server of the SDK 1.x", () => {
  it("begins with info, and from the level that its client sets", async () => {
    const harness = await open();
    for (const level of ["debug", "info"]) await harness.request(level, "tools/call", call("tell", { level }));
    expect(await harness.request("set", "logging/setLevel", { level: "error" })).toHaveProperty("result", {});
    expect(await harness.request("bad", "logging/setLevel", { level: "loud" })).toHaveProperty("error.code", -32602);
    for (const level of ["info", "error"]) await harness.request(`${level} 2`, "tools/call", call("tell", { level }));
    expect(harness.notices("notifications/message")).toEqual([
      { level: "info", data: { said: "info" } },
      { level: "error", data: { said: "error" } },
    ]);
    await harness.close();
  });

  it("is by the server's own level when that logs itself", async () => {
    const { app } = createTools();
    const server = new Server({ name: "v1", version: "1" }, { capabilities: { logging: {} } });
    const harness = await new V1Harness(app, {}, server).open();
    await harness.request(1, "tools/call", call("tell", { level: "debug" }));
    await harness.request(2, "logging/setLevel", { level: "error" });
    await harness.request(3, "tools/call", call("tell", { level: "info" }));
    await server.sendLoggingMessage({ level: "error", data: "the author's own" });
    expect(harness.notices("notifications/message")).toEqual([
      { level: "debug", data: { said: "debug" } },
      { level: "error", data: "the author's own" },
    ]);
    await harness.close();
  });
});

describe("the caller on a server of the SDK 1.x", () => {
  const asking = (name: string): { id: string; method: string; params: object } => ({
    id: name,
    method: "tools/call",
    params: call(name),
  });

  it("is anonymous by default, and does not see tools with required scopes", async () => {
    const harness = await open();
    expect(await harness.request(1, "tools/call", call("whoami"))).toHaveProperty("error.code", -32602);
    await harness.close();
  });

  it("has the scopes of the options if it is anonymous", async () => {
    const harness = await open({ scopes: ["look"] });
    const answer = await harness.request(1, "tools/call", call("whoami"));
    expect(answer).toMatchObject({ result: { structuredContent: { id: "anonymous", scopes: ["look"] } } });
    await harness.close();
  });

  it("is by authInfo the program, and the subject where the verifier says it", async () => {
    const one = await open();
    const answer = await one.answerTo(asking("whoami"), { authInfo });
    expect(answer).toMatchObject({
      result: { structuredContent: { id: '["ide"]', isAnonymous: false, clientId: "ide", scopes: authInfo.scopes } },
    });
    expect(JSON.stringify(answer)).not.toContain('"t"');
    const two = await open();
    const more = { authInfo: { ...authInfo, extra: { sub: "ann" } } };
    expect(await two.answerTo(asking("whoami"), more)).toHaveProperty("result.structuredContent.id", '["ide","ann"]');
    await Promise.all([one.close(), two.close()]);
  });

  it('stays the same for a connection, and any other caller gets "Session not found"', async () => {
    const harness = await open();
    expect(await harness.answerTo(asking("whoami"), { authInfo })).toHaveProperty("result");
    const other = { authInfo: { ...authInfo, clientId: "other" } };
    expect(await harness.answerTo(asking("whoami"), other)).toHaveProperty("error.code", -32001);
    expect(await harness.answerTo(asking("whoami"))).toHaveProperty("error.code", -32001);
    expect(await harness.answerTo(asking("whoami"), { authInfo })).toHaveProperty("result");
    await harness.close();
  });

  it("comes from the author's function, with their view and program", async () => {
    const ann: Caller = { id: "ann", isAnonymous: false, scopes: ["look", "empty:read", "empty:write"] };
    const harness = await open({ caller: () => ann, surface: "default", project: "p" });
    expect(await harness.request(1, "tools/call", call("whoami"))).toHaveProperty("result.structuredContent.id", "ann");
    expect(await harness.request(2, "tools/call", call("view"))).toHaveProperty("result.structuredContent.view", {
      surface: "default",
      project: "p",
      client: { name: "corpus", version: "1" },
    });
    await harness.close();
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret-token-xyz");
      },
    ],
    ["answers with a promise", () => Promise.resolve(undefined) as never],
    ["answers with what is no caller", () => ({ id: "" }) as never],
  ])("is refused when the author's function %s, which only the author learns", async (_what, caller) => {
    const harness = await open({ caller });
    const answer = await harness.request(1, "tools/list");
    expect(answer).toMatchObject({ error: { code: -32603, message: "Internal error" } });
    expect(JSON.stringify(answer)).not.toContain("secret");
    expect(harness.tools.faults).toHaveLength(1);
    expect(await harness.request(1, "tools/list")).toHaveProperty("error.code", -32603);
    await harness.close();
  });

  it("is limited if there is a limiter and they are known", async () => {
    const keys: string[] = [];
    const rateLimit = {
      // A member of the author's own, which must not be taken for one of this package.
      attempts: 0,
      limit(key: string) {
        keys.push(key);
        return keys.length > 1 ? ({ ok: false, retryAfterMs: 1000 } as const) : ({ ok: true } as const);
      },
    };
    const harness = await open({ rateLimit });
    expect(await harness.answerTo(asking("view"), { authInfo })).toHaveProperty("result.structuredContent");
    expect(await harness.answerTo(asking("view"), { authInfo })).toHaveProperty("result.isError", true);
    const id = JSON.stringify(["ide"]);
    expect(keys).toEqual(Array.from({ length: 2 }, () => JSON.stringify([null, id, "ide", ""])));
    await harness.close();
  });
});
