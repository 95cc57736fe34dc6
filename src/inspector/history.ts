import type { Refused, WorkEnd } from "../observe/observation.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { ReadWork, WorkOutcome } from "../observe/work-records.ts";
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

/** The id of the call that made a nested call: ids of nested calls are those of their parents and a number. */
export function parentOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(".")));
}

const isOk: WorkOutcome = Object.freeze({ outcome: "ok" });

/** The fields that records and requests without one share. */
type From = Partial<Pick<ReadWork, "caller" | "client" | "view" | "method" | "operation" | "bytesIn">> &
  Pick<ReadWork, "transport">;

/** Ended work, which becomes a row of the page when one looks: most are never read. Overwritten in place: objects of each call that live on cost more. */
class Kept {
  at = Number.NaN;
  ms = Number.NaN;
  transport: ReadWork["transport"] = "test";
  caller: ReadWork["caller"] | undefined;
  client: ReadWork["client"];
  view: string | undefined;
  method: string | undefined;
  operation: ReadWork["operation"];
  /** The number of a call of hosts, or the id of any. */
  call: number | string | undefined;
  isNested = false;
  ended = isOk;
  bytesIn: number | undefined;
  bytesOut: number | undefined;

  setFrom({ transport, caller, client, view, method, operation, bytesIn }: From): void {
    this.transport = transport;
    this.caller = caller;
    this.client = client;
    this.view = view;
    this.method = method;
    this.operation = operation;
    this.bytesIn = bytesIn;
  }

  setEnd(ended: WorkOutcome, ms: number): void {
    this.ended = ended.outcome === "ok" ? isOk : ended;
    this.ms = ms;
    this.bytesOut = ended.bytesOut;
  }
}

function toRow(seq: number, kept: Kept, prefix: string): HistoryRow {
  const { at, transport, caller, client, view, method, operation, call, isNested, ended, ms, bytesIn, bytesOut } = kept;
  const { outcome, refusedAt, code, rpcCode, correlationId } = ended;
  const id = typeof call === "number" ? `${prefix}-${call}` : call;
  return toDefined({
    ...{ seq, at, transport },
    caller: caller && toName(caller.id),
    client: client && toName(`${client.name} ${client.version}`),
    view: toNameIf(view),
    method: isNested ? "tools/call" : toName(method ?? "unknown"),
    name: toShownName(operation),
    kind: operation?.kind,
    call: id,
    parent: isNested ? parentOf(id ?? "") : undefined,
    ...{ outcome, stage: refusedAt, code: toNameIf(code), rpcCode, correlationId },
    ...{ ms: Number.isNaN(ms) ? undefined : Number(ms.toFixed(3)), bytesIn, bytesOut },
  });
}

function toMatch({ tool, caller, outcome }: HistoryFilter): (kept: Kept) => boolean {
  const [named, by] = [tool?.toLowerCase(), caller?.toLowerCase()];
  const has = (text: string | undefined, part: string | undefined): boolean =>
    part === undefined || part === "" || text?.toLowerCase().includes(part) === true;
  return ({ ended, operation, caller: from }) => {
    if (outcome !== undefined && outcome !== "" && outcome !== ended.outcome) return false;
    return (has(operation?.id, named) || has(operation?.name, named)) && has(from?.id, by);
  };
}

/** The newest ended requests, calls and refusals, in a ring. */
export class History {
  readonly #ring: (Kept | undefined)[];
  readonly #prefix: string;
  readonly #values = new Map<number, RowValues>();
  #valuesLength = 0;
  #last = 0;

  /**
   * @param size - the number of rows.
   * @param prefix - begins the ids of calls.
   */
  constructor(size: number, prefix: string) {
    this.#prefix = prefix;
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

  /** Adds a record. */
  add(record: WorkEnd | Refused, values?: RowValues): void {
    const kept = this.#next();
    kept.at = record.at;
    kept.isNested = record.type === "call-end";
    if (record.type === "refused") {
      const { stage: refusedAt, rpcCode } = record;
      kept.setFrom(record);
      kept.setEnd(toDefined({ outcome: "refused" as const, refusedAt, rpcCode }), Number.NaN);
      kept.call = undefined;
      return;
    }
    kept.setFrom(record);
    kept.setEnd(record, record.ms);
    kept.call = record.type === "call-end" ? record.id : record.callId;
    if (values !== undefined) this.#keep(values);
  }

  /** Adds a request or nested call that has no record. */
  addWork(work: ReadWork, ended: WorkOutcome, ms: number): void {
    const kept = this.#next();
    kept.at = Date.now();
    kept.setFrom(work);
    kept.setEnd(ended, ms);
    kept.isNested = work.method === undefined;
    kept.call = kept.isNested ? work.id : work.callNumber;
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

  #next(): Kept {
    this.#last += 1;
    return (this.#ring[this.#last % this.#ring.length] ??= new Kept());
  }

  #push(rows: HistoryRow[], seq: number): void {
    const kept = this.#ring[seq % this.#ring.length];
    if (kept === undefined) return;
    const { arguments: given, result } = this.#values.get(seq) ?? {};
    rows.push({
      ...toRow(seq, kept, this.#prefix),
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
