import { execFile } from "node:child_process";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { agentKinds, outcomeOf, type Agent } from "../scenarios/support/clients.ts";
import { endWithTest } from "../scenarios/support/serve.ts";

const run = promisify(execFile);

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("../../examples/game/server.ts", import.meta.url), "example-game");
});

/** The ways of serving the game: a process for its player, or one for all who come. */
const servings = [
  { how: "stdio", target: async () => ({ command: process.execPath, args: [script] }) },
  { how: "HTTP", target: async () => ({ url: await serveHttp() }) },
];

async function serveHttp(): Promise<string> {
  const child = spawn(process.execPath, [script, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  endWithTest(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return String(url);
}

/** A player who hears of other tools, and can wait for that. */
async function play(
  agent: Agent,
): Promise<(name: string, args?: Record<string, unknown>) => Promise<readonly string[]>> {
  let told = (): void => {};
  await agent.onTools(() => told());
  return async (name, args = {}) => {
    const changed = new Promise<void>((resolve) => (told = resolve));
    expect(await agent.call(name, args)).not.toMatchObject({ isError: true });
    await changed;
    return agent.tools();
  };
}

describe.each(servings)("the game over $how", ({ target }) => {
  it.each(agentKinds)("has the tools that its state allows, and says when there are others, to $name", async (kind) => {
    const agent = await kind.connect(await target());
    endWithTest(() => agent.close());
    const turn = await play(agent);

    expect(await agent.tools()).toEqual(["move"]);
    expect(await turn("move", { direction: "on" })).toEqual(["attack", "move"]);
    expect(await agent.resources()).toContain("surface://dungeon/state/goblin");
    expect(await agent.call("move", { direction: "on" })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "The goblin bars the way" }],
    });
    expect(await turn("attack")).toEqual(["attack", "drink", "move"]);
    expect(await turn("attack")).toEqual(["drink", "move"]);
    // Gone, like what never was.
    expect(await outcomeOf(agent.call("attack"), "attack")).toBe(await outcomeOf(agent.call("fly"), "fly"));

    let updates = 0;
    await agent.watch("surface://dungeon/state/health", () => (updates += 1));
    expect(await turn("move", { direction: "on" })).toEqual(["cat_pet", "drink", "move"]);
    expect(await agent.resources()).toContain("surface://dungeon/cat/state/mood");
    expect(await turn("cat_pet")).toEqual(["cat_name", "cat_pet", "drink", "move"]);
    expect(await agent.call("cat_name", { value: "Moss" })).toMatchObject({ content: [{ type: "text", text: "" }] });
    expect(await agent.read("surface://dungeon/cat/state/name")).toMatchObject({ contents: [{ text: '"Moss"' }] });
    expect(await turn("drink")).toEqual(["cat_name", "cat_pet", "move"]);
    await expect.poll(() => updates).toBe(1);
    expect(await turn("move", { direction: "back" })).toEqual(["move"]);
    expect(await agent.resources()).not.toContain("surface://dungeon/cat/state/mood");
  });
});

it("the game's client plays it to the end when it is run as the README says", { timeout: 60_000 }, async () => {
  const client = fileURLToPath(new URL("../../examples/game/client.ts", import.meta.url));
  const { stdout } = await run(process.execPath, ["--import", import.meta.resolve("tsx"), client]);
  expect(stdout).toContain('the cat is called "Moss"\n');
  expect(stdout).toMatch(/move back +move\n$/);
});
