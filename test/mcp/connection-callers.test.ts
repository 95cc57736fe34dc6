import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { defineSurface, mcp, mcpTool, procedure, readOnly, stdio, type ViewRule } from "../../src/index.ts";

const surface = defineSurface("ci", { open: readOnly(mcpTool(procedure({}))) });

const rules: readonly ViewRule[] = [
  { when: { client: { name: "low" } }, verdict: { kind: "tool_surface", disallow: ["open"] } },
  { verdict: { kind: "tool_surface" } },
];

function toLine(id: number, client: string | undefined): string {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    ...(client === undefined ? {} : { "io.modelcontextprotocol/clientInfo": { name: client, version: "1" } }),
  };
  const params = { name: "open", arguments: {}, _meta: meta };
  return `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`;
}

/** Whether each of the requests of these clients, written at once, was answered with a result. */
async function served(clients: readonly (string | undefined)[]): Promise<Record<string, boolean>> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const app = mcp(surface, { onFault: () => {} }).implement({ open: () => undefined });
  const serving = await app.views(rules).serve(stdio({ input, output, exit: false }));
  input.write(clients.map((client, index) => toLine(index, client)).join(""));
  const answers: Record<string, boolean> = {};
  for await (const line of createInterface({ input: output })) {
    const { id, result }: { readonly id: number; readonly result?: unknown } = JSON.parse(line);
    answers[`${id} ${clients[id]}`] = result !== undefined;
    if (Object.keys(answers).length === clients.length) break;
  }
  await serving.close();
  return answers;
}

it("Concurrent requests of one connection are served as their own callers'", async () => {
  const expected = { "0 low": false, "1 high": true, "2 low": false };
  expect(await served(["low", "high", "low"])).toEqual(expected);
});

it("A request that names no client is not served as the client of an earlier request", async () => {
  const expected = { "0 undefined": true, "1 low": false, "2 undefined": true };
  expect(await served([undefined, "low", undefined])).toEqual(expected);
});
