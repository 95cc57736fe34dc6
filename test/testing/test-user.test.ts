import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineSurface, mcp, mcpTool, procedure, Refusal } from "../../src/index.ts";
import { createTestClient, type TestClientOptions, type TestForm } from "../../src/testing/index.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const desk = defineSurface("desk", {
  close: mcpTool(procedure({ input: z.object({ id: z.number() }), output: z.string() }), { confirm: true }),
  drop: mcpTool(procedure({}), { confirm: { type: "DROP" } }),
  fail: mcpTool(procedure({})),
});
const Title = z.object({ title: z.string().min(1) });

function open(options: TestClientOptions) {
  const app = mcp(desk, { onFault: () => {} })
    .implement({
      close: ({ id }) => `closed ${id}`,
      drop: () => undefined,
      fail: () => {
        throw new Refusal("NOT_TODAY", "come back tomorrow", { day: 1 });
      },
    })
    .tools({
      title: { handler: (_args, { ask }) => ask.elicit("title", Title, "What is it about?") },
      several: {
        handler: async (_args, { ask }) => {
          const first = await ask.elicit("first", Title, "First?");
          const [second, where] = await Promise.all([ask.elicit("second", Title, "Second?"), ask.roots()]);
          return { first, second, where };
        },
      },
      summary: {
        output: z.string(),
        handler: async (_args, { ask }) => {
          const { text } = await ask.sample("summary", {
            messages: [{ role: "user", content: "Sum up" }],
            maxTokens: 9,
          });
          return text;
        },
      },
      places: { handler: (_args, { ask }) => ask.roots() },
    })
    .prompts({
      greet: { handler: async (_args, { ask }) => `To: ${JSON.stringify(await ask.elicit("who", Title, "Whom?"))}` },
    })
    .resources({ asked: { read: (_variables, { ask }) => ask.elicit("read", Title, "Which?") } });
  const client = createTestClient(app, options);
  closers.push(() => client.close());
  return client;
}

describe.each(["legacy", "modern"] as const)("createTestClient() with a user, %s", (era) => {
  it("confirms with true, and declines with false", async () => {
    const elicit = vi.fn<(form: TestForm) => boolean>(({ message }) => message.includes("1"));
    const client = open({ era, elicit });
    expect((await client.tools.close({ id: 1 })).value).toBe("closed 1");
    expect(await client.tools.close({ id: 2 })).toMatchObject({ isError: true, code: "DECLINED" });
    expect(elicit.mock.calls.map(([form]) => form.message)).toEqual([
      expect.stringContaining("close"),
      expect.stringContaining("id: 2"),
    ]);
  });

  it("types the word of a confirmation", async () => {
    const typing = (confirm: string) => open({ era, elicit: () => ({ action: "accept", content: { confirm } }) });
    expect(await typing("DROP").tools.drop()).toMatchObject({ isError: false });
    expect(await typing("drop").tools.drop()).toMatchObject({ code: "DECLINED" });
  });

  it("fills in forms, declines and cancels them", async () => {
    const filled = { action: "accept", content: { title: "The printer" } } as const;
    expect(await open({ era, elicit: () => filled }).tools.title()).toMatchObject({ structured: filled });
    for (const action of ["decline", "cancel"] as const) {
      expect(await open({ era, elicit: async () => ({ action }) }).tools.title()).toMatchObject({
        structured: { action },
      });
    }
  });

  it("answers several questions of one call, of different kinds", async () => {
    const asked: string[] = [];
    const client = open({
      era,
      elicit: ({ message, requestedSchema }) => {
        asked.push(message);
        expect(requestedSchema).toMatchObject({ required: ["title"] });
        return { action: "accept", content: { title: message } };
      },
      roots: () => [{ uri: "file:///work", name: "work" }],
    });
    expect(await client.tools.several()).toMatchObject({
      structured: {
        first: { content: { title: "First?" } },
        second: { content: { title: "Second?" } },
        where: [{ uri: "file:///work", name: "work" }],
      },
    });
    expect(asked).toEqual(["First?", "Second?"]);
  });

  it("writes for the model, by a text or a whole result", async () => {
    const short = open({ era, sample: ({ messages }) => `short: ${JSON.stringify(messages[0]?.content)}` });
    expect((await short.tools.summary()).value).toBe('short: {"type":"text","text":"Sum up"}');
    const whole = { role: "assistant", content: [{ type: "text", text: "a" }], model: "m", stopReason: "endTurn" };
    expect((await open({ era, sample: () => whole }).tools.summary()).value).toBe("a");
  });

  it("answers the questions of prompts and resources", async () => {
    const client = open({ era, elicit: () => ({ action: "accept", content: { title: "Ada" } }) });
    expect(JSON.stringify(await client.prompt("greet"))).toContain("Ada");
    expect(await client.read("asked")).toMatchObject({ content: { title: "Ada" } });
  });

  it("has no capability that no function stands for", async () => {
    const client = open({ era, sample: () => "text" });
    const refused = {
      isError: true,
      code: "CLIENT_CANNOT",
      text: "CLIENT_CANNOT: the client of this call does not support elicitation by form",
      error: { code: "CLIENT_CANNOT", details: { requiredCapabilities: { elicitation: { form: {} } } } },
    };
    expect(await client.tools.close({ id: 1 })).toMatchObject(refused);
    expect(await client.tools.title()).toMatchObject(refused);
    expect(await open({ era }).tools.places()).toMatchObject({ code: "CLIENT_CANNOT" });
  });

  it("rejects with what a function of the test throws, and with what it forgets to return", async () => {
    const thrown = new Error("expected 1, got 2");
    const failing = open({
      era,
      elicit: () => {
        throw thrown;
      },
    });
    await expect(failing.tools.title()).rejects.toBe(thrown);
    // What a test in JavaScript may return.
    const silent = open({ era, elicit: (() => undefined) as never });
    await expect(silent.tools.title()).rejects.toThrow('Cannot answer "elicit": its function returned no answer');
  });

  it("ends a question when the call is cancelled", async () => {
    const controller = new AbortController();
    const client = open({
      era,
      elicit: () => {
        controller.abort();
        return true;
      },
    });
    expect(await client.tools.title({}, { signal: controller.signal })).toMatchObject({ code: "ABORTED" });
  });
});

it("a refused call answers alike in both protocol versions", async () => {
  for (const name of ["close", "drop", "fail", "title"] as const) {
    const answers = await Promise.all(
      (["legacy", "modern"] as const).flatMap((era) =>
        [{}, { elicit: () => false }].map(async (user) => {
          const client = open({ era, ...user });
          const { tools } = client;
          const answer = await (name === "close" ? tools.close({ id: 1 }) : tools[name]());
          return JSON.stringify(answer);
        }),
      ),
    );
    expect(answers.slice(2)).toEqual(answers.slice(0, 2));
  }
});

it("the value of a refused call throws what it was refused with", async () => {
  const answer = await open({}).tools.fail();
  expect(() => answer.value).toThrow(
    expect.objectContaining({
      name: "Refusal",
      code: "NOT_TODAY",
      message: "Cannot read the value of a refused call: NOT_TODAY: come back tomorrow",
      details: { day: 1 },
    }),
  );
  expect(Object.keys(answer)).not.toContain("value");
});

it("refuses an old name and what is not a function, and names what there is", () => {
  // What a test in JavaScript may pass.
  expect(() => open({ surface: "hub" } as never)).toThrow(
    '"surface" is not an option; known options: "era", "caller", "view"',
  );
  expect(() => open({ elicit: true } as never)).toThrow('"elicit" must be a function');
});
