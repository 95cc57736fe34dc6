import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { stdio, type StdioOptions } from "../../src/stdio/stdio.ts";
import type { Serving } from "../../src/mcp/servable-app.ts";
import { envelope, handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { createViewsApp } from "../mcp/views-app.ts";

const opened: Serving[] = [];
afterEach(() => Promise.all(opened.splice(0).map((serving) => serving.close())));

/** Serves an app of views as it is told, sends lines, and gives the answers to them. */
async function answersTo(options: StdioOptions, lines: readonly string[]): Promise<readonly object[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  opened.push(await stdio({ ...options, input, output, exit: false }).serve(createViewsApp().app));
  let text = "";
  output.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const answers: object[] = [];
  for (const line of lines) {
    input.write(`${line}\n`);
    await expect.poll(() => text.split("\n").length - 1).toBe(answers.length + 1);
    answers.push(JSON.parse(text.split("\n")[answers.length] ?? ""));
  }
  return answers;
}

function namesOf(answer: object | undefined): readonly string[] {
  const tools: unknown = Object(Reflect.get(answer ?? {}, "result")).tools;
  return Array.isArray(tools) ? tools.map(({ name }) => String(name)) : [];
}

describe("stdio() by a view", () => {
  it("refuses to serve by a view that no rule names, and says which may have been meant", async () => {
    const serve = (surface: string): Promise<unknown> =>
      stdio({ surface, input: new PassThrough(), output: new PassThrough() }).serve(createViewsApp().app);
    await expect(serve("readonyl")).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: 'Serving over stdio: there is no view "readonyl"; did you mean "readonly"?',
    });
    await expect(serve("never")).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  it.each(["legacy", "modern"])("serves the entries of the view in the %s era", async (era) => {
    const lines =
      era === "legacy"
        ? [legacyLine(1, "initialize", handshake), legacyLine(2, "tools/list")]
        : [modernLine(1, "server/discover"), modernLine(2, "tools/list")];
    const [greeting, listed] = await answersTo({ surface: "readonly" }, lines);
    expect(greeting).toHaveProperty("result.instructions", "Use it.\n\nOnly look.");
    expect(namesOf(listed)).not.toContain("note");
    expect(namesOf((await answersTo({}, lines))[1])).toContain("note");
  });

  it("denies the handshake where the view does, by its name or by the program", async () => {
    const initialize = legacyLine(1, "initialize", handshake);
    const [denied] = await answersTo({ surface: "locked" }, [initialize]);
    expect(denied).toHaveProperty("error", { code: -32603, message: "tool surface denied: not for you" });
    const meta = { ...envelope, "io.modelcontextprotocol/clientInfo": { name: "nosy", version: "1" } };
    const [nosy, other] = await answersTo({}, [
      modernLine(1, "tools/list", { _meta: meta }),
      modernLine(2, "tools/list"),
    ]);
    expect(nosy).toHaveProperty("error.message", "tool surface denied: no nosy clients");
    expect(namesOf(other)).toContain("note");
  });

  it("grants the local user the scopes of the options", async () => {
    const lines = [modernLine(1, "tools/list"), modernLine(2, "tools/call", { name: "granted" })];
    const [listed, called] = await answersTo({ scopes: ["extra"] }, lines);
    expect(namesOf(listed)).toContain("granted");
    expect(called).toHaveProperty("result.structuredContent");
    const [without, refused] = await answersTo({}, lines);
    expect(namesOf(without)).not.toContain("granted");
    expect(refused).toHaveProperty("error.code", -32602);
  });

  it.each([{ surface: "" }, { surface: "x".repeat(257) }, { project: "" }, { scopes: ["with space"] }])(
    "refuses to serve with %o",
    async (options) => {
      const serving = stdio({ ...options, input: new PassThrough(), output: new PassThrough() }).serve(
        createViewsApp().app,
      );
      await expect(serving).rejects.toMatchObject({ code: "INVALID_OPTION" });
    },
  );
});
