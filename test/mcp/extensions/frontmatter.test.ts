import { skillEntry } from "@modelcontextprotocol/server/ext/skills";
import { assert, asyncProperty, constantFrom, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../../src/errors.ts";
import { readFrontmatter } from "../../../src/mcp/extensions/frontmatter.ts";

const wrap = (yaml: string): string => `---\nname: skill\ndescription: d\n${yaml}\n---\nbody`;

/** Returns the frontmatter as the SDK reads it; rejects if it refuses the text. */
async function readBySdk(markdown: string): Promise<unknown> {
  const { frontmatter } = await skillEntry("skill", { "SKILL.md": markdown });
  return frontmatter;
}

/** Returns `undefined` for a text that is refused. */
function readOrRefuse(markdown: string): unknown {
  try {
    return readFrontmatter(markdown);
  } catch (cause) {
    if (cause instanceof SurfaceError) return undefined;
    throw cause;
  }
}

describe("readFrontmatter()", () => {
  it.each([
    "a: b",
    "a: b # comment",
    "# comment\n\na: 'it''s'",
    'a: "a \\"b\\" \\u00e9"',
    "a: true\nb: 12\nc: 1.5\nd: null\ne: ~\nf:\ng: -3e2",
    "a: 2024-01-01\nb: 1.2.3\nc: a:b\nd: a#b\ne: https://example.com",
    "a: |\n  one\n  two\n\nb: a",
    "a: >-\n  one\n  two\n\n  three\nb: a",
    "a: |-\n  - one # not a comment",
    "a: >\n  one \n  two\t\nb: c",
    "metadata:\n  a: '1'\n  b: two\nc: a",
    "list:\n  - a\n  - 'b'\n  - 3\nb: a",
    "list:\n- a\n- b\nc: a",
    "allowed-tools: Bash(git:*) Read",
  ])("reads %j as the SDK does", async (yaml) => {
    expect(readFrontmatter(wrap(yaml))).toEqual(await readBySdk(wrap(yaml)));
  });

  it("joins the lines of a plain text", () => {
    expect(readFrontmatter("---\na: one\n  two\n  three\nb: 1\n---\n")).toEqual({ a: "one two three", b: 1 });
  });

  it.each([
    "a: [1]",
    "a: {b: 1}",
    "a: &x 1",
    "a: *x",
    "a: !!str 1",
    "a: b: c",
    "a: 'open",
    'a: "\\x41"',
    "a: 1\na: 2",
    "name: again",
    "__proto__: 1",
    "a\n",
    "\ta: 1",
    "a:\n  b:\n    c: 1",
    "a: 0x10",
    "a: .inf",
    "a: |+\n  b",
    "a: |\n  b\n    c",
    "? a",
    "- a",
    " a: 1",
  ])("refuses %j, and names the line", (yaml) => {
    expect(() => readFrontmatter(wrap(yaml))).toThrow(/line \d+/);
  });

  it("reads a text as the SDK does, or refuses it, whatever it is", async () => {
    const unit = constantFrom(...Array.from("ab09 \t#:-'\"[]{}&*!|>%@`,?~\\.+enu\u00e9\u200b\u000b\u0085\n"));
    let both = 0;
    await assert(
      asyncProperty(string({ unit, maxLength: 16 }), async (text) => {
        const markdown = wrap(`a: ${text}`);
        const [read, known] = [readOrRefuse(markdown), await readBySdk(markdown).catch(() => undefined)];
        if (read === undefined || known === undefined) return true;
        both += 1;
        return JSON.stringify(read) === JSON.stringify(known);
      }),
      { numRuns: 3000 },
    );
    expect(both).toBeGreaterThan(100);
  });
});
