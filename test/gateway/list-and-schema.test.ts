import { describe, expect, it } from "vitest";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import { toToolHints } from "../../src/catalog/tool-head.ts";
import { Refusal } from "../../src/errors.ts";
import { describeTool } from "../../src/mcp/lists.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { GatewayBench, callOf, catalogOf, operation } from "./support.ts";

const reads = toToolHints("read", {});

const full = operation("git.branch.create", {
  title: "Create a branch",
  description: "Branches off",
  version: "1.2.0",
  tags: ["vcs"],
  meta: { "example.com/cost": 3 },
  input: { root: "", json: { type: "object", properties: { name: { type: "string" } } }, decode: (args) => args },
  output: { json: { type: "object", properties: { sha: { type: "string" } } }, stringify: () => "{}" },
  errors: { EXISTS: { type: "object", properties: { sha: { type: "string" } } } },
  scopes: ["hub:write", "git"],
  requires: { scopes: ["git"], scopesAny: ["a", "b"], resource: { type: "repo", action: "write" } },
});

function idsOf(answer: JsonObject): readonly string[] {
  // As list answers.
  return (answer["operations"] as readonly { readonly tool: string }[]).map(({ tool }) => tool);
}

describe("createGatewayTools()", () => {
  it("makes exactly call, list, schema and search when it is over anything", () => {
    const names = GatewayBench.over([full]).tools.map(({ name, id }) => [name, id]);
    expect(names).toEqual(["call", "list", "schema", "search"].map((name) => [name, name]));
  });

  it("makes tools whose listing is under 4 kB when all four are described", () => {
    const { tools } = GatewayBench.over([full]);
    const listing = `{"tools":[${tools.map(describeTool).join(",")}]}`;
    expect(Buffer.byteLength(listing)).toBeLessThan(3700);
  });

  it("makes tools that say the same when ten thousand operations are behind them", () => {
    const many = Array.from({ length: 10_000 }, (_none, index) => operation(`n${index}.run`));
    const listing = (entries: readonly ToolEntry[]): string =>
      GatewayBench.over(entries).tools.map(describeTool).join();
    expect(listing(many)).toBe(listing(many.slice(0, 1)));
  });

  it("makes tools that take what whatever reads takes when scopes are asked for", () => {
    expect(GatewayBench.over([full]).tools.flatMap(({ scopes }) => scopes)).toEqual([
      "hub:read",
      "hub:read",
      "hub:read",
      "hub:read",
    ]);
  });
});

describe("the tools of a gateway", () => {
  it.each([
    ["call", { calls: [{ tool: "a.b" }], timeout: 5 }, { path: "timeout", expected: "calls, parallel" }],
    ["list", { query: "x" }, { path: "query", expected: "namespace, limit, cursor" }],
    ["schema", { tool: "a.b", id: "a.b" }, { path: "id", expected: "tool" }],
    ["schema", { operation: "a.b" }, { path: "operation", expected: "tool" }],
    ["search", { query: "x" }, { path: "query", expected: "q, namespace, limit" }],
    ["search", JSON.parse('{"__proto__":{"q":"x"}}'), { path: "__proto__", expected: "q, namespace, limit" }],
  ])("refuse an argument by its name when it is none of theirs: %s %j", (name, args, { path, expected }) => {
    const attempt = (): unknown =>
      GatewayBench.over([operation("a.b")])
        .tool(name)
        .input.decode(args);
    const issues = [{ path, message: `there is no such argument; expected ${expected}` }];
    expect(attempt).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR", issues }));
  });

  it("name a few of the arguments that are none of theirs when there are thousands, each of any length", () => {
    const args = Object.fromEntries(Array.from({ length: 5000 }, (_none, index) => [`${index}-${"x".repeat(500)}`, 1]));
    const attempt = (): unknown => GatewayBench.over([]).tool("search").input.decode(args);
    const path = expect.stringMatching(/^\d-x{100,130}…$/);
    const issues = Array.from({ length: 5 }, () => expect.objectContaining({ path }));
    expect(attempt).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR", issues }));
  });

  it("say in their schemas that they take no other arguments when they are listed", () => {
    for (const { input } of GatewayBench.over([]).tools) expect(input.json["additionalProperties"]).toBe(false);
    expect(GatewayBench.over([]).tool("call").input.json).toMatchObject({
      properties: { calls: { items: { additionalProperties: false } } },
    });
  });
});

describe("call", () => {
  const hintsOf = (entries: readonly ToolEntry[], isReadOnly: boolean): unknown =>
    new GatewayBench({ catalog: () => catalogOf(entries), isGranted: () => true, isReadOnly }).tool("call").hints;
  const read = operation("a.read", { hints: reads });

  it("says that it may change anything when its view may show what does, whatever is there now", () => {
    const worst = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
    for (const entries of [[], [read], [read, full]]) expect(hintsOf(entries, false)).toEqual(worst);
  });

  it("says that it only reads when its view shows nothing else", () => {
    const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };
    for (const entries of [[], [read]]) expect(hintsOf(entries, true)).toEqual(reading);
  });
});

