import { AgentBoard, AgentLog } from "../agent-schemas.ts";
import { NodeDetail, Repaired, Rerun } from "../pipeline-schemas.ts";
import type { CompilerError } from "../engine/compiler-errors.ts";
import { callOnce } from "./call-once.ts";
import type { NodeView } from "./describe-nodes.ts";
import { toSeconds } from "./describe-nodes.ts";
import { diagnose } from "./diagnose.ts";
import type { McpSession } from "./mcp-session.ts";
import type { Printer } from "./printer.ts";
import type { Toolbox } from "./toolbox.ts";

/** What mending works with. */
export interface Workbench {
  readonly session: McpSession;
  readonly toolbox: Toolbox;
  readonly printer: Printer;
  /** Errors that were acted on before, so that none is acted on twice. Written here. */
  readonly tried: Set<string>;
  /** What was changed, in words. Written here. */
  readonly changes: string[];
}

/** A node that goes on failing in new ways is given up after this many attempts. */
const MOST_ATTEMPTS = 5;

/**
 * Reads the log of a red node, mends what it names and reruns the node. `false` when there was nothing to mend: then
 * nothing was rerun.
 */
export async function mendNode(bench: Workbench, node: NodeView): Promise<boolean> {
  const { printer, tried } = bench;
  const { mendable } = await look(bench, node);
  const fresh = mendable.filter((error) => !tried.has(keyOf(node, error)));
  if (fresh.length === 0) {
    const again = mendable.length > 0 ? "It is the same error as before, and" : "It proposes no repair:";
    printer.details([printer.paint("warn", `${again} the agent leaves ${node.id} red`)]);
    return false;
  }
  if (node.attempt >= MOST_ATTEMPTS) {
    printer.details([printer.paint("warn", `After ${node.attempt} attempts the agent leaves ${node.id} red`)]);
    return false;
  }
  let mended = 0;
  for (const error of fresh) {
    tried.add(keyOf(node, error));
    if (await fix(bench, node, error)) mended += 1;
  }
  return mended > 0 && rerun(bench, node);
}

function keyOf(node: NodeView, { file, line, column, code, message }: CompilerError): string {
  return JSON.stringify([node.id, file, line, column, code, message]);
}

async function look({ session, toolbox, printer }: Workbench, node: NodeView): Promise<ReturnType<typeof diagnose>> {
  const { paint } = printer;
  const shown = await session.call({ name: "node_show", args: { node: node.id } }, NodeDetail);
  const uri = toolbox.logUri(node.id);
  const log = await session.read(uri, AgentLog);
  const diagnosis = diagnose(log.text);
  const exit = node.exitCode === undefined ? "no exit code" : `exit code ${node.exitCode}`;
  const dependents = shown.ok ? shown.value.dependents.join(", ") : "";
  const needed = dependents === "" ? "" : `; needed by ${dependents}`;
  printer.step(`${paint("name", "node_show")} ${node.id}: ${exit} after ${toSeconds(node.durationMs)}${needed}`);
  printer.step(
    `${paint("name", "read")} ${uri}`,
    diagnosis.excerpt.map((line) => `  ${paint("dim", "|")} ${line}`),
  );
  return diagnosis;
}

async function fix(bench: Workbench, node: NodeView, error: CompilerError): Promise<boolean> {
  const { session, printer, changes } = bench;
  const { paint } = printer;
  const { suggestion, ...complaint } = error;
  const where = `${error.file}:${error.line}:${error.column}`;
  printer.details([`The compiler asks for "${suggestion}" at ${where}: worth a try`]);
  const answer = await session.call({ name: "fix", args: { node: node.id, ...complaint } }, Repaired);
  if (!answer.ok) {
    const isUnknown = answer.code === "OUTCOME_UNKNOWN";
    if (isUnknown) bench.tried.delete(keyOf(node, error));
    const came = isUnknown ? "the rerun will show it" : "refused";
    printer.step(`${paint("name", "fix")} ${where}: ${paint("warn", came)}`, [`  ${answer.refusal}`]);
    return isUnknown;
  }
  const { from, to, before, after, file, line } = answer.value;
  printer.step(`${paint("name", "fix")} ${file}:${line}: ${from} becomes ${to}`, [
    paint("bad", `  - ${before.trim()}`),
    paint("good", `  + ${after.trim()}`),
  ]);
  changes.push(`${file}:${line}: ${from} -> ${to}`);
  return true;
}

async function rerun({ session, toolbox, printer }: Workbench, node: NodeView): Promise<boolean> {
  const name = printer.paint("name", "node_rerun");
  const answer = await callOnce({
    call: () => session.call({ name: "node_rerun", args: { node: node.id } }, Rerun),
    onUnknown: (refusal) => printer.step(`${name} ${node.id}: ${printer.paint("warn", refusal)}`),
    effect: async () => {
      const { run, nodes } = await session.read(toolbox.nodesUri, AgentBoard);
      const isQueued = nodes.some(({ id, attempt }) => id === node.id && attempt > node.attempt);
      return isQueued ? { run, nodes: [node.id] } : undefined;
    },
  });
  if (!answer.ok) printer.step(`${name} ${node.id}: ${printer.paint("warn", "refused")}`, [`  ${answer.refusal}`]);
  else printer.step(`${name} ${node.id}: queued ${answer.value.nodes.join(", ")}`);
  return answer.ok;
}
