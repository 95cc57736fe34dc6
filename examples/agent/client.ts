/** Has release notes written as an MCP host would: it lends its model, shows what the agent does, and asks its user. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const server = fileURLToPath(new URL("./server.ts", import.meta.url));
const directory = await mkdtemp(join(tmpdir(), "release-notes-"));
const client = new Client(
  { name: "writer", version: "1.0.0" },
  { capabilities: { sampling: {}, elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
let answer: "accept" | "decline" = "decline";

// In the place of a model: it gives the lines back, as a list.
client.setRequestHandler("sampling/createMessage", ({ params }) => {
  const [message] = params.messages;
  const content = [message?.content ?? []].flat();
  const given = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const text = given
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `- ${line}`)
    .join("\n");
  return { model: "echo-1", role: "assistant", content: { type: "text", text } };
});
// In the place of a person.
client.setRequestHandler("elicitation/create", ({ params }) => {
  console.log(`  asked: ${params.message.split("\n")[0] ?? ""} -> ${answer}`);
  return answer === "accept" ? { action: answer, content: { title: "Faster, and darker" } } : { action: answer };
});

/** Has the notes written; the person says yes or no. */
async function write(said: typeof answer): Promise<unknown> {
  answer = said;
  const result = await client.callTool(
    { name: "write_release_notes", arguments: { version: "1.4.0" } },
    { onprogress: ({ message }) => console.log(`  ${message ?? ""}`) },
  );
  console.log(`${said}: ${JSON.stringify(result.structuredContent)}`);
  return result.structuredContent;
}

try {
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ["--import", import.meta.resolve("tsx"), server, directory],
    }),
  );
  assert.deepEqual(await write("decline"), { written: false });
  const path = join(directory, "1.4.0.md");
  assert.deepEqual(await write("accept"), { written: true, path });
  const notes = await readFile(path, "utf8");
  console.log(notes);
  assert.match(notes, /^# Faster, and darker\n\n- The server starts in half the time/);
} finally {
  await client.close();
  await rm(directory, { recursive: true, force: true });
}
