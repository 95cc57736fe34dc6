import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { readExposure } from "../../../src/lock/read-exposure.ts";
import { skillsFolder } from "../../../src/mcp/extensions/skills-folder.ts";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import type { TestClientOptions } from "../../../src/testing/test-client-types.ts";
import { handshake } from "../../fixtures/envelope.ts";
import { ConnectionHarness } from "../connection-harness.ts";
import { expectRefusal } from "../../tags/support.ts";

const id = "io.modelcontextprotocol/skills";
const eras = ["legacy", "modern"] as const;
const manifest = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: Use it\n${more}---\n# ${name}\n`;

let root: string;
const faults: Fault[] = [];

async function write(path: string, content: string | Uint8Array): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

const surface = defineSurface("shop", { act: mcpTool(procedure({ output: z.string() })) });

function createApp(folder: string | URL = root) {
  return mcp(surface, { skills: skillsFolder(folder), onFault: (fault) => void faults.push(fault) })
    .implement({ act: () => "acted" })
    .views({ few: { disallow: ["skills/deploy"] }, none: { disallow: ["skills/*"] }, default: {} });
}

/** Returns the extensions that the server declares to a client without any. */
async function declaredTo(era: (typeof eras)[number], caller?: Caller): Promise<unknown> {
  const harness = new ConnectionHarness(createApp().open(), caller);
  const legacy = { method: "initialize", params: handshake };
  const { result } = await harness.request(era, 1, era === "modern" ? { method: "server/discover" } : legacy);
  await harness.close();
  // As the server writes it.
  return (result as { capabilities: { extensions?: unknown } }).capabilities.extensions;
}

const openClient = (options: TestClientOptions = {}): ReturnType<typeof createTestClient<never, never>> =>
  createTestClient(createApp() as never, options);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "skills-"));
  faults.length = 0;
  await write("deploy/SKILL.md", manifest("deploy", "license: MIT\nmetadata:\n  version: '1'\n"));
  await write("deploy/references/hosts and ports.md", "text é");
  await write("deploy/logo.png", new Uint8Array([0x89, 0x50, 0xff]));
  await write("deploy/.hidden", "secret");
  await write("review/SKILL.md", manifest("review"));
  await write(".git/config", "x");
  await write("README.md", "about");
});
afterEach(() => rm(root, { recursive: true }));

