import type { Client } from "@modelcontextprotocol/client";

import { createVerdictReader } from "./agent/await-verdict.ts";
import type { VerdictQuery, VerdictView } from "./agent/await-verdict.ts";
import { callOnce } from "./agent/call-once.ts";
import { isActive, toNodeTable } from "./agent/describe-nodes.ts";
import type { NodesView } from "./agent/describe-nodes.ts";
import { createMcpSession } from "./agent/mcp-session.ts";
import { mendNode } from "./agent/mend-node.ts";
import type { Workbench } from "./agent/mend-node.ts";
import type { Printer } from "./agent/printer.ts";
import { printTouchables } from "./agent/print-touchables.ts";
import { openToolbox } from "./agent/toolbox.ts";
import { Nodes, RunState, Started } from "./pipeline-schemas.ts";

/** How the agent's work ended. */
export interface Outcome {
  readonly verdict: "green" | "red";
  /** Ids of the nodes that failed. */
  readonly failed: readonly string[];
  /** Ids of the nodes that did not pass because others failed. */
  readonly held: readonly string[];
}

/** Whom an agent tells what it does. */
export interface AgentSetting {
  readonly printer: Printer;
  /** Told whether it only waits for a verdict now, and nothing that it asked to change is under way. */
  readonly onIdle: (idle: boolean) => void;
}

/**
 * Drives a pipeline through a connected client until it is green, or until there is nothing left that the agent could
 * mend. It decides by what it reads: the verdicts, the states of the nodes, their logs.
 *
 * @throws Error when the server refuses a run, lacks what the agent needs, or is gone.
 */
export async function runAgent(client: Client, { printer, onIdle }: AgentSetting): Promise<Outcome> {
  const session = createMcpSession(client);
  const toolbox = await openToolbox(session);
  await printTouchables(client, toolbox, printer);
  const bench: Workbench = { session, toolbox, printer, tried: new Set(), changes: [] };
  const readVerdict = createVerdictReader(bench, await startRun(bench));
  const nextVerdict = (): Promise<VerdictView> => {
    onIdle(true);
    return readVerdict().finally(() => onIdle(false));
  };
  const everRed = await drive(bench, nextVerdict);
  return conclude(bench, everRed);
}

async function startRun({ session, toolbox, printer }: Workbench): Promise<VerdictQuery> {
  const name = `${printer.paint("name", "run")} {"strict":false}`;
  const before = await session.read(toolbox.currentUri, RunState);
  const started = await callOnce<VerdictQuery>({
    // Not strict: what does not depend on the red node goes on while the agent mends it.
    call: () => session.call({ name: "run", args: { strict: false } }, Started),
    onUnknown: (refusal) => printer.step(`${name}: ${printer.paint("warn", refusal)}`),
    effect: async () => {
      const { run } = await session.read(toolbox.currentUri, RunState);
      return run > before.run ? { run, since: undefined } : undefined;
    },
  });
  if (!started.ok) throw new Error(`start a run: ${started.refusal}`);
  printer.step(`${name}: run ${started.value.run} is live`);
  return started.value;
}

/** Answers verdicts until the run is over; returns the nodes that were ever red. */
async function drive(bench: Workbench, nextVerdict: () => Promise<VerdictView>): Promise<ReadonlySet<string>> {
  const everRed = new Set<string>();
  const examined = new Set<string>();
  for (;;) {
    const verdict = await nextVerdict();
    printVerdict(verdict, bench.printer);
    if (verdict.verdict === "green") return everRed;
    const nodes = await bench.session.read(bench.toolbox.nodesUri, Nodes);
    if (isOutdated(verdict, nodes)) bench.printer.details(["What was red then is being run again: the agent waits on"]);
    for (const node of nodes.filter(({ status }) => status === "failed")) {
      const attempt = `${node.id} ${node.attempt}`;
      everRed.add(node.id);
      if (examined.has(attempt)) continue;
      examined.add(attempt);
      await mendNode(bench, node);
    }
    // Read again, since a rerun may have ended or begun: the verdict is of the past, and only this says what goes on.
    if (isOver(await bench.session.read(bench.toolbox.nodesUri, Nodes), examined)) return everRed;
  }
}

/** A rerun may overtake the verdict that it answers. */
function isOutdated({ red }: VerdictView, nodes: NodesView): boolean {
  return red.length > 0 && nodes.every(({ id, status }) => !red.includes(id) || status !== "failed");
}

/** Nothing runs, and nothing is red that the agent has not looked at; a green verdict is still to be read then. */
function isOver(nodes: NodesView, examined: ReadonlySet<string>): boolean {
  if (nodes.some(isActive) || nodes.every(({ status }) => status === "passed")) return false;
  return nodes.every(({ id, status, attempt }) => status !== "failed" || examined.has(`${id} ${attempt}`));
}

function printVerdict(verdict: VerdictView, printer: Printer): void {
  const { paint } = printer;
  const green = verdict.verdict === "green";
  const word = green ? paint("good", "GREEN") : paint("bad", "RED");
  const red = green ? "" : `: ${verdict.red.join(", ")}`;
  const when = verdict.at === "settled" ? "settled" : "at the first red node";
  printer.step(`${paint("name", "settled")}: run ${verdict.run} is ${word} ${paint("dim", `(${when})`)}${red}`);
}

async function conclude(bench: Workbench, everRed: ReadonlySet<string>): Promise<Outcome> {
  const { session, toolbox, printer, changes } = bench;
  const nodes = await session.read(toolbox.nodesUri, Nodes);
  printer.step(`${printer.paint("name", "read")} ${toolbox.nodesUri}`, ["", ...toNodeTable(nodes, printer.paint)]);
  const failed = nodes.filter(({ status }) => status === "failed").map(({ id }) => id);
  const held = nodes.filter(({ status }) => status !== "failed" && status !== "passed").map(({ id }) => id);
  const turned = nodes
    .filter(({ id, status }) => everRed.has(id) && status === "passed")
    .map(({ id, attempt }) => `${id}: failed -> passed, on attempt ${attempt}`);
  const changed = [...changes, ...turned];
  if (changed.length > 0)
    printer.details(["", printer.paint("strong", "What changed"), ...changed.map((line) => `  ${line}`)]);
  return { verdict: failed.length + held.length === 0 ? "green" : "red", failed, held };
}
