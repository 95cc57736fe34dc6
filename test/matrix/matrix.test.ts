import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { constructs } from "../schema/zod-constructs.ts";
import { matrix, type MatrixClient } from "./matrix-client.ts";

let script = "";
let constructScript = "";
beforeAll(async () => {
  script = await bundleScript(new URL("server.ts", import.meta.url), "matrix");
  constructScript = await bundleScript(new URL("construct-server.ts", import.meta.url), "matrix-constructs");
});

const toolNames = ["add", "aborted", "bell", "fire", "hold", "refuse", "ring", "ticks"].toSorted();

describe.each(matrix)("$name", { timeout: 30_000 }, ({ notFound, connect }) => {
  let client: MatrixClient;
  beforeAll(async () => {
    client = await connect(script);
  });
  afterAll(() => client.close());

  it("receives name and instructions of the server", () => {
    expect(client.getServerVersion()).toMatchObject({ name: "kiln", version: "1.2.3", title: "Kiln" });
    expect(client.getInstructions()).toBe("Mind the heat");
  });

  it("lists the tools, sorted, with their schemas and all four hints", async () => {
    const { tools } = await client.listTools();
    expect(tools).toMatchObject(toolNames.map((name) => ({ name, inputSchema: { type: "object" } })));
    expect(tools).toContainEqual(
      expect.objectContaining({
        name: "add",
        outputSchema: expect.objectContaining({ type: "object" }),
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      }),
    );
  });

  it("pages through the list when pages are small", async () => {
    const paged = await connect(script, ["--page-size", "3"]);
    const names: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    // A page that is asked for by its cursor is given as it is; the first one SDK 2.x joins with the others itself.
    do {
      const page = await paged.listTools(cursor === undefined ? undefined : { cursor });
      names.push(...[page["tools"]].flat().map((tool) => Reflect.get(Object(tool), "name")));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    await paged.close();
    expect(names).toEqual(toolNames);
    expect([1, 3]).toContain(pages);
  });

  it("gets an error for an unknown cursor", async () => {
    await expect(client.listTools({ cursor: "nope" })).rejects.toMatchObject({ code: -32602 });
  });

  it("calls a tool whose structured output it validates, with text that is exactly its JSON", async () => {
    const result = await client.callTool({ name: "add", arguments: { a: 1, b: 2 } });
    expect(result["structuredContent"]).toEqual({ sum: 3, at: "1970-01-01T00:00:00.000Z" });
    expect(result["content"]).toEqual([{ type: "text", text: JSON.stringify(result["structuredContent"]) }]);
    expect(result["isError"]).toBeFalsy();
  });

  it("takes a refusal of a tool that has an output schema", async () => {
    // Its validator knows the schemas once it has listed the tools.
    await client.listTools();
    const result = await client.callTool({ name: "refuse", arguments: {} });
    expect(result["isError"]).toBe(true);
    expect(result["content"]).toEqual([{ type: "text", text: "KILN_HOT: Too hot to open" }]);
    expect(result["_meta"]).toMatchObject({ "surface-mcp/error": { code: "KILN_HOT", details: { degrees: 1200 } } });
  });

  it("receives the issues of its arguments", async () => {
    const result = await client.callTool({ name: "add", arguments: { a: 1, b: "2" } });
    expect(result["isError"]).toBe(true);
    expect(JSON.stringify(result["content"])).toContain("VALIDATION_ERROR");
  });

  it("gets an error for an unknown tool", async () => {
    await expect(client.callTool({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
  });

  it("hears progress, growing, while a call runs", async () => {
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
    const result = await client.callTool({ name: "fire", arguments: { steps: 5 } }, { onprogress });
    expect(result["structuredContent"]).toEqual({ steps: 5 });
    // SDK 1.x drops the reports that arrive in one chunk with the answer, which it takes first.
    expect(heard.length).toBeGreaterThan(0);
    expect(heard).toEqual([1, 2, 3, 4, 5].slice(0, heard.length));
  });

  it("cancels a call, and the handler's signal fires", async () => {
    const controller = new AbortController();
    const call = client.callTool({ name: "hold", arguments: {} }, { signal: controller.signal });
    const before = await client.callTool({ name: "aborted", arguments: {} });
    controller.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await expect
      .poll(async () => (await client.callTool({ name: "aborted", arguments: {} }))["structuredContent"], {
        timeout: 10_000,
      })
      .toEqual({ value: 1 });
    expect(before["structuredContent"]).toEqual({ value: 0 });
  });

  it("lists and reads resources and templates", async () => {
    expect(await client.listResources()).toMatchObject({
      resources: [
        { uri: "surface://kiln/pots", name: "pots" },
        { uri: "surface://kiln/temperature", name: "temperature", title: "Temperature", description: "In degrees" },
      ],
    });
    expect(await client.listResourceTemplates()).toMatchObject({
      resourceTemplates: [{ uriTemplate: "surface://kiln/pots/{key}", name: "pots" }],
    });
    const uri = `surface://kiln/pots/${encodeURIComponent("blue/1 ö")}`;
    expect(await client.readResource({ uri: "surface://kiln/temperature" })).toMatchObject({
      contents: [{ uri: "surface://kiln/temperature", mimeType: "application/json", text: "20.5" }],
    });
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri, text: '{"glaze":"cobalt"}' }] });
  });

  it("gets the error for an unknown resource in the code of its era", async () => {
    for (const uri of ["surface://kiln/nope", "surface://kiln/pots/nope", "file:///etc/passwd"]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: notFound });
    }
  });

  it("waits for an event that fires, goes on from its cursor, and waits in vain", async () => {
    const first = client.callTool({ name: "bell", arguments: { timeout_ms: 10_000 } });
    await client.callTool({ name: "ring", arguments: { why: "noon" } });
    const fired = (await first)["structuredContent"];
    expect(fired).toMatchObject({ status: "fired", occurrence: { why: "noon" } });
    const since: unknown = Reflect.get(Object(fired), "cursor");
    const late = await client.callTool({ name: "bell", arguments: { since, timeout_ms: 20 } });
    expect(late["structuredContent"]).toMatchObject({ status: "timed_out" });
  });

  it("pulls frames of a stream, up to a number or to its end", async () => {
    const some = await client.callTool({ name: "ticks", arguments: { from: 1, max_items: 2 } });
    expect(some["structuredContent"]).toEqual({ items: [{ n: 1 }, { n: 2 }], ended: false });
    const all = await client.callTool({ name: "ticks", arguments: { from: 7, wait_ms: 10_000 } });
    expect(all["structuredContent"]).toMatchObject({ items: [7, 8, 9, 10, 11].map((n) => ({ n })), ended: true });
  });

  it("lists a tool for every construct that zod has", async () => {
    const other = await connect(constructScript);
    const { tools } = await other.listTools();
    await other.close();
    expect(tools).toHaveLength(Object.keys(constructs).length);
  });
});