describe.each(eras)("skills for a client of the era %s", (era) => {
  it("are declared, listed and got with the digests of their files", async () => {
    const client = openClient({ era });
    const { skills } = (await client.request("skills/list")) as { skills: object[] };
    expect(skills).toMatchObject([
      {
        uri: "skill://shop/deploy/SKILL.md",
        frontmatter: { name: "deploy", description: "Use it", license: "MIT", metadata: { version: "1" } },
        resources: [
          { uri: "skill://shop/deploy/SKILL.md" },
          { uri: "skill://shop/deploy/logo.png", size: 3 },
          { uri: "skill://shop/deploy/references/hosts%20and%20ports.md", size: 7 },
        ],
      },
      { uri: "skill://shop/review/SKILL.md" },
    ]);
    expect(JSON.stringify(skills)).not.toContain("hidden");
    expect(await client.request("skills/get", { uri: "skill://shop/deploy/SKILL.md" })).toMatchObject({
      skill: skills[0],
    });
    await client.close();
    expect(await declaredTo(era)).toEqual({ [id]: { directoryRead: true } });
  });

  it("have directories and files: texts as text, others as base64", async () => {
    const client = openClient({ era });
    expect(await client.request("resources/directory/read", { uri: "skill://shop/deploy" })).toMatchObject({
      resources: [
        { uri: "skill://shop/deploy/SKILL.md", name: "SKILL.md", mimeType: "text/markdown" },
        { uri: "skill://shop/deploy/logo.png", name: "logo.png", mimeType: "image/png", size: 3 },
        { uri: "skill://shop/deploy/references", name: "references", mimeType: "inode/directory" },
      ],
    });
    expect(await client.request("resources/directory/read", { uri: "skill://shop/deploy/references" })).toMatchObject({
      resources: [{ name: "hosts and ports.md", size: 7 }],
    });
    const read = (path: string): Promise<object> => client.request("resources/read", { uri: `skill://shop/${path}` });
    expect(await read("deploy/references/hosts%20and%20ports.md")).toMatchObject({ contents: [{ text: "text é" }] });
    expect(await read("deploy/logo.png")).toMatchObject({ contents: [{ mimeType: "image/png", blob: "iVD/" }] });
    await client.close();
  });

  it.each([
    "skill://shop/deploy/.hidden",
    "skill://shop/deploy/../review/SKILL.md",
    "skill://shop/deploy/%2e%2e/review/SKILL.md",
    "skill://shop/deploy/references/hosts and ports.md",
    "skill://shop/../../etc/passwd",
    "skill://shop/deploy",
    "skill://shop",
    "skill://other/deploy/SKILL.md",
    "skill://shop/deploy/SKILL.md?x",
    "skill://shop/deploy/SKILL.md/",
    "",
  ])("have no file %j", async (uri) => {
    const client = openClient({ era });
    await expect(client.request("resources/read", { uri })).rejects.toThrow("not found");
    await client.close();
  });

  it.each(["skills/get", "resources/directory/read"] as const)("refuse bad params of %s", async (method) => {
    const client = openClient({ era });
    for (const params of [
      {},
      { uri: 1 },
      { uri: null },
      { uri: "skill://shop/never" },
      { uri: "skill://shop/deploy/logo.png" },
    ]) {
      await expect(client.request(method, params)).rejects.toMatchObject({ code: -32602 });
    }
    await expect(client.request("skills/list", { cursor: "invented" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  it("are hidden by views and by scopes, as if they did not exist", async () => {
    const few = openClient({ era, view: "few" });
    expect(await few.request("skills/list")).toMatchObject({ skills: [{ frontmatter: { name: "review" } }] });
    const hidden = "skill://shop/deploy/SKILL.md";
    const errors = await Promise.all(
      [hidden, "skill://shop/never/SKILL.md"].map((uri) => few.request("skills/get", { uri }).catch(String)),
    );
    expect(errors[0]).toBe(errors[1]);
    await expect(few.request("resources/read", { uri: hidden })).rejects.toThrow("not found");
    await expect(few.request("resources/directory/read", { uri: "skill://shop/deploy" })).rejects.toThrow("no such");
    await few.close();
    const stranger: Caller = { id: "ann", isAnonymous: false, scopes: [] };
    const client = openClient({ era, caller: stranger });
    expect(await client.request("skills/list")).toMatchObject({ skills: [] });
    await expect(client.request("skills/get", { uri: hidden })).rejects.toMatchObject({ code: -32011 });
    await expect(client.request("resources/read", { uri: hidden })).rejects.toMatchObject({ code: -32011 });
    await client.close();
    expect(await declaredTo(era, { ...anonymous, view: { surface: "none" } })).toBeUndefined();
  });

  it("withhold a file that has changed, until the app is opened again", async () => {
    const client = openClient({ era });
    const uri = "skill://shop/review/SKILL.md";
    await write("review/SKILL.md", manifest("review").replace("Use it", "Use me"));
    await expect(client.request("resources/read", { uri })).rejects.toThrow("INVALID_OUTPUT");
    await write("review/SKILL.md", "longer".repeat(100));
    await expect(client.request("resources/read", { uri })).rejects.toThrow("INVALID_OUTPUT");
    await rm(join(root, "review"), { recursive: true });
    await expect(client.request("resources/read", { uri })).rejects.toThrow("INVALID_OUTPUT");
    expect(faults.map(({ cause }) => String(cause))).toEqual(Array(3).fill(expect.stringContaining("open it again")));
    await client.close();
  });

  it("come in pages of a hundred", async () => {
    for (let index = 0; index < 120; index += 1) await write(`s${index}/SKILL.md`, manifest(`s${index}`));
    const client = openClient({ era });
    const first = await client.request("skills/list");
    expect(first["skills"]).toHaveLength(100);
    expect(await client.request("skills/list", { cursor: first["nextCursor"] ?? null })).toHaveProperty(
      "skills.length",
      22,
    );
    await client.close();
  });
});

describe("a folder of skills", () => {
  const open = (folder: string | URL = root): unknown => createApp(folder).open();

  it("may be a file URL, and empty", async () => {
    const byUrl = readExposure(createApp(pathToFileURL(root)));
    expect(byUrl).toEqual(readExposure(createApp()));
    const empty = await mkdtemp(join(tmpdir(), "skills-"));
    expect(readExposure(createApp(empty)).server["shop"]).not.toHaveProperty("skills");
    await rm(empty, { recursive: true });
  });

  it.each<[string, () => Promise<void>, string]>([
    ["no SKILL.md", () => write("empty/a.md", ""), "must have one"],
    ["a name unlike the folder", () => write("other/SKILL.md", manifest("another")), "of its folder"],
    ["a name in capitals", () => write("Caps/SKILL.md", manifest("Caps")), "lower-case"],
    ["no description", () => write("a/SKILL.md", "---\nname: a\n---\n"), "description"],
    [
      "a description that is too long",
      () => write("a/SKILL.md", `---\nname: a\ndescription: ${"x".repeat(1025)}\n---\n`),
      "1024",
    ],
    ["no frontmatter", () => write("a/SKILL.md", "# a"), "line 1"],
    ["a link to a file outside", () => symlink("/etc/hostname", join(root, "review", "link.md")), "link"],
    ["a link to a folder", () => symlink(tmpdir(), join(root, "review", "tmp")), "link"],
    ["a skill that is a link", () => symlink(join(root, "review"), join(root, "alias")), "link"],
    ["a name with a control character", () => write("review/a\nb.md", ""), "control character"],
    ["a name with a backslash", () => write(String.raw`review/a\b.md`, ""), "backslash"],
    ["a file above 16 MiB", () => write("review/big.bin", new Uint8Array(16_777_217)), "16 MiB"],
    [
      "more than 512 files",
      async () => {
        for (let index = 0; index < 512; index += 1) await write(`review/${index}.md`, "");
      },
      "512 files",
    ],
    ["a folder that is too deep", () => write(`review/${"d/".repeat(17)}x.md`, ""), "too deep"],
  ])("is refused for a skill with %s", async (_what, spoil, sentence) => {
    await spoil();
    expectRefusal(() => open(), "INVALID_OPTION", sentence);
  });

  it("is refused if it is not there, or no folder", () => {
    for (const folder of [1, null, "", new URL("https://example.com/"), undefined]) {
      expectRefusal(() => skillsFolder(folder as never), "INVALID_OPTION", "a path or a file: URL");
    }
    expectRefusal(() => open(join(root, "never")), "INVALID_OPTION", "cannot be listed");
    expectRefusal(() => open(join(root, "README.md")), "INVALID_OPTION", "cannot be listed");
    expectRefusal(() => mcp(surface, { skills: root as never }), "INVALID_OPTION", "skills");
  });

  it("stands in the lockfile, with the views that show each skill", () => {
    const { server } = readExposure(createApp());
    expect(server["shop"]).toMatchObject({
      skills: {
        deploy: { description: "Use it", digest: expect.stringMatching(/^sha256:/), files: 3, views: ["default"] },
        review: { files: 1, views: ["default", "few"] },
      },
    });
  });
});
