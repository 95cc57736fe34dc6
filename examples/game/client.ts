/** Plays the game as an MCP host would, over the server's standard input and output, and looks at its tools when told to. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const server = fileURLToPath(new URL("./server.ts", import.meta.url));
const client = new Client(
  { name: "player", version: "1.0.0" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
let told: () => void = () => {};
client.setNotificationHandler("notifications/tools/list_changed", () => told());
client.setNotificationHandler("notifications/resources/updated", ({ params }) => console.log(`  told: ${params.uri}`));
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: ["--import", import.meta.resolve("tsx"), server] }),
);
await client.listen({ toolsListChanged: true, resourceSubscriptions: ["surface://dungeon/state/health"] });

/** The tools there are now. */
async function tools(): Promise<string> {
  return (await client.listTools()).tools.map(({ name }) => name).join(", ");
}

/** Does something after which there are other tools, and says which. */
async function turn(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const changed = new Promise<void>((resolve) => (told = resolve));
  await client.callTool({ name, arguments: args });
  await changed;
  const now = await tools();
  console.log(`${name} ${Object.values(args).join(" ")}`.trim().padEnd(10), now);
  return now;
}

async function play(): Promise<void> {
  console.log("at first  ", await tools());
  assert.equal(await turn("move", { direction: "on" }), "attack, move");
  const barred = await client.callTool({ name: "move", arguments: { direction: "on" } });
  assert.deepEqual(barred.content, [{ type: "text", text: "The goblin bars the way" }]);
  assert.equal(barred.isError, true);
  console.log("move on    The goblin bars the way");
  assert.equal(await turn("attack"), "attack, drink, move");
  assert.equal(await turn("attack"), "drink, move");
  assert.equal(await turn("move", { direction: "on" }), "cat_pet, drink, move");
  assert.equal(await turn("cat_pet"), "cat_name, cat_pet, drink, move");
  await client.callTool({ name: "cat_name", arguments: { value: "Moss" } });
  const { contents } = await client.readResource({ uri: "surface://dungeon/cat/state/name" });
  assert.deepEqual(
    contents.map((content) => ("text" in content ? content.text : "")),
    ['"Moss"'],
  );
  console.log('the cat is called "Moss"');
  assert.equal(await turn("drink"), "cat_name, cat_pet, move");
  assert.equal(await turn("move", { direction: "back" }), "move");
}

try {
  await play();
} finally {
  await client.close();
}
