import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as V1Transport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { http, type HttpServing } from "../../src/http/http.ts";
import { skillsFolder } from "../../src/mcp/extensions/skills-folder.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";

let root: string;
let serving: HttpServing;
const url = (): URL => new URL(`http://127.0.0.1:${serving.port}/mcp`);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "skills-"));
  const skill = join(root, "deploy");
  await mkdir(join(skill, "references"), { recursive: true });
  const fields =
    "name: deploy\ndescription: >-\n  Use it\n  to deploy\nmetadata:\n  version: '1.0'\nallowed-tools: Bash(git:*)";
  await writeFile(join(skill, "SKILL.md"), `---\n${fields}\n---\n# Deploy\n`);
  await writeFile(join(skill, "references", "ü 100%.md"), "\uFEFFtext");
  await writeFile(join(skill, "logo.png"), new Uint8Array([0x89, 0x50, 0xff]));
  await writeFile(join(skill, "big.bin"), new Uint8Array(3_000_000));
  const surface = defineSurface("shop", { act: mcpTool(procedure({ output: z.string() })) });
  const app = mcp(surface, { skills: skillsFolder(root) }).implement({ act: () => "acted" });
  serving = await http({ port: 0, allowAnonymous: true }).serve(app);
});
afterAll(async () => {
  await serving.close();
  await rm(root, { recursive: true });
});

describe("skills over HTTP", () => {
  it.each(["legacy", "auto"] as const)("pass all checks of the client of the SDK 2.x, mode %s", async (mode) => {
    const client = new Client({ name: "host", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url()));
    const skills = new SkillsClient(client);
    expect([skills.supported, skills.directoryRead]).toEqual([true, true]);
    const { skills: listed, invalid } = await skills.list();
    expect(invalid ?? []).toEqual([]);
    const [skill] = listed;
    if (skill === undefined) throw new TypeError("there is no skill");
    expect(skill.frontmatter).toMatchObject({ description: "Use it to deploy", metadata: { version: "1.0" } });
    expect((await skills.get(skill.uri)).skill).toEqual(skill);
    expect(await skills.read(skill)).toMatchObject({ verified: true, body: "# Deploy\n" });
    expect(await skills.read(skill, "references/ü 100%.md")).toMatchObject({ verified: true });
    expect(await skills.read(skill, "logo.png")).toMatchObject({ verified: true });
    expect(await skills.read(skill, "big.bin")).toMatchObject({ verified: true });
    const { resources } = await skills.readDirectory("skill://shop/deploy");
    expect(resources.map(({ name }) => name)).toEqual(["SKILL.md", "big.bin", "logo.png", "references"]);
    await client.close();
  });

  it("are served to a client of the SDK 1.x", async () => {
    const client = new V1Client({ name: "host", version: "1" });
    await client.connect(new V1Transport(url()));
    expect(client.getServerCapabilities()).toHaveProperty("extensions", {
      "io.modelcontextprotocol/skills": { directoryRead: true },
    });
    // The SDK 1.x has no types for methods of extensions.
    const ask = (method: string, params: object): Promise<unknown> =>
      client.request({ method, params: { ...params } }, ResultSchema);
    expect(await ask("skills/list", {})).toMatchObject({ skills: [{ uri: "skill://shop/deploy/SKILL.md" }] });
    expect(await client.readResource({ uri: "skill://shop/deploy/SKILL.md" })).toHaveProperty("contents.0.text");
    await client.close();
  });
});
