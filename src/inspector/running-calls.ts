import type { CallTree, TrackedCall } from "../call/call-tree.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { JsonValue } from "../schema/json.ts";
import type { CallRow, Cut } from "./messages.ts";
import { cut, toName } from "./texts.ts";

const maxRoots = 200;

/** Rows of nested calls in all. */
const maxNested = 1000;

/** Ended nested calls that are shown under one call. */
const maxEnded = 20;

/** Returns the arguments of the request or nested call with a record of this id. */
export type FindArguments = (record: string) => JsonValue | undefined;

/** Makes the rows of one list. */
class Rows {
  readonly #find: FindArguments;
  #room = maxNested;

  constructor(find: FindArguments) {
    this.#find = find;
  }

  toRow(call: TrackedCall): CallRow {
    const { requestId, state, identity, surface, requestedAt, deadline } = call.toNode([]);
    const shown = this.#childrenOf(call);
    const more = call.childCount - shown.length;
    return toDefined({
      ...{ id: requestId, tool: toName(call.name), state, caller: toName(identity), view: toName(surface) },
      ...{ since: requestedAt, deadline, progress: toProgress(call) },
      arguments: this.#argumentsOf(call),
      calls: shown.map((child) => this.toRow(child)),
      more: more > 0 ? more : undefined,
    });
  }

  #argumentsOf({ running }: TrackedCall): JsonValue | undefined {
    const record = running?.observed?.id;
    return record === undefined ? undefined : this.#find(record);
  }

  /** Returns the nested calls that run, and the last ones that have ended. */
  #childrenOf({ children = [] }: TrackedCall): readonly TrackedCall[] {
    const ended = children.length - maxEnded;
    const shown = children.filter(({ running }, index) => running !== undefined || index >= ended).slice(0, this.#room);
    this.#room -= shown.length;
    return shown;
  }
}

function toProgress({ progress: report }: TrackedCall): CallRow["progress"] {
  if (report === undefined) return undefined;
  const { progress: done, total, message } = report;
  return toDefined({ done, total, message });
}

/** Returns the running calls of hosts with their nested calls, oldest first. */
export function listRunning(calls: CallTree, find: FindArguments): Cut<CallRow> {
  const rows = new Rows(find);
  const { rows: roots, more } = cut(calls.running(), maxRoots);
  return { rows: roots.map((root) => rows.toRow(root)), more };
}
