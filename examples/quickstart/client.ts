/** Drives the quickstart server as an MCP host would: a real client, over the server's standard input and output. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const server = fileURLToPath(new URL("./server.ts", import.meta.url));
const client = new Client({ name: "quickstart-client", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: ["--import", import.meta.resolve("tsx"), server] }),
);

const { tools } = await client.listTools();
const { resources } = await client.listResources();
console.log("tools:    ", tools.map((tool) => tool.name).join(", "));
console.log("resources:", resources.map((resource) => resource.uri).join(", "));
assert.deepEqual(
  tools.map((tool) => tool.name),
  ["bump"],
);

const bumped = await client.callTool({ name: "bump", arguments: { by: 2 } });
console.log("bump by 2:", JSON.stringify(bumped.structuredContent));
assert.deepEqual(bumped.structuredContent, { value: 2 });

const refused = await client.callTool({ name: "bump", arguments: { by: "two" } });
console.log("bump by two:", JSON.stringify(refused.content));
assert.equal(refused.isError, true);

await assert.rejects(client.callTool({ name: "reset", arguments: {} }), (error) => {
  console.log("reset:    ", String(error));
  return /there is no such tool/.test(String(error));
});

const read = await client.readResource({ uri: "surface://counter/value" });
console.log("value:    ", read.contents.map((content) => ("text" in content ? content.text : "")).join(""));

await client.close();
