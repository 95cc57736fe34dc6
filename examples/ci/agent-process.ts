/**
 * The agent, in a process of its own: `agent-process.ts --state DIR`, started with a channel to whoever prints what it
 * says. It starts the face as a host does, by a command, over stdio; it knows nothing of the pipeline but what that shows.
 */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { createMcpSession } from "./agent/mcp-session.ts";
import type { Phase } from "./agent/phases.ts";
import { createRemotePrinter } from "./agent/remote-printer.ts";
import { StoryMessage } from "./agent/story.ts";
import type { AgentMessage } from "./agent/story.ts";
import { openToolbox } from "./agent/toolbox.ts";
import { startWitness } from "./agent/witness.ts";
import type { Witness } from "./agent/witness.ts";
import { runAgent } from "./agent.ts";
import { Nodes } from "./pipeline-schemas.ts";

function readArguments() {
  const { values } = parseArgs({
    options: { state: { type: "string", default: "" }, room: { type: "string" }, colours: { type: "boolean" } },
  });
  const room = values.room === undefined ? Number.POSITIVE_INFINITY : Number(values.room);
  return { state: values.state, room, colours: values.colours ?? false };
}

/** The same environment for the face as for the agent. */
function createTransport(state: string): StdioClientTransport {
  const face = fileURLToPath(new URL("./mcp.ts", import.meta.url));
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return new StdioClientTransport({
    command: process.execPath,
    args: ["--import", import.meta.resolve("tsx"), face, "--state", state],
    env,
    stderr: "pipe",
  });
}

/** Reads and listens beside the agent: what everybody may see, and one thing that nobody else looks at. */
async function observe(client: Client, phase: () => Phase): Promise<Witness> {
  const session = createMcpSession(client);
  const { nodesUri, currentUri, logUri } = await openToolbox(session);
  const logs = (await session.read(nodesUri, Nodes)).map(({ id }) => logUri(id));
  // The first two are watched as well, and so are answered without asking; the third is asked for each time.
  return startWitness(client, {
    session,
    polled: [nodesUri, ...logs.slice(0, 1), currentUri],
    watched: [nodesUri, ...logs],
    phase,
  });
}

async function work(client: Client, tell: (message: AgentMessage) => void): Promise<void> {
  const { state, room, colours } = readArguments();
  let phase: Phase = "before";
  process.on("message", (message) => void (phase = StoryMessage.parse(message).phase));
  const transport = createTransport(state);
  const printer = createRemotePrinter({ colours, room, tell });
  const log = transport.stderr;
  if (log instanceof Readable) {
    createInterface({ input: log }).on("line", (line) => printer.step(printer.paint("dim", `the face's log: ${line}`)));
  }
  await client.connect(transport);
  tell({ kind: "face", pid: transport.pid ?? 0 });
  const witness = await observe(client, () => phase);
  const outcome = await runAgent(client, { printer, onIdle: (idle) => tell({ kind: "idle", idle }) });
  tell({ kind: "ended", outcome, testimony: await witness.stop() });
}

const client = new Client(
  { name: "ci-agent", version: "1.0.0" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
const tell = (message: AgentMessage): void => void process.send?.(message);
// Its face ends with its input, so that nothing is left when this process is told to end, or its parent is gone.
process.once("disconnect", () => void client.close());
try {
  await work(client, tell);
} catch (error) {
  if (process.connected) tell({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
}
await client.close();
// What still reads then would go on failing; what was said has left with the channel's end.
if (process.connected) process.once("disconnect", () => process.exit()).disconnect();
else process.exit();
