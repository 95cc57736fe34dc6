import type { z } from "zod";

import type { AgentBoard } from "../agent-schemas.ts";
import type { Palette, Tone } from "./palette.ts";

/** Where the run stands, as the agent reads it. */
export type BoardView = z.output<typeof AgentBoard>;
/** All its nodes. */
export type NodesView = BoardView["nodes"];
/** One of them. */
export type NodeView = NodesView[number];

const TONES: Readonly<Record<NodeView["status"], Tone>> = {
  idle: "dim",
  waiting: "dim",
  running: "busy",
  passed: "good",
  failed: "bad",
  skipped: "warn",
  cancelled: "warn",
  interrupted: "warn",
};

/** The longest of them. */
const STATUS = "interrupted".length;

/** Whether a node is still under way. */
export function isActive({ status }: NodeView): boolean {
  return status === "waiting" || status === "running" || status === "interrupted";
}

/** One line about a run that goes on. */
export function toProgressLine(nodes: NodesView): string {
  const idsOf = (status: NodeView["status"]): readonly string[] =>
    nodes.filter((node) => node.status === status).map((node) => node.id);
  const running = idsOf("running").join(", ");
  return `${idsOf("passed").length} of ${nodes.length} passed, running: ${running === "" ? "nothing" : running}`;
}

/** A table with a line a node. */
export function toNodeTable(nodes: NodesView, paint: Palette): readonly string[] {
  const ids = Math.max(4, ...nodes.map((node) => node.id.length));
  const head = `${"node".padEnd(ids)}  ${"status".padEnd(STATUS)}  ${"time".padStart(7)}  try  runs  needs`;
  const rows = nodes.map((node) => {
    const status = paint(TONES[node.status], node.status.padEnd(STATUS));
    const needs = paint("dim", node.needs.join(", "));
    return `${node.id.padEnd(ids)}  ${status}  ${toSeconds(node.durationMs).padStart(7)}  ${String(node.attempt).padStart(3)}  ${String(node.starts).padStart(4)}  ${needs}`;
  });
  return [paint("dim", head), ...rows];
}

/** `1.2 s`, or nothing where nothing was measured. */
export function toSeconds(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1000).toFixed(1)} s`;
}
