import { cellSource, type ViewRules, type WritableSource } from "../../../src/index.ts";
import { allTools, createDaemon, housePacket, readingTools, type Daemon } from "./daemon-app.ts";
import { serveForTest, type Served } from "./serve.ts";

/** The daemon over HTTP, and its rules. */
export interface ServedDaemon extends Daemon, Served {
  readonly rules: WritableSource<ViewRules>;
}

/** What is listed by the default view. */
export const everything: readonly string[] = [...allTools, "replay"];

/** What is listed where nothing may be changed. */
export const withoutWrites: readonly string[] = [...readingTools, "replay"];

/** Serves it as long as the test runs. */
export async function serveDaemon(first: ViewRules = housePacket): Promise<ServedDaemon> {
  const rules = cellSource<ViewRules>(first);
  const daemon = createDaemon(rules);
  return { ...daemon, ...(await serveForTest(daemon.app)), rules };
}

/** How a handshake is answered, to the letter: the status, the session that it opened, and the message. */
export async function denialOf(url: string): Promise<readonly unknown[]> {
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  return [answer.status, answer.headers.get("mcp-session-id"), await answer.json()];
}
