import type {
  HistoryRow,
  PageExposure,
  PageSnapshot,
  PageState,
  PageUpdate,
  ShownApp,
} from "../../src/inspector/messages.ts";
import { addRows } from "./history-rows.ts";

/** The state of the connection. `refused` was never let in, `ended` was. */
export type ConnectionState = "connecting" | "live" | "reconnecting" | "ended" | "refused";

/** Milliseconds for which a row that was drawn at a new place takes no consent: the click was meant for the row that was there. */
const settleMs = 1000;

/** The place of an approval, and when it was first drawn there. */
interface Placed {
  readonly place: number;
  since?: number;
}

/** The state that the server sent, and the rows of the history that the page knows. */
export class PageData {
  connection: ConnectionState = "connecting";
  app: ShownApp | undefined;
  state: PageState | undefined;
  exposure: PageExposure | undefined;
  /** With `seq` ascending. Changed in place: a copy of all rows ten times a second costs too much. */
  readonly history: HistoryRow[] = [];
  /** The `seq` of the oldest row that the server keeps. */
  oldest = 0;
  readonly #monotonic: () => number;
  #places: ReadonlyMap<string, Placed> = new Map();
  #at = 0;
  #arrivedAt = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** The time by the clock of the server. The clock of the browser may differ, and may jump. */
  get now(): number {
    return this.#at === 0 ? 0 : this.#at + (this.#monotonic() - this.#arrivedAt);
  }

  /** Replaces everything. Older rows stay if they are of the same start of the server. */
  applySnapshot({ at, app, history, oldest, ...state }: PageSnapshot): void {
    if (this.app?.instance !== app.instance) {
      this.history.length = 0;
      this.exposure = undefined;
    }
    this.app = app;
    this.state = state;
    this.#place();
    this.oldest = oldest;
    addRows(this.history, history);
    this.#setClock(at);
  }

  /** Replaces the parts that changed. Does nothing before the first snapshot. */
  applyUpdate({ at, history, oldest, ...parts }: PageUpdate): void {
    if (this.state === undefined) return;
    this.state = { ...this.state, ...parts };
    this.#place();
    this.oldest = oldest ?? this.oldest;
    if (history !== undefined) addRows(this.history, history);
    this.#setClock(at);
  }

  /** Returns whether an approval has been seen at its place for long enough to be agreed to. To be called when it is drawn. */
  isSettled(id: string): boolean {
    const placed = this.#places.get(id);
    if (placed === undefined) return false;
    placed.since ??= this.#monotonic();
    return this.#monotonic() - placed.since >= settleMs;
  }

  #place(): void {
    const placed = this.state?.approvals.map(({ id }, place) => {
      const known = this.#places.get(id);
      return [id, known?.place === place ? known : { place }] as const;
    });
    this.#places = new Map(placed);
  }

  #setClock(at: number): void {
    this.#at = at;
    this.#arrivedAt = this.#monotonic();
  }
}
