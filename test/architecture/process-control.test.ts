import { describe, expect, it } from "vitest";
import { findProcessControl } from "./rules/process-control.ts";
import { readSources, toSource } from "./source.ts";

describe("control of the process", () => {
  it("only its owner ends the process or writes stdout when src is read", () => {
    const sources = readSources("src");
    expect(sources.map((source) => source.path)).toContain("src/links/on-process-end.ts");
    expect(sources.flatMap(findProcessControl)).toEqual([]);
  });

  it.each([
    ["ends the process", "src/stdio/other.ts", `process.exit(0);`],
    ["ends the process by a computed name", "src/mcp/a.ts", `process["exit"](0);`],
    ["writes to stdout", "src/mcp/a.ts", `process.stdout.write("x");`],
    ["reads stdin", "src/links/a.ts", `process.stdin.resume();`],
    ["takes process apart", "src/stdio/a.ts", `const { exit } = process;`],
    ["imports process", "src/mcp/a.ts", `import { exit } from "node:process";`],
    ["opens a shell", "src/links/a.ts", `spawn("ls", [], { shell: true });`],
    ["asks for the time in the spine", "src/spine/a.ts", `const now = new Date();`],
  ])("findProcessControl() objects when a file %s", (_what, path, text) => {
    expect(findProcessControl(toSource(path, text))).toHaveLength(1);
  });

  it("findProcessControl() is content when the owner acts or a file reads the environment", () => {
    expect(findProcessControl(toSource("src/links/on-process-end.ts", `process.exit(0);`))).toEqual([]);
    expect(findProcessControl(toSource("src/stdio/a.ts", `process.stdout.write("x");`))).toEqual([]);
    expect(findProcessControl(toSource("src/mcp/a.ts", `process.env["A"]; new Date(0);`))).toEqual([]);
  });
});