describe("list", () => {
  it("tells all that there is to know of an operation when everything is said of it", async () => {
    expect(await GatewayBench.over([full]).ask("list")).toEqual({
      operations: [
        {
          tool: "git.branch.create",
          name: "create",
          namespace: "git.branch",
          type: "mutation",
          version: "1.2.0",
          title: "Create a branch",
          description: "Branches off",
          tags: ["vcs"],
          inputSchema: full.input.json,
          outputSchema: full.output.json,
          errorSchemas: full.errors,
          accessControl: {
            requiredScopes: ["git"],
            requiredScopesAny: ["a", "b"],
            resourceType: "repo",
            resourceAction: "write",
          },
          _meta: { "example.com/cost": 3 },
        },
      ],
      total: 1,
    });
  });

  it("leaves out what is not said when little is said", async () => {
    const requires = { scopes: [], scopesAny: [] };
    expect(await GatewayBench.over([operation("read_it", { hints: reads, requires })]).ask("list")).toEqual({
      operations: [{ tool: "read_it", name: "read_it", namespace: "", type: "query", inputSchema: { type: "object" } }],
      total: 1,
    });
  });

  it("sorts by id when names on the wire would sort otherwise", async () => {
    const bench = GatewayBench.over([operation("a_b"), operation("a.c"), operation("a0")]);
    expect(idsOf(await bench.ask("list"))).toEqual(["a.c", "a0", "a_b"]);
  });

  it("keeps to a namespace and those below it when it is named, and has nothing when nobody knows it", async () => {
    const bench = GatewayBench.over([operation("a.b.run"), operation("a.run"), operation("ab.run"), operation("run")]);
    expect(idsOf(await bench.ask("list", { namespace: "a" }))).toEqual(["a.b.run", "a.run"]);
    expect(await bench.ask("list", { namespace: "b" })).toEqual({ operations: [], total: 0 });
  });

  it("tells everything, each once, when its pages are followed", async () => {
    const ids = Array.from({ length: 25 }, (_none, index) => `n.op${String(index).padStart(3, "0")}`);
    const bench = GatewayBench.over(ids.map((id) => operation(id)));
    const pages: (readonly string[])[] = [];
    let cursor: string | undefined;
    do {
      const answer = await bench.ask("list", cursor === undefined ? {} : { cursor });
      expect(answer["total"]).toBe(25);
      pages.push(idsOf(answer));
      // As list answers.
      cursor = answer["next"] as string | undefined;
    } while (cursor !== undefined);
    expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(ids);
  });

  it("goes on behind what a page ended with when that has gone meanwhile", async () => {
    const bench = GatewayBench.over([operation("a.one"), operation("c.three")]);
    expect(idsOf(await bench.ask("list", { cursor: "b.two" }))).toEqual(["c.three"]);
  });

  it("ends a page before 96 KiB when operations are long, and has one at least", async () => {
    const long = (id: string, length: number): ToolEntry => operation(id, { description: "é".repeat(length) });
    const bench = GatewayBench.over([long("a.one", 20_000), long("b.two", 20_000), long("c.three", 20_000)]);
    const answer = await bench.ask("list");
    expect(idsOf(answer)).toEqual(["a.one", "b.two"]);
    expect(answer["next"]).toBe("b.two");
    const huge = await GatewayBench.over([long("a.one", 200_000), operation("b.two")]).ask("list");
    expect(idsOf(huge)).toEqual(["a.one"]);
  });

  it("tells and counts only what its caller was granted when they lack some", async () => {
    const catalog = catalogOf([operation("a.one"), operation("b.two", { scopes: ["two"] })]);
    const bench = new GatewayBench({ catalog: () => catalog, isGranted: ({ scopes }) => scopes.includes("two") });
    expect(await bench.ask("list")).toMatchObject({ operations: [{ tool: "b.two" }], total: 1 });
    expect(await bench.ask("list", { namespace: "a" })).toEqual({ operations: [], total: 0 });
  });

  it.each([
    ["namespace", { namespace: 3 }],
    ["limit", { limit: 1.5 }],
    ["cursor", { cursor: {} }],
  ])("refuses %s when it does not fit", (path, args) => {
    const attempt = (): unknown => GatewayBench.over([]).tool("list").input.decode(args);
    const issues = [{ path, message: expect.any(String) }];
    expect(attempt).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR", issues }));
  });
});

describe("schema", () => {
  it("tells what an operation takes and answers when it is named by its id or its name on the wire", async () => {
    const bench = GatewayBench.over([full]);
    const schemas = { inputSchema: full.input.json, outputSchema: full.output.json, errorSchemas: full.errors };
    expect(await bench.ask("schema", { tool: "git.branch.create" })).toEqual(schemas);
    expect(await bench.ask("schema", { tool: "git_branch_create" })).toEqual(schemas);
  });

  it("leaves out what an operation does not say when it says little", async () => {
    expect(await GatewayBench.over([operation("a.b")]).ask("schema", { tool: "a.b" })).toEqual({
      inputSchema: { type: "object" },
    });
  });

  it("refuses with one answer when there is no such operation and when it was not granted", async () => {
    const catalog = catalogOf([full]);
    const bench = new GatewayBench({ catalog: () => catalog, isGranted: () => false });
    const refused = async (tool: string): Promise<unknown> =>
      bench.ask("schema", { tool }, callOf()).then(
        () => undefined,
        (cause: unknown) => cause,
      );
    for (const tool of ["git.branch.create", "git_branch_create", "no.such", "", "call", "__proto__"]) {
      const cause = await refused(tool);
      expect(cause).toBeInstanceOf(Refusal);
      expect(cause).toMatchObject({
        code: "OPERATION_NOT_FOUND",
        message: "there is no operation of this name",
        details: undefined,
      });
    }
  });

  it.each([{}, { tool: 1 }, { tool: null }])("refuses its arguments when they do not fit: %j", (args) => {
    const attempt = (): unknown => GatewayBench.over([]).tool("schema").input.decode(args);
    const issues = [{ path: "tool", message: "expected the id of an operation, a string" }];
    expect(attempt).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR", issues }));
  });
});
