import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compareExposures } from "../../src/lock/compare-exposures.ts";
import { renderCheck, type CheckFormat } from "../../src/lock/render-check.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { exposureOf, type Sample } from "./support.ts";

const of = (description: string, limit: number, confirm: boolean): Sample => ({
  members: {
    act: mcpTool(procedure({ input: z.object({ n: z.number().max(limit) }), description }), {
      confirm,
      timeoutMs: limit,
    }),
  },
});
const before = exposureOf(of("Act once. Then stop.", 9, true));
const after = exposureOf(of("Act twice. Then stop.", 5, false));
const render = (format: CheckFormat, base = "a.json"): string =>
  renderCheck({ base, differences: compareExposures(before, after) }, format);

describe("renderCheck()", () => {
  it("writes text for a terminal", () => {
    expect(render("text")).toBe(`a.json differs from the app: 4 in all, 2 widen the reach of agents, 2 break agents

Widens what agents can reach
  tool "act": "confirm" changed
    - refuse
    + never
  tool "act": "description" changed
    - Act once.
    + Act twice.
      Then stop.

Breaks agents
  tool "act": "input.n" changed
      {
    -   "maximum": 9,
    +   "maximum": 5,
        "type": "number"
      }
  tool "act": "timeoutMs" changed
    - 9
    + 5
`);
  });

  it("writes Markdown for a comment, widening first", () => {
    const text = render("markdown");
    expect(text).toMatch(/^## What agents can reach\n\nChanges: 4 in all/);
    expect(text).toContain(
      "\n**tool `act`: `description` changed**\n\n```diff\n- Act once.\n+ Act twice.\n  Then stop.\n```\n",
    );
    expect(text.indexOf("### Widens")).toBeLessThan(text.indexOf("### Breaks"));
  });

  it("writes a command of GitHub for each difference, on one line", () => {
    const lines = render("github", "a,b:c%.json").trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe(
      '::warning file=a%2Cb%3Ac%25.json,title=Widens what agents can reach::tool "act": "confirm" changed%0A- refuse%0A+ never',
    );
  });

  it("writes JSON with everything", () => {
    expect(JSON.parse(render("json"))).toMatchObject({
      same: false,
      differences: [
        { section: "tools", name: "act", field: "confirm", before: "refuse", after: "never", reach: "widens" },
        { field: "description", contract: "compatible" },
        { field: "input.n", reach: "narrows", contract: "breaking" },
        { field: "timeoutMs", reach: "same", contract: "breaking" },
      ],
    });
  });

  it.each<[CheckFormat, string]>([
    ["text", "a.json is up to date\n"],
    ["markdown", "## What agents can reach\n\nNo change.\n"],
    ["github", ""],
    ["json", '{\n  "same": true,\n  "differences": []\n}\n'],
  ])("says as %s that nothing differs", (format, text) => {
    expect(renderCheck({ base: "a.json", differences: [] }, format)).toBe(text);
  });

  it("shows characters that hide, and leaves no block of code, when a description is hostile", () => {
    const hostile = exposureOf(of("Act once. \u202E\u200Bhidden\n```\n@everyone\n````", 9, true));
    const text = renderCheck({ base: "a", differences: compareExposures(before, hostile) }, "markdown");
    expect(text).toContain("\\u{202e}\\u{200b}hidden");
    expect(text).toContain("\n`````diff\n");
    expect(text.endsWith("`````\n")).toBe(true);
  });

  it("shows spaces if only they differ", () => {
    const spaced = exposureOf(of("Act once.  Then stop.", 9, true));
    const text = renderCheck({ base: "a", differences: compareExposures(before, spaced) }, "text");
    expect(text).toContain('- "Act once. Then stop."\n    + "Act once.  Then stop."');
  });

  it("fits a comment, and counts what it leaves out, when thousands of entries differ", () => {
    const members = Object.fromEntries(
      Array.from({ length: 2000 }, (_none, index) => [`act${index}`, mcpTool(procedure({}))]),
    );
    const text = renderCheck(
      { base: "a", differences: compareExposures(exposureOf({}), exposureOf({ members })) },
      "markdown",
    );
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/… and \d+ more changes\./);
  });
});
