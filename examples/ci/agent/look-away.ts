import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";

import { AgentBoard, AgentLog } from "../agent-schemas.ts";
import { diagnose } from "./diagnose.ts";
import { createMcpSession } from "./mcp-session.ts";
import type { Printer } from "./printer.ts";
import { openToolbox } from "./toolbox.ts";

const POLL_MS = 50;
const MOST_READS = 40;

/** Reads the log of a node that was running, while the coordinator is away, and prints where the answer is from. */
export async function lookAway(client: Client, printer: Printer): Promise<void> {
  const session = createMcpSession(client);
  try {
    const { nodesUri, logUri } = await openToolbox(session);
    const { nodes } = await session.read(nodesUri, AgentBoard);
    const { id = "" } = nodes.find(({ status }) => status === "running") ?? {};
    for (let reads = 1; reads <= MOST_READS; reads += 1) {
      const { source, text } = await session.read(logUri(id), AgentLog);
      if (source === "file") {
        const [line = "(nothing yet)"] = diagnose(text).excerpt.slice(-1);
        const name = `${printer.paint("name", "read")} ${logUri(id)}`;
        printer.step(`${name}, the coordinator being away: from the run's file`, [
          `  ${printer.paint("dim", "|")} ${line}`,
        ]);
        return;
      }
      await delay(POLL_MS);
    }
  } catch {
    // The one that comes back does not wait for this.
  }
}
