import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { tagOf } from "../../src/tags/tag-of.ts";
import { cast, expectRefusal } from "./support.ts";

const text = z.string();
const aProcedure = procedure({ input: text, description: "Runs" });

describe("mcpTool()", () => {
  it.each([
    ["a procedure", aProcedure],
    ["an event", event({ output: text })],
    ["a stream", stream({ output: text })],
  ])("mcpTool() returns a tagged copy of %s and leaves the member as it was", (_name, member) => {
    const before = tagOf(member);
    const tool = cast(mcpTool, member, { title: "A tool" });
    expect(tagOf(tool).exposure).toBe("tool");
    expect(tagOf(tool).options).toEqual({ title: "A tool" });
    expect(tool).not.toBe(member);
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tagOf(member)).toEqual(before);
    expect(before.exposure).toBe("none");
  });

  it("mcpTool() keeps the definition of the member", () => {
    expect(mcpTool(aProcedure)).toMatchObject({ kind: "procedure", description: "Runs", input: text });
  });

  it("mcpTool() keeps its own copy of the options when theirs are changed afterwards", () => {
    const options = { title: "Before" };
    const tool = mcpTool(aProcedure, options);
    options.title = "After";
    expect(tagOf(tool).options.title).toBe("Before");
  });

  it.each([
    [undefined, "unstated"],
    [{}, "unstated"],
    [{ mutates: true }, "mutates"],
    [{ mutates: false }, "read"],
    [{ destructive: true }, "mutates"],
    [{ destructive: false }, "unstated"],
  ])("mcpTool() takes the effect of %j to be %s", (options, effect) => {
    expect(tagOf(cast(mcpTool, aProcedure, options)).effect).toBe(effect);
  });

  it("mcpTool() keeps the effect of a read-only procedure without options for it", () => {
    expect(tagOf(mcpTool(readOnly(aProcedure), { title: "Show" })).effect).toBe("read");
  });

  it.each([
    ["cell", cell({ schema: text })],
    ["collection", collection({ key: text, schema: text })],
  ])("mcpTool() throws WRONG_KIND when a caller casts a %s", (kind, member) => {
    expectRefusal(() => cast(mcpTool, member), "WRONG_KIND", `Cannot tag a ${kind} as a tool: only procedures`);
  });

  it.each([{}, undefined, null, 5, () => 1, text, { kind: "procedure" }])(
    "mcpTool(), mcpResource() and readOnly() throw INVALID_MEMBER when %s is passed for a member",
    (value) => {
      expectRefusal(() => cast(mcpTool, value), "INVALID_MEMBER", "Cannot tag with mcpTool(): the argument is not a");
      expectRefusal(() => cast(mcpResource, value), "INVALID_MEMBER", "Cannot tag with mcpResource()");
      expectRefusal(() => cast(readOnly, value), "INVALID_MEMBER", "Cannot tag with readOnly()");
    },
  );

  it("mcpTool() throws ALREADY_EXPOSED when the member has a tag", () => {
    expectRefusal(() => cast(mcpTool, mcpTool(aProcedure)), "ALREADY_EXPOSED", "it is tagged already, as a tool");
    const resource = mcpResource(event({ output: text }));
    expectRefusal(
      () => cast(mcpTool, resource),
      "ALREADY_EXPOSED",
      "Cannot tag an event as a tool: it is tagged already",
    );
  });

  it.each([
    [{ nope: 1 }, "INVALID_OPTION", '"nope" is not an option'],
    [{ toString: 1 }, "INVALID_OPTION", '"toString" is not an option'],
    [{ mutates: "no" }, "INVALID_OPTION", '"mutates" must be true or false'],
    [{ idempotent: 1 }, "INVALID_OPTION", '"idempotent" must be true or false'],
    [{ openWorld: null }, "INVALID_OPTION", '"openWorld" must be true or false'],
    [
      { timeoutMs: 0 },
      "INVALID_OPTION",
      '"timeoutMs" must be a number of milliseconds above 0 and at most 600000, and is 0',
    ],
    [{ timeoutMs: Number.NaN }, "INVALID_OPTION", "and is NaN"],
    [{ timeoutMs: 600_001 }, "INVALID_OPTION", "at most 600000, and is 600001"],
    [{ mutates: false, destructive: true }, "CONTRADICTION", "cannot be destructive"],
  ] as const)("mcpTool() refuses %j when a caller casts", (options, code, sentence) => {
    expectRefusal(() => cast(mcpTool, aProcedure, options), code, sentence);
  });

  it.each([{ mutates: true }, { destructive: true }])(
    "mcpTool() throws CONTRADICTION for %j when the member only reads",
    (options) => {
      const reader = readOnly(aProcedure);
      expectRefusal(() => cast(mcpTool, reader, options), "CONTRADICTION", "readOnly() says that it does not mutate");
      const anEvent = event({ output: text });
      expectRefusal(() => cast(mcpTool, anEvent, options), "CONTRADICTION", "events only read, by their kind");
    },
  );
});
