import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ViewReplay } from "../../src/views/replay-view.ts";
import { bench, type Bench } from "./support.ts";

const shown: ViewReplay = {
  entity: { surface: "hub", project: "p", client: { name: "c", version: "1" } },
  verdict: { kind: "tool_surface", face: "gateway" },
  visible_tools: ["call", "list", "schema", "search"],
  visible_tool_count: 4,
  operations: ["git.branch", "note.add"],
  visible_resources: ["notes"],
  hidden: [
    { name: "note.purge", by: `rule "hub": disallow "note.purge"` },
    { name: "x\u001B[31m", by: "scopes" },
  ],
};

/** An app as authors write one. */
const real = fileURLToPath(new URL("fixtures/app.mjs", import.meta.url));

/** A module with what counts as an app, which answers as it is told and says what it was asked. */
async function put(at: Bench, name: string, text: string): Promise<void> {
  await mkdir(at.cwd, { recursive: true });
  await writeFile(join(at.cwd, name), text);
}

const answering = (replay: unknown, exported: string): string =>
  `${exported} { replay: (asked) => ({ ...${JSON.stringify(replay)}, asked }) };`;

describe("replay", () => {
  it("prints the caller, the visible entries and the rules that hide the others", async () => {
    const at = await bench();
    await put(at, "app.mjs", answering(shown, "export const app ="));
    expect(await at.run("replay", "app.mjs", "--surface", "hub", "--project", "p")).toEqual({
      code: 0,
      out: `surface  hub
project  p
client   c 1
caller   the local user, as over stdio
verdict  gateway face

tools (4)
  call
  list
  schema
  search

operations behind them (2)
  git.branch
  note.add

resources (1)
  notes

hidden (2)
  note.purge   rule "hub": disallow "note.purge"
  x\\u{1b}[31m  scopes
`,
      err: "",
    });
  });

  it("passes on project and client, and writes JSON with --json", async () => {
    const at = await bench();
    await put(at, "app.mjs", answering(shown, "export default"));
    const asked = async (...more: readonly string[]): Promise<unknown> =>
      JSON.parse((await at.run("replay", "app.mjs", "--json", ...more)).out);
    expect(await asked()).toEqual({ ...shown, asked: {} });
    expect(await asked("--surface", "a", "--project", "b")).toMatchObject({ asked: { surface: "a", project: "b" } });
  });

  it("passes on the caller's id and scopes", async () => {
    const at = await bench();
    await put(at, "app.mjs", answering(shown, "export default"));
    const asked = async (...more: readonly string[]): Promise<unknown> =>
      JSON.parse((await at.run("replay", "app.mjs", "--json", ...more)).out).asked;
    const view = { surface: "default" };
    const somebody = { id: "anonymous", isAnonymous: true, scopes: [], view };
    expect(await asked("--principal", "ann")).toEqual({ caller: { ...somebody, id: "ann", isAnonymous: false } });
    expect(await asked("--scopes", "a,b:c")).toEqual({ caller: { ...somebody, scopes: ["a", "b:c"] } });
    const client = { name: "@x/y", version: "1.0" };
    expect(await asked("--surface", "s", "--client", "@x/y@1.0", "--user-agent", "u/1")).toEqual({
      surface: "s",
      caller: { ...somebody, view: { surface: "s", userAgent: "u/1", client } },
    });
    for (const [given, name] of [
      ["cursor", "cursor"],
      ["@x/y", "@x/y"],
    ] as const) {
      expect(await asked("--client", given)).toMatchObject({ caller: { view: { client: { name, version: "" } } } });
    }
  });

  it("shows the entries that a caller's scopes allow", async () => {
    const at = await bench();
    const shownTo = async (...more: readonly string[]): Promise<unknown> =>
      JSON.parse((await at.run("replay", real, "--surface", "readonly", "--json", ...more)).out);
    const who = ["--principal", "ann", "--client", "c@1", "--user-agent", "u", "--project", "p"];
    expect(await shownTo(...who)).toMatchObject({
      entity: {
        surface: "readonly",
        project: "p",
        user_agent: "u",
        client: { name: "c", version: "1" },
        principal: "ann",
      },
      visible_tools: [],
    });
    expect(await shownTo(...who, "--scopes", "notes:read")).toMatchObject({ visible_tools: ["note_show"] });
  });

  it("prints the reason of a denied view, in bold on a terminal", async () => {
    const denied = {
      ...shown,
      verdict: { kind: "deny", reason: "not here" },
      visible_tools: [],
      visible_tool_count: 0,
    };
    const at = await bench({ isTerminal: true });
    await put(at, "app.mjs", answering(denied, "export const app ="));
    const { out } = await at.run("replay", "app.mjs");
    expect(out).toContain("verdict  denied: not here\n");
    expect(out).toContain("\u001B[1mtools (0)\u001B[22m\n");
  });

  it("prints the replay and fails for an undefined view", async () => {
    const at = await bench();
    const entity = { surface: "nevr" };
    const unknown = { ...shown, entity, verdict: { kind: "deny", reason: "unknown MCP surface" } };
    await put(at, "app.mjs", answering(unknown, "export const app ="));
    const ran = await at.run("replay", "app.mjs", "--surface", "nevr", "--json");
    expect(ran).toMatchObject({ code: 1, err: `surface-mcp: Cannot replay: the app has no view "nevr"\n` });
    expect(JSON.parse(ran.out)).toMatchObject(unknown);
  });

  it.each([
    ["there is no module", "gone.mjs", 1, `Cannot load "gone.mjs": the file does not exist`],
    ["the module exports no app", "none.mjs", 1, `it must export an app, as its default or as "app"`],
    ["the module throws", "throws.mjs", 1, "of my own"],
    ["the module serves", "serves.mjs", 1, "it calls serve(); name the module that only makes the app"],
  ])("prints a message and fails when %s", async (...[, module, code, message]) => {
    const at = await bench();
    await put(at, "none.mjs", `export const app = 1; export default {};`);
    await put(at, "throws.mjs", `throw new Error("of my own\\u001B[31m");`);
    const taken = `new Error("Cannot serve over stdio: stdio is already being served by this process")`;
    await put(at, "serves.mjs", `throw Object.assign(${taken}, { code: "CONTRADICTION" });`);
    const ran = await at.run("replay", module);
    expect(ran).toMatchObject({ code, out: "" });
    expect(ran.err).toContain(message);
    expect(ran.err).not.toContain("\u001B");
  });

  it.each([
    ["no module", ["replay"]],
    ["two modules", ["replay", "a.mjs", "b.mjs"]],
    ["an unknown option", ["replay", "a.mjs", "--frobnicate"]],
    ["a view without a name", ["replay", "a.mjs", "--surface", ""]],
    ["nobody's name", ["replay", "a.mjs", "--principal", ""]],
    ["a scope that is none", ["replay", "a.mjs", "--scopes", "a,,b"]],
    ["a client of no name", ["replay", "a.mjs", "--client", ""]],
    ["an unknown command", ["frobnicate"]],
    ["no command", []],
  ])("answers %s with code 2 and the help option", async (_name, args) => {
    const at = await bench();
    const ran = await at.run(...args);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(`see "surface-mcp --help"`);
  });

  it.each([["--help"], ["-h"], ["install", "--help"], ["replay", "--help"]])(
    "prints its usage for %s %s",
    async (...args) => {
      const at = await bench();
      const ran = await at.run(...args.filter((word) => typeof word === "string"));
      expect(ran).toMatchObject({ code: 0, err: "" });
      expect(ran.out).toContain("usage: surface-mcp COMMAND");
    },
  );
});
