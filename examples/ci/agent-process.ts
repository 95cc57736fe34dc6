/**
 * The agent, in a process of its own: `agent-process.ts -- FACE-ARGUMENTS`, started with a channel to whoever prints what
 * it says. It starts the face as a host does, by a command, over stdio; or, with `--url URL`, it asks one that is served over
 * HTTP. It knows nothing of the pipeline but what that shows.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { createMcpSession } from "./agent/mcp-session.ts";
import type { Phase } from "./agent/phases.ts";
import type { Printer } from "./agent/printer.ts";
import { createRemotePrinter } from "./agent/remote-printer.ts";
import { StoryMessage } from "./agent/story.ts";
import type { AgentMessage } from "./agent/story.ts";
import { openToolbox } from "./agent/toolbox.ts";
import { startWitness } from "./agent/witness.ts";
import type { Witness } from "./agent/witness.ts";
import { lookAway } from "./agent/look-away.ts";
import { AgentBoard } from "./agent-schemas.ts";
import { runAgent } from "./agent.ts";

function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      room: { type: "string" },
      colours: { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      url: { type: "string" },
    },
    allowPositionals: true,
  });
  const { colours, "keep-going": keepGoing, url } = values;
  const room = values.room === undefined ? Number.POSITIVE_INFINITY : Number(values.room);
  return { face: positionals, url, room, colours, keepGoing };
}

/** The same environment for the face as for the agent. */
function createTransport(faceArgs: readonly string[]): StdioClientTransport {
  const face = fileURLToPath(new URL("./mcp.ts", import.meta.url));
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return new StdioClientTransport({
    command: process.execPath,
    args: ["--import", import.meta.resolve("tsx"), face, ...faceArgs],
    env,
    stderr: "pipe",
  });
}

/** Reads and listens beside the agent: what everybody may see, and one thing that nobody else looks at. */
async function observe(client: Client, phase: () => Phase): Promise<Witness> {
  const session = createMcpSession(client);
  const { nodesUri, logUri } = await openToolbox(session);
  const logs = (await session.read(nodesUri, AgentBoard)).nodes.map(({ id }) => logUri(id));
  return startWitness(client, {
    session,
    polled: [nodesUri, ...logs.slice(0, 2)],
    watched: [nodesUri, ...logs],
    phase,
  });
}

/** Starts the face, which is this agent's alone. Returns its pid. */
async function startFace(client: Client, face: readonly string[], printer: Printer): Promise<number> {
  const transport = createTransport(face);
  const log = transport.stderr;
  if (log instanceof Readable) {
    createInterface({ input: log }).on("line", (line) => printer.step(printer.paint("dim", `the face's log: ${line}`)));
  }
  await client.connect(transport);
  return transport.pid ?? 0;
}

async function work(client: Client, tell: (message: AgentMessage) => void): Promise<void> {
  const { face, url, room, colours, keepGoing } = readArguments();
  let phase: Phase = "before";
  const printer = createRemotePrinter({ colours, room, tell });
  if (url === undefined) tell({ kind: "face", pid: await startFace(client, face, printer) });
  else await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  process.on("message", (message) => {
    phase = StoryMessage.parse(message).phase;
    if (phase === "during") void lookAway(client, printer).finally(() => tell({ kind: "looked" }));
  });
  let witness: Witness | undefined;
  const outcome = await runAgent(client, {
    printer,
    keepGoing,
    onIdle: (idle) => tell({ kind: "idle", idle }),
    onLive: async () => void (witness = await observe(client, () => phase)),
  });
  if (witness === undefined) throw new Error("the agent has ended before it was observed");
  tell({ kind: "ended", outcome, testimony: await witness.stop() });
}

const client = new Client(
  { name: "ci-agent", version: "1.0.0" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
// A parent that is gone, though nothing has said so yet, has no use for it: without a callback that would end this process.
const tell = (message: AgentMessage): void => void process.send?.(message, undefined, undefined, () => {});
// Its face ends with its input, so that nothing is left when this process is told to end, or its parent is gone.
process.once("disconnect", () => void client.close());
try {
  await work(client, tell);
} catch (error) {
  if (process.connected) tell({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
}
// The parent reads the coordinator's journal, which goes with the face of this agent: the parent says when.
if (process.connected) await once(process, "disconnect");
await client.close();
// What still reads then would go on failing.
process.exit();
