import type { Refused, WorkEnd } from "../observe/observation.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { HistoryPage, HistoryRow } from "./messages.ts";
import { toName, toNameIf, toShownName, type BoundValue } from "./texts.ts";

/** The largest number of rows that a history keeps. */
export const maxHistory = 100_000;

/** Rows in a snapshot. */
export const newestRows = 100;

const defaultPage = 100;
const maxPage = 500;

/** Characters of JSON of all arguments and results that are kept. */
const maxValuesLength = 2 ** 25;

/** Filters of a history. */
export interface HistoryFilter {
  /** Only rows with a smaller number. */
  readonly before?: number | undefined;
  /** A part of the id or wire name of the operation. Case does not matter. */
  readonly tool?: string | undefined;
  /** A part of the id of the caller. Case does not matter. */
  readonly caller?: string | undefined;
  readonly outcome?: string | undefined;
  /** @default 100, and at most 500 */
  readonly limit?: number | undefined;
}

/** Arguments and result of one row. */
export interface RowValues {
  readonly arguments?: BoundValue | undefined;
  readonly result?: BoundValue | undefined;
}

function lengthOf({ arguments: given, result }: RowValues): number {
  return (given?.length ?? 0) + (result?.length ?? 0);
}

/** A record that becomes a row when a page looks: most rows are never read. */
type Kept = WorkEnd | Refused;

/** The id of the call that made a nested call: ids of nested calls are those of their parents and a number. */
export function parentOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

function toRow(seq: number, kept: Kept): HistoryRow {
  const { at, transport, caller, client, view } = kept;
  const shared = {
    ...{ seq, at, transport },
    caller: caller && toName(caller.id),
    client: client && toName(`${client.name} ${client.version}`),
    view: toNameIf(view),
  };
  if (kept.type === "refused") {
    const { stage, rpcCode } = kept;
    return toDefined({ ...shared, method: "unknown", outcome: "refused" as const, stage, rpcCode });
  }
  const { operation, outcome, refusedAt, code, rpcCode, correlationId, ms, bytesIn, bytesOut } = kept;
  const isNested = kept.type === "call-end";
  return toDefined({
    ...shared,
    method: isNested ? "tools/call" : toName(kept.method),
    name: toShownName(operation),
    kind: operation?.kind,
    call: isNested ? kept.id : kept.callId,
    parent: isNested ? parentOf(kept.id) : undefined,
    ...{ outcome, stage: refusedAt, code: toNameIf(code), rpcCode, correlationId },
    ...{ ms: Number(ms.toFixed(3)), bytesIn, bytesOut },
  });
}

function toMatch({ tool, caller, outcome }: HistoryFilter): (kept: Kept) => boolean {
  const [named, by] = [tool?.toLowerCase(), caller?.toLowerCase()];
  const has = (text: string | undefined, part: string | undefined): boolean =>
    part === undefined || part === "" || text?.toLowerCase().includes(part) === true;
  return (kept) => {
    const ended = kept.type === "refused" ? "refused" : kept.outcome;
    if (outcome !== undefined && outcome !== "" && outcome !== ended) return false;
    const { id, name } = (kept.type === "refused" ? undefined : kept.operation) ?? {};
    return (has(id, named) || has(name, named)) && has(kept.caller?.id, by);
  };
}

/** The newest ended requests, calls and refusals, in a ring. */
export class History {
  readonly #ring: (Kept | undefined)[];
  readonly #values = new Map<number, RowValues>();
  #valuesLength = 0;
  #last = 0;

  /** @param size - the number of rows. */
  constructor(size: number) {
    this.#ring = Array.from({ length: size });
  }

  /** The number of the newest row; 0 without any. */
  get last(): number {
    return this.#last;
  }

  /** The number of the oldest row that is kept; 0 without any. */
  get oldest(): number {
    return Math.min(this.#last, Math.max(1, this.#last - this.#ring.length + 1));
  }

  add(kept: Kept, values?: RowValues): void {
    this.#last += 1;
    this.#ring[this.#last % this.#ring.length] = kept;
    if (values !== undefined) this.#keep(values);
  }

  /** Returns rows after a number, oldest first: the newest ones, if there are more than `max`. */
  after(seq: number, max: number): readonly HistoryRow[] {
    const rows: HistoryRow[] = [];
    for (let at = Math.max(seq + 1, this.oldest, this.#last - max + 1); at <= this.#last; at += 1) this.#push(rows, at);
    return rows;
  }

  /** Returns rows that match the filters, newest first. */
  page(filter: HistoryFilter): HistoryPage {
    const limit = Math.min(Math.max(1, Math.floor(filter.limit ?? defaultPage)), maxPage);
    const matches = toMatch(filter);
    const rows: HistoryRow[] = [];
    const oldest = Math.max(1, this.oldest);
    let at = Math.min(this.#last, Math.ceil(filter.before ?? Number.POSITIVE_INFINITY) - 1);
    for (; at >= oldest && rows.length < limit; at -= 1) {
      const kept = this.#ring[at % this.#ring.length];
      if (kept !== undefined && matches(kept)) this.#push(rows, at);
    }
    return at >= oldest ? { rows, before: at + 1 } : { rows };
  }

  #push(rows: HistoryRow[], seq: number): void {
    const kept = this.#ring[seq % this.#ring.length];
    if (kept === undefined) return;
    const { arguments: given, result } = this.#values.get(seq) ?? {};
    rows.push({
      ...toRow(seq, kept),
      ...(given === undefined ? {} : { arguments: given.value }),
      ...(result === undefined ? {} : { result: result.value }),
    });
  }

  #keep(values: RowValues): void {
    this.#values.set(this.#last, values);
    this.#valuesLength += lengthOf(values);
    for (const [seq, kept] of this.#values) {
      if (this.#valuesLength <= maxValuesLength && seq >= this.oldest) return;
      this.#values.delete(seq);
      this.#valuesLength -= lengthOf(kept);
    }
  }
}
