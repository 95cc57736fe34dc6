import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { tagOf } from "../../src/tags/tag-of.ts";
import { cast, expectRefusal } from "./support.ts";

const text = z.string();

describe("mcpResource()", () => {
  it.each([
    ["a cell", cell({ schema: text })],
    ["a collection", collection({ key: text, schema: text })],
    ["a stream", stream({ input: text, output: text })],
    ["an event", event({ output: text })],
  ])("mcpResource() returns a tagged copy of %s and leaves the member as it was", (_name, member) => {
    const resource = cast(mcpResource, member, { description: "Read me" });
    expect(tagOf(resource)).toMatchObject({ exposure: "resource", options: { description: "Read me" } });
    expect(Object.isFrozen(resource)).toBe(true);
    expect(tagOf(member)).toEqual({ exposure: "none", effect: "unstated", options: {} });
  });

  it("mcpResource() throws WRONG_KIND when a caller casts a procedure", () => {
    expectRefusal(
      () => cast(mcpResource, procedure({})),
      "WRONG_KIND",
      "Cannot tag a procedure as a resource: a procedure can only be a tool",
    );
  });

  it.each([
    [{ windowMs: -1 }, '"windowMs" must be a number of milliseconds from 0 to 60000, and is -1'],
    [{ windowMs: 60_001 }, "and is 60001"],
    [{ windowMs: Number.NaN }, "and is NaN"],
    [{ windowMs: "5" }, 'and is "5"'],
    [{ mutates: true }, '"mutates" is not an option'],
  ])("mcpResource() throws INVALID_OPTION for %j", (options, sentence) => {
    expectRefusal(() => cast(mcpResource, cell({ schema: text }), options), "INVALID_OPTION", sentence);
  });

  it("mcpResource() takes windows from none to a minute", () => {
    for (const windowMs of [0, 0.5, 60_000]) {
      expect(tagOf(mcpResource(cell({ schema: text }), { windowMs })).options).toEqual({ windowMs });
    }
  });

  it("mcpResource() takes listItems for a collection", () => {
    const listed = mcpResource(collection({ key: text, schema: text }), { listItems: true });
    expect(tagOf(listed).options).toEqual({ listItems: true });
  });

  it.each([
    ["a cell", cell({ schema: text })],
    ["a stream", stream({ input: text, output: text })],
    ["an event", event({ output: text })],
  ])("mcpResource() throws WRONG_KIND when a caller casts listItems for %s", (name, member) => {
    for (const listItems of [true, false]) {
      expectRefusal(
        () => cast(mcpResource, member, { listItems }),
        "WRONG_KIND",
        `Cannot tag ${name} as a resource: only a collection has items that "listItems" could list`,
      );
    }
  });

  it("mcpResource() throws INVALID_OPTION when a caller casts listItems to something else", () => {
    expectRefusal(
      () => cast(mcpResource, collection({ key: text, schema: text }), { listItems: 1 }),
      "INVALID_OPTION",
      '"listItems" must be true or false',
    );
  });

  it("mcpResource() throws ALREADY_EXPOSED when the member has a tag", () => {
    const resource = mcpResource(cell({ schema: text }));
    expectRefusal(() => cast(mcpResource, resource), "ALREADY_EXPOSED", "it is tagged already, as a resource");
    const tool = mcpTool(stream({ output: text }));
    expectRefusal(() => cast(mcpResource, tool), "ALREADY_EXPOSED", "it is tagged already, as a tool");
  });
});
