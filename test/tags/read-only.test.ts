import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cell, event, procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { tagOf } from "../../src/tags/tag-of.ts";
import { cast, expectRefusal } from "./support.ts";

describe("readOnly()", () => {
  it("readOnly() marks a procedure as reading, and does not expose it", () => {
    const member = procedure({});
    const reader = readOnly(member);
    expect(tagOf(reader)).toEqual({ exposure: "none", effect: "read", options: {} });
    expect(tagOf(member).effect).toBe("unstated");
    expect(Object.isFrozen(reader)).toBe(true);
  });

  it("readOnly() keeps the exposure and the options when the procedure is a tool", () => {
    const tool = mcpTool(procedure({}), { title: "Show" });
    expect(tagOf(readOnly(tool))).toEqual({ exposure: "tool", effect: "read", options: { title: "Show" } });
    expect(tagOf(tool).effect).toBe("unstated");
  });

  it("readOnly() changes nothing when the procedure is read-only already", () => {
    expect(tagOf(readOnly(readOnly(procedure({})))).effect).toBe("read");
    expect(tagOf(readOnly(mcpTool(procedure({}), { mutates: false }))).effect).toBe("read");
  });

  it("readOnly() throws WRONG_KIND when a caller casts another kind", () => {
    const aCell = cell({ schema: z.string() });
    expectRefusal(() => cast(readOnly, aCell), "WRONG_KIND", "Cannot mark a cell as read-only: only procedures");
    const anEvent = event({ output: z.string() });
    expectRefusal(() => cast(readOnly, anEvent), "WRONG_KIND", "Cannot mark an event as read-only: only procedures");
  });

  it.each([{ mutates: true }, { destructive: true }, { mutates: true, destructive: false }])(
    "readOnly() throws CONTRADICTION when the tool's options say %j",
    (options) => {
      const tool = cast(mcpTool, procedure({}), options);
      expectRefusal(
        () => cast(readOnly, tool),
        "CONTRADICTION",
        "Cannot mark a procedure as read-only: its options say",
      );
    },
  );
});
