import { afterEach, describe, expect, it } from "vitest";
import { http } from "../../../src/http/index.ts";
import { until } from "../../surface/support.ts";
import { type AskingApp, createAskingApp } from "./asking-app.ts";
import { type Answers, type AskedClient, type AskedClientEntry, askedClients } from "./asking-clients.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const called = (name: string): Answers => ({
  elicit: async ({ message }) => ({ action: "accept", content: { name: `${name} ${String(message).at(-1)}` } }),
  sample: async () => ({ role: "assistant", content: { type: "text", text: `word of ${name}` }, model: "test" }),
  roots: async () => ({ roots: [{ uri: `file:///${name}` }] }),
});

interface Served {
  readonly connect: (answers: Answers) => Promise<AskedClient>;
  readonly did: AskingApp["asked"];
}

async function serve({ connect }: AskedClientEntry): Promise<Served> {
  const { app, asked } = createAskingApp();
  const serving = await http({ exit: false, drainMs: 0 }).serve(app);
  closers.push(() => serving.close());
  return {
    did: asked,
    connect: async (answers) => {
      const client = await connect(serving.url, answers);
      closers.push(() => client.close());
      return client;
    },
  };
}

describe.each(askedClients)("$name", (entry) => {
  const { era } = entry;

  it("answers for its user, its model and its roots", async () => {
    const { connect } = await serve(entry);
    const client = await connect(called("Ada"));
    expect(await client.callTool({ name: "greet" })).toMatchObject({ structuredContent: { said: "Ada ?" } });
    expect(await client.callTool({ name: "write" })).toMatchObject({ structuredContent: { said: "word of Ada" } });
    expect(await client.callTool({ name: "locate" })).toMatchObject({ structuredContent: { said: "file:///Ada" } });
  });

  it("answers several questions at once, and in sequence", async () => {
    const { connect } = await serve(entry);
    const client = await connect(called("Ada"));
    expect(await client.callTool({ name: "all" })).toMatchObject({
      structuredContent: { said: "Ada ?, word of Ada, file:///Ada" },
    });
    expect(await client.callTool({ name: "rounds", arguments: { count: 3 } })).toMatchObject({
      structuredContent: { said: "Ada 1 Ada 2 Ada 3" },
    });
  });

  it("receives no question after a nested call that may have changed something, which runs once", async () => {
    const { connect, did } = await serve(entry);
    const client = await connect(called("Ada"));
    expect(JSON.stringify(await client.callTool({ name: "late" }))).toContain("ASK_AFTER_CHANGE");
    expect(did.runs).toBe(1);
  });

  it("receives questions of prompts and resources", async () => {
    const { connect } = await serve(entry);
    const client = await connect(called("Ada"));
    expect(JSON.stringify(await client.getPrompt({ name: "welcome" }))).toContain("Welcome Ada");
    expect(JSON.stringify(await client.readResource({ uri: "asks://notes" }))).toContain("Notes of Ada");
  });

  it("declines, or goes away from the question", async () => {
    const { connect } = await serve(entry);
    let action = "decline";
    const client = await connect({ elicit: async () => ({ action }) });
    expect(await client.callTool({ name: "greet" })).toMatchObject({ structuredContent: { said: "decline" } });
    action = "cancel";
    expect(await client.callTool({ name: "greet" })).toMatchObject({ structuredContent: { said: "cancel" } });
  });

  it("asks for consent with title and arguments, and nothing runs without it", async () => {
    const { connect, did } = await serve(entry);
    const heard: string[] = [];
    let action = "decline";
    const client = await connect({
      elicit: async ({ message }) => {
        heard.push(String(message));
        return { action, ...(action === "accept" ? { content: {} } : {}) };
      },
    });
    const call = { name: "erase", arguments: { what: "the disk" } };
    expect(await client.callTool(call)).toMatchObject({ isError: true });
    expect(did.runs).toBe(0);
    action = "accept";
    expect(await client.callTool(call)).toMatchObject({ structuredContent: { said: "erased the disk" } });
    expect(did.runs).toBe(1);
    for (const message of heard) {
      expect(message).toContain("Erase everything");
      expect(message).toContain("what: ");
      expect(message).toContain("the disk");
    }
    expect(heard).toHaveLength(2);
  });

  it("receives no question when it did not declare elicitation", async () => {
    const { connect, did } = await serve(entry);
    const client = await connect({ sample: async () => ({}) });
    const answer = await client.callTool({ name: "greet" }).catch((cause: unknown) => cause);
    const cannot = { code: -32_021, data: { requiredCapabilities: { elicitation: { form: {} } } } };
    expect(answer).toMatchObject(era === "legacy" ? { isError: true } : cannot);
    expect(did.failures).toEqual(["CLIENT_CANNOT"]);
    const erase = { name: "erase", arguments: { what: "it" } };
    const refused = await client.callTool(erase).catch((cause: unknown) => cause);
    expect(refused).toMatchObject(era === "legacy" ? { isError: true } : cannot);
    expect(did.runs).toBe(1);
  });

  it.runIf(era === "legacy")("fails the question when its handler throws", async () => {
    const { connect, did } = await serve(entry);
    const client = await connect({
      elicit: async () => {
        throw new Error("a secret of the client's");
      },
    });
    const answer = await client.callTool({ name: "greet" });
    expect(answer).toMatchObject({ isError: true });
    expect(JSON.stringify(answer)).not.toContain("secret");
    expect(did.failures).toEqual(["ASK_FAILED"]);
  });

  it("receives nothing more when it cancels during a question", async () => {
    const { connect, did } = await serve(entry);
    const controller = new AbortController();
    let isAsked = false;
    const client = await connect({
      elicit: async () => {
        isAsked = true;
        controller.abort();
        return { action: "accept", content: { name: "Eve" } };
      },
    });
    const calling = client.callTool({ name: "rounds", arguments: { count: 2 } }, { signal: controller.signal });
    expect(
      await calling.then(
        () => "answered",
        () => "rejected",
      ),
    ).toBe("rejected");
    expect(isAsked).toBe(true);
    await until(() => did.failures.length > 0, "the question to end");
    expect(did.failures[0]).toBe(era === "legacy" ? "ABORTED" : "INPUT_REQUIRED");
    // Its second round is never begun.
    expect(did.runs).toBe(1);
  });

  it("receives its own answers when twenty clients are asked at once", async () => {
    const { connect } = await serve(entry);
    const names = Array.from({ length: 20 }, (_, at) => `user ${at}`);
    const clients = await Promise.all(names.map((name) => connect(called(name))));
    const answers = await Promise.all(clients.map((client) => client.callTool({ name: "all" })));
    expect(answers).toMatchObject(
      names.map((name) => ({ structuredContent: { said: `${name} ?, word of ${name}, file:///${name}` } })),
    );
  });
});
