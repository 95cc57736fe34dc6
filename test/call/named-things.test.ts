import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Caller } from "../../src/surface/caller.ts";
import { defineSurface, event, mcp, mcpTool, procedure, stream } from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";

const lower = z.string().trim().toLowerCase();
const resource = { type: "repo", action: "write", argument: "repo" };
const given: unknown[] = [];

const surface = defineSurface("ci", {
  push: mcpTool(procedure({ input: z.object({ repo: lower }), output: z.string() }), { resource }),
  preset: mcpTool(procedure({ input: z.object({ repo: z.string().default("website") }) }), { resource }),
  late: mcpTool(procedure({ input: z.object({ repo: z.string().transform(async (text) => text.toLowerCase()) }) }), {
    resource,
  }),
  only: mcpTool(procedure({ input: lower }), { resource: { ...resource, argument: "value" } }),
  renamed: mcpTool(procedure({ input: z.object({ repo: z.string() }).transform(({ repo }) => ({ name: repo })) }), {
    resource,
  }),
  happens: mcpTool(event({ input: z.object({ repo: lower }), output: z.string() }), { resource }),
  tail: mcpTool(stream({ input: z.object({ repo: lower }), output: z.string() }), { resource }),
});

function note(input: unknown): string {
  given.push(input);
  return "ok";
}

// A generator: what is asked for is noted when somebody listens.
async function* noteAll(input: unknown): AsyncGenerator<string, void, undefined> {
  yield note(input);
}

const client = createTestClient(
  mcp(surface).implement({
    push: note,
    preset: note,
    late: note,
    only: note,
    renamed: note,
    happens: noteAll,
    tail: noteAll,
  }),
);

function mayWrite(...names: readonly string[]): Caller {
  const resources = Object.fromEntries(names.map((name) => [`repo:${name}`, ["write"]]));
  return { id: "ada", isAnonymous: false, scopes: ["ci:read", "ci:write"], resources };
}

/** The code of the refusal, and whether anything was run. */
async function ask(tool: keyof typeof client.tools, args: object, caller: Caller): Promise<readonly unknown[]> {
  given.length = 0;
  const result = await client.request("tools/call", { name: tool, arguments: { ...args } }, { caller });
  const text = JSON.stringify(result);
  return [result["isError"] === true ? /NOT_FOUND|VALIDATION_ERROR/.exec(text)?.[0] : "ran", given.length];
}

const ran = ["ran", 1];
const refused = ["NOT_FOUND", 0];

afterAll(() => client.close());

describe("a member's tool that requires a right to the resource in an argument", () => {
  it.each<readonly [keyof typeof client.tools, object]>([
    ["push", {}],
    ["late", {}],
    ["happens", { timeout_ms: 1 }],
    ["tail", { wait_ms: 50 }],
  ])(
    "refuses %s when its schema turns the argument into a resource that the caller may not act on",
    async (tool, more) => {
      expect(await ask(tool, { repo: "PAYROLL", ...more }, mayWrite("PAYROLL"))).toEqual(refused);
      expect(await ask(tool, { repo: "PAYROLL", ...more }, mayWrite("payroll"))).toEqual(refused);
      expect(await ask(tool, { repo: "payroll", ...more }, mayWrite("payroll"))).toEqual(ran);
      expect(await ask(tool, { repo: "PAYROLL", ...more }, mayWrite("PAYROLL", "payroll"))).toEqual(ran);
    },
  );

  it("checks the default value for a missing argument", async () => {
    expect(await ask("preset", {}, mayWrite("website"))).toEqual(ran);
    expect(await ask("preset", {}, mayWrite("payroll"))).toEqual(refused);
  });

  it("checks a value that is the whole input", async () => {
    expect(await ask("only", { value: " website" }, mayWrite(" website"))).toEqual(refused);
    expect(await ask("only", { value: "website" }, mayWrite("website"))).toEqual(ran);
  });

  it("requires the right to all resources when its schema renames the argument", async () => {
    expect(await ask("renamed", { repo: "website" }, mayWrite("website"))).toEqual(refused);
    expect(await ask("renamed", { repo: "website" }, mayWrite("*"))).toEqual(ran);
  });

  it("returns the issues only to a caller with the right to the resource", async () => {
    expect(await ask("push", { repo: 7 }, mayWrite("7"))).toEqual(["VALIDATION_ERROR", 0]);
    expect(await ask("push", { repo: 7 }, mayWrite("website"))).toEqual(refused);
  });
});
