import type { Client } from "@modelcontextprotocol/client";

import { pipeline } from "../pipeline-surface.ts";
import type { Touchable } from "./mcp-session.ts";
import type { Printer } from "./printer.ts";
import type { Toolbox } from "./toolbox.ts";

/** Characters below which a clipped description says nothing any more, and above which nobody reads it to its end. */
const LEAST_WORDS = 30;
const MOST_WORDS = 100;

/** Prints what the server lists, and knocks at what the pipeline can do besides: it is answered like any other name. */
export async function printTouchables(client: Client, toolbox: Toolbox, printer: Printer): Promise<void> {
  const { paint } = printer;
  const server = client.getServerVersion();
  const width = Math.max(...toolbox.all.map(({ name }) => name.length));
  printer.step(`${server?.name} ${server?.version} lists what an agent may touch:`, [
    "",
    ...toolbox.all.map((one) => toRow(one, width, printer)),
    "",
  ]);
  const listed = new Set(toolbox.all.map(({ name }) => name));
  for (const [key, { kind }] of Object.entries(pipeline.members)) {
    const tool = key.replaceAll(".", "_");
    if (kind !== "procedure" || listed.has(tool)) continue;
    const said = await client.callTool({ name: tool, arguments: {} }).then(
      () => "it was answered",
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    printer.step(`${key} is for the coordinator's owner, and not listed. Calling ${tool} all the same:`, [
      paint("dim", `  ${said}`),
    ]);
  }
}

function toRow({ kind, name, description, mutates }: Touchable, width: number, printer: Printer): string {
  const { paint, room } = printer;
  const effect = mutates ? "changes" : "reads";
  const left = `${kind.padEnd(8)}  ${paint("strong", name.padEnd(width))}  ${paint(mutates ? "warn" : "good", effect.padEnd(7))}`;
  const spent = 8 + 2 + width + 2 + 7 + 2;
  if (room - spent < LEAST_WORDS) return left;
  const most = Math.min(room - spent, MOST_WORDS);
  const line = description.replace(/\s+/g, " ");
  const clipped = line.length > most ? `${line.slice(0, most - 1)}…` : line;
  return `${left}  ${paint("dim", clipped)}`;
}
