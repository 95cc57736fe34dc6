/** Drives the notes server as an MCP host would, over its standard input and output, while somebody edits a note by hand. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";

const Fields = z.record(z.string(), z.unknown());
const dir = await mkdtemp(join(tmpdir(), "notes-"));
const server = fileURLToPath(new URL("./server.ts", import.meta.url));
const client = new Client({ name: "notes-client", version: "1.0.0" });
const updated = new Promise<string>((resolve) => {
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
});

/** Calls a tool that is to succeed; what it returns is always an object. */
async function call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  assert.notEqual(isError, true, JSON.stringify(content));
  return Fields.parse(structuredContent ?? {});
}

/** Calls a tool that is to refuse, and gives what the model is told. */
async function refusal(name: string, args: Record<string, unknown>): Promise<string> {
  const { isError, content } = await client.callTool({ name, arguments: args });
  assert.equal(isError, true);
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Reads a resource that is JSON. */
async function read(uri: string): Promise<Record<string, unknown>> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  assert(content !== undefined && "text" in content);
  return Fields.parse(JSON.parse(content.text));
}

async function drive(): Promise<void> {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  console.log("tools:    ", names.join(", "));
  assert.deepEqual(names.toSorted(), [
    "changed",
    "note_add",
    "note_edit",
    "note_remove",
    "note_search",
    "read_resource",
    "wait_for_change",
  ]);

  const uri = "surface://notebook/notes/groceries";
  await call("note_add", { id: "groceries", text: "# Groceries\nmilk\n" });
  assert.equal(await readFile(join(dir, "groceries.md"), "utf8"), "# Groceries\nmilk\n");
  const { resources } = await client.listResources();
  console.log("resources:", resources.map((resource) => resource.uri).join(", "));
  assert(resources.some((resource) => resource.uri === uri));
  const taken = await refusal("note_add", { id: "groceries", text: "bread" });
  console.log("again:    ", taken);
  assert.match(taken, /^NOTE_EXISTS: /);

  // Somebody saves the file from an editor. A host that has subscribed is told, and so is an agent that waits.
  await client.subscribeResource({ uri });
  const { cursor } = await call("changed", { timeout_ms: 0 });
  await writeFile(join(dir, "groceries.md~"), "# Groceries\nmilk\nbread\n");
  await rename(join(dir, "groceries.md~"), join(dir, "groceries.md"));
  const heard = await call("changed", { since: cursor, timeout_ms: 10_000 });
  console.log("by hand:  ", JSON.stringify(heard["occurrence"]));
  assert.deepEqual(heard["occurrence"], { id: "groceries", change: "edited" });
  assert.equal(await updated, uri);
  assert.equal((await read(uri))["text"], "# Groceries\nmilk\nbread\n");

  const found = await call("note_search", { words: "BREAD milk" });
  console.log("search:   ", JSON.stringify(found));
  assert.deepEqual(found, { found: [{ id: "groceries", title: "Groceries", line: "milk" }], more: 0 });

  const refused = await refusal("note_edit", { id: "../groceries", text: "gone" });
  console.log("outside:  ", refused.replace("\n", " "));
  assert.match(refused, /^VALIDATION_ERROR: /);
  await assert.rejects(read("surface://notebook/notes/..%2F..%2Fetc%2Fpasswd"));

  await call("note_edit", { id: "groceries", text: "# Groceries\nnothing\n" });
  assert.equal((await read(uri))["text"], "# Groceries\nnothing\n");
  await call("note_remove", { id: "groceries" });
  assert.deepEqual(await readdir(dir), []);
  await assert.rejects(read(uri), (error) => {
    console.log("removed:  ", String(error));
    return /There is nothing under this URI/.test(String(error));
  });
}

try {
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ["--import", import.meta.resolve("tsx"), server, dir],
    }),
  );
  await drive();
} finally {
  await client.close();
  await rm(dir, { recursive: true, force: true });
}
