import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bench } from "../cli/support.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { agentKinds, outcomeOf, refusalOf, type Agent } from "./support/clients.ts";
import { allTools, housePacket, readingTools } from "./support/daemon-app.ts";
import { endWithTest } from "./support/serve.ts";
import { serveDaemon, withoutWrites } from "./support/serve-daemon.ts";

let script = "";
let packets = "";
beforeAll(async () => {
  script = await bundleScript(new URL("support/daemon-server.ts", import.meta.url), "scenario-daemon");
});
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), "surface-mcp-house-"));
  endWithTest(() => rm(folder, { recursive: true, force: true }));
  packets = join(folder, "house.json");
  await writeFile(packets, JSON.stringify(housePacket));
});

/** What a host's configuration says of one server. */
interface Configured {
  readonly url: string;
  readonly command: string;
  readonly args: readonly string[];
}

function serverIn(config: unknown, container: string, alias: string): Configured {
  // As the client that the file belongs to reads it.
  return Reflect.get(Object(Reflect.get(Object(config), container)), alias) as Configured;
}

async function started(kind: (typeof agentKinds)[number], { command, args }: Configured): Promise<Agent> {
  const agent = await kind.connect({ command, args });
  endWithTest(() => agent.close());
  return agent;
}

const toText = (text: string | undefined): string => text ?? "";

describe.each(agentKinds)("an agent by $name, by an alias in its host's configuration,", (kind) => {
  it.each([
    ["claude-code", ".claude.json", "mcpServers"],
    ["cursor", ".cursor/mcp.json", "mcpServers"],
    ["vscode", ".config/Code/User/mcp.json", "servers"],
  ])(
    "sees only its view of the daemon without knowing the address, when the host is %s",
    async (...[host, path, container]) => {
      const { serving, enter, ran } = await serveDaemon();
      const home = await bench();
      for (const surface of ["readonly", "reviewer"]) {
        const installed = await home.run(
          "install",
          host,
          "--name",
          `blackbox-${surface}`,
          "--surface",
          surface,
          "--url",
          serving.url,
        );
        expect(installed).toMatchObject({ code: 0, err: "" });
      }
      const config: unknown = JSON.parse(toText(await home.read(path)));
      const { url } = serverIn(config, container, "blackbox-readonly");
      expect(url).toBe(`${serving.url}?surface=readonly`);
      const agent = await enter(kind, url.slice(serving.url.length));
      expect(await agent.tools()).toEqual(withoutWrites);
      expect(await outcomeOf(agent.call("bro_exec"), "bro_exec")).toContain("there is no such tool");
      expect(ran).toEqual([]);
      const reviewer = serverIn(config, container, "blackbox-reviewer").url;
      expect(await (await enter(kind, reviewer.slice(serving.url.length))).tools()).toEqual([
        ...readingTools.slice(0, 3),
        "bbox_note",
      ]);
    },
  );

  it("reads the same of a file of codex", async () => {
    const { serving, enter } = await serveDaemon();
    const home = await bench();
    await home.run("install", "codex", "--name", "blackbox-readonly", "--surface", "readonly", "--url", serving.url);
    const { url } = serverIn(
      parseToml(toText(await home.read(".codex/config.toml"))),
      "mcp_servers",
      "blackbox-readonly",
    );
    expect(await (await enter(kind, url.slice(serving.url.length))).tools()).toEqual(withoutWrites);
  });

  it("keeps its view when another program registers the alias for another view, which is refused", async () => {
    const { serving } = await serveDaemon();
    const home = await bench();
    const line = ["install", "cursor", "--name", "blackbox-readonly", "--url", serving.url, "--surface"];
    await home.run(...line, "readonly");
    expect(await home.run(...line, "executor")).toMatchObject({
      code: 1,
      err: expect.stringContaining("blackbox-readonly"),
    });
    expect((await home.run("install", "--list")).out).toContain(`${serving.url}?surface=readonly`);
  });

  it("sees only its view when the host starts the daemon itself, over standard input and output", async () => {
    const home = await bench();
    const line = ["--name", "blackbox-readonly", "--surface", "readonly", "--", process.execPath, script];
    await home.run("install", "claude-desktop", ...line, "--packets", packets);
    const config: unknown = JSON.parse(toText(await home.read(".config/Claude/claude_desktop_config.json")));
    const agent = await started(kind, serverIn(config, "mcpServers", "blackbox-readonly"));
    expect(await agent.tools()).toEqual(withoutWrites);
    expect(agent.instructions()).toMatch(/^A black box\.\n\nRead-only surface\./);
    expect(await outcomeOf(agent.call("bro_exec"), "bro_exec")).toBe(await outcomeOf(agent.call("no_such"), "no_such"));
    expect(await agent.call("bbox_knowledge", { text: "x" })).toMatchObject({ structuredContent: { value: "x" } });
  });
});

describe.each(agentKinds)("an agent by $name, over standard input and output,", (kind) => {
  const start = (...args: readonly string[]): Promise<Agent> =>
    started(kind, { url: "", command: process.execPath, args: [script, "--packets", packets, ...args] });

  it("is shown everything when the daemon is started by no view", async () => {
    const agent = await start();
    expect(await agent.tools()).toEqual([...allTools, "replay"]);
    expect(await agent.resources()).toHaveLength(2);
  });

  it("sees the entries of its daemon's view in every method", async () => {
    const agent = await start("--surface", "reviewer");
    expect(await agent.tools()).toEqual([...readingTools, "bbox_note"]);
    expect(await agent.resources()).toEqual(["surface://blackbox/threads"]);
    expect(await agent.prompts()).toEqual(["look"]);
    const [hidden, never] = ["surface://blackbox/decisions", "surface://blackbox/decision5"];
    expect(await outcomeOf(agent.read(hidden), hidden)).toBe(await outcomeOf(agent.read(never), never));
    expect(
      await outcomeOf(
        agent.watch(hidden, () => {}),
        hidden,
      ),
    ).toBe(
      await outcomeOf(
        agent.watch(never, () => {}),
        never,
      ),
    );
    expect(await outcomeOf(agent.prompt("decide"), "decide")).toBe(await outcomeOf(agent.prompt("deride"), "deride"));
  });

  it("is not let in when the view of its daemon is denied", async () => {
    const why = /tool surface denied: only dispatched workflows come by this/;
    await expect(start("--surface", "workflow")).rejects.toThrow(refusalOf(kind, why));
  });

  it("finds no daemon when the name of its view is unknown", async () => {
    await expect(start("--surface", "unheard-of")).rejects.toThrow(/connection closed/i);
  });
});
