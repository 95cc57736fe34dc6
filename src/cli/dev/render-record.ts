import type { Observation } from "../../observe/observation.ts";
import { escapeInvisible } from "../../schema/visible-text.ts";
import { isReplayedId } from "./session-state.ts";

const colours: Readonly<Record<string, number>> = { ok: 32, failed: 31, refused: 33 };

function timeOf(at: number): string {
  return new Date(at).toTimeString().slice(0, "00:00:00".length);
}

/**
 * Returns one line for the end of a request, or for a request that was refused before it started; `undefined` for other records. It
 * has neither arguments nor results.
 */
export function renderRecord(record: Observation, isTerminal: boolean): string | undefined {
  const paint = (outcome: string): string =>
    isTerminal ? `\u001B[${colours[outcome] ?? 0}m${outcome}\u001B[0m` : outcome;
  if (record.type === "refused") {
    return `${timeOf(record.at)}  ${record.transport}  ${paint("refused")}  ${record.stage}\n`;
  }
  if (record.type !== "request-end" || isReplayedId(record.rpcId)) return undefined;
  const { method, operation, outcome, code, refusedAt, ms } = record;
  const subject = operation?.name ?? operation?.id;
  const what = escapeInvisible(subject === undefined ? method : `${method} ${subject}`);
  const why = code ?? refusedAt;
  const end = why === undefined ? paint(outcome) : `${paint(outcome)} ${escapeInvisible(why)}`;
  return `${timeOf(record.at)}  ${what}  ${end}  ${ms.toFixed(1)} ms\n`;
}
