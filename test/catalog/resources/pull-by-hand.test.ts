import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { body } from "../../../src/catalog/content/resource-body.ts";
import type { Link } from "../../../src/links/link.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import type { ToolAnswer } from "../../../src/testing/tool-answer.ts";
import { changes } from "./told-changes.ts";

const surface = defineSurface("desk", {});
/** Nobody must need it: hand-written resources that do not use the client are there without a backend. */
const link: Link = { connect: () => Promise.reject(new TypeError("nobody should connect")) };
const at = (path: string): string => `surface://desk/${path}`;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function serve() {
  const said = changes();
  const held = { value: 1 };
  const app = mcp(surface, { onFault: () => {}, changeWindowMs: 0 })
    .bridge(link)
    .pull()
    .resources({
      level: { description: "How high it is", read: () => held.value, watch: () => said.run() },
      page: {
        title: "A page",
        variables: z.object({ id: z.int() }),
        mimeType: "text/plain",
        read: ({ id }) => (id > 2 ? undefined : `page ${id}`),
      },
      cover: { uri: "app://cover", read: () => body({ mimeType: "image/png", bytes: "AAH+/w==" }) },
    });
  const client = createTestClient(app);
  closers.push(() => client.close());
  return { client, said, held };
}

describe("read_resource over hand-written resources", () => {
  it.each([
    [at("level"), { value: 1 }],
    [at("page/2"), { value: "page 2", mimeType: "text/plain" }],
    ["app://cover", { value: "AAH+/w==", mimeType: "image/png", encoding: "base64" }],
  ])("gives what is under %s", async (uri, structured) => {
    const { client } = serve();
    const answer = await client.tools.read_resource({ uri });
    expect(answer).toEqual(expect.objectContaining({ isError: false, structured: { uri, ...structured } }));
  });

  it("answers ABSENT when there is nothing, and NOT_FOUND when there is no such resource", async () => {
    const { client } = serve();
    expect(await client.tools.read_resource({ uri: at("page/3") })).toMatchObject({ code: "ABSENT" });
    expect(await client.tools.read_resource({ uri: at("page/x") })).toMatchObject({ code: "NOT_FOUND" });
    expect(await client.tools.read_resource({ uri: "app://other" })).toMatchObject({ code: "NOT_FOUND" });
  });

  it("names them in its description with their words, and no more of them than fit", async () => {
    const { client } = serve();
    const { tools } = await client.request("tools/list");
    const description: unknown = Reflect.get(Object([tools].flat()[0]), "description");
    expect(description).toContain(`\n${at("level")} - How high it is\n`);
    expect(description).toContain(`\n${at("page/{id}")} - A page`);
    expect(description).toContain("\napp://cover\n");
    const longest = (letter: string) => ({
      uri: `app://${letter.repeat(1000)}`,
      title: "ü".repeat(5000),
      read: () => 1,
    });
    const resources = { a: longest("a"), b: longest("b"), c: longest("c") };
    const many = createTestClient(mcp(surface).bridge(link).resources(resources).pull());
    closers.push(() => many.close());
    const [tool] = [(await many.request("tools/list"))["tools"]].flat();
    const cut = String(Reflect.get(Object(tool), "description"));
    expect(Buffer.byteLength(cut)).toBeLessThan(2048);
    expect(cut).toMatch(/\n… and 2 more$/);
  });
});

function cursorOf(answer: ToolAnswer): string {
  const cursor = answer.isError ? undefined : answer.structured["cursor"];
  return typeof cursor === "string" ? cursor : "";
}

describe("wait_for_change over hand-written resources", () => {
  it("tells of a change that its author says, and of none that came before the cursor", async () => {
    const { client, said, held } = serve();
    const uri = at("level");
    const first = await client.tools.wait_for_change({ uris: [uri], timeout_ms: 0 });
    expect(first).toMatchObject({ structured: { status: "timed_out", changed: [] } });
    const since = cursorOf(first);
    const waiting = client.tools.wait_for_change({ uris: [uri], since, timeout_ms: 20_000 });
    await said.listening();
    held.value = 2;
    said.tell();
    const second = await waiting;
    expect(second).toMatchObject({ structured: { status: "changed", changed: [uri] } });
    expect(await client.tools.read_resource({ uri })).toMatchObject({ structured: { value: 2 } });
    const cursor = cursorOf(second);
    const third = await client.tools.wait_for_change({ uris: [uri], since: cursor, timeout_ms: 0 });
    expect(third).toMatchObject({ structured: { status: "timed_out", changed: [] } });
  });

  it("times out over one that nobody says changes of", async () => {
    const { client } = serve();
    expect(await client.tools.wait_for_change({ uris: [at("page/1"), "app://cover"], timeout_ms: 10 })).toMatchObject({
      structured: { status: "timed_out" },
    });
  });
});
