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
import { probeTraversal } from "./agent/probe-traversal.ts";
import { AgentBoard, Started } from "./agent-schemas.ts";

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
  /** Called, and waited for, once a run is live. */
  readonly onLive: () => Promise<void>;
  /** Whether a run is to go on where a node is red. */
  readonly keepGoing: boolean;
}

/**
 * Drives a pipeline through a connected client until it is green, or until there is nothing left that the agent could
 * mend. It decides by what it reads: the verdicts, the states of the nodes, their logs.
 *
 * @throws Error when the server refuses a run, lacks what the agent needs, or is gone.
 */
export async function runAgent(client: Client, setting: AgentSetting): Promise<Outcome> {
  const { printer, onIdle } = setting;
  const session = createMcpSession(client);
  const toolbox = await openToolbox(session);
  await printTouchables(client, toolbox, printer);
  const bench: Workbench = { session, toolbox, printer, tried: new Set(), changes: [] };
  const query = await startRun(bench, !setting.keepGoing);
  await setting.onLive();
  const readVerdict = createVerdictReader(bench, query);
  const nextVerdict = (): Promise<VerdictView> => {
    onIdle(true);
    return readVerdict().finally(() => onIdle(false));
  };
  const everRed = await drive(bench, nextVerdict);
  return conclude(bench, everRed);
}

async function startRun({ session, toolbox, printer }: Workbench, strict: boolean): Promise<VerdictQuery> {
  const name = `${printer.paint("name", "run")} {"strict":${strict}}`;
  const before = await readBefore({ session, toolbox, printer });
  const started = await callOnce<VerdictQuery>({
    call: () => session.call({ name: "run", args: { strict } }, Started),
    onUnknown: (refusal) => printer.step(`${name}: ${printer.paint("warn", refusal)}`),
    effect: async () => {
      const { run, active } = await session.read(toolbox.nodesUri, AgentBoard);
      const isNew = before === undefined ? active : run > before;
      return isNew ? { run, since: undefined } : undefined;
    },
  });
  if (!started.ok) throw new Error(`start a run: ${started.refusal}`);
  printer.step(`${name}: run ${started.value.run} is live`);
  return started.value;
}

/** The number of the last run; nothing where nobody is up yet to say it: no answer is made up for that. */
async function readBefore({ session, toolbox, printer }: Pick<Workbench, "session" | "toolbox" | "printer">) {
  const { nodesUri } = toolbox;
  try {
    return (await session.read(nodesUri, AgentBoard)).run;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    printer.step(`${printer.paint("name", "read")} ${nodesUri}:`, [printer.paint("dim", `  ${said}`)]);
    return undefined;
  }
}

/** Answers verdicts until the run is over; returns the nodes that were ever red. */
async function drive(bench: Workbench, nextVerdict: () => Promise<VerdictView>): Promise<ReadonlySet<string>> {
  const everRed = new Set<string>();
  const examined = new Set<string>();
  for (;;) {
    const verdict = await nextVerdict();
    printVerdict(verdict, bench.printer);
    if (verdict.verdict === "green") return everRed;
    const { nodes } = await bench.session.read(bench.toolbox.nodesUri, AgentBoard);
    if (isOutdated(verdict, nodes)) bench.printer.details(["What was red then is being run again: the agent waits on"]);
    for (const node of nodes.filter(({ status }) => status === "failed")) {
      const attempt = `${node.id} ${node.attempt}`;
      if (everRed.size === 0) await probeTraversal(bench);
      everRed.add(node.id);
      if (examined.has(attempt)) continue;
      examined.add(attempt);
      await mendNode(bench, node);
    }
    // Read again, since a rerun may have ended or begun: the verdict is of the past, and only this says what goes on.
    if (isOver((await bench.session.read(bench.toolbox.nodesUri, AgentBoard)).nodes, examined)) return everRed;
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
  const { nodes } = await session.read(toolbox.nodesUri, AgentBoard);
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
