import type { Clock } from "../spine/clock.ts";
import type { History } from "./history.ts";
import type { PageState } from "./messages.ts";

/** Milliseconds between two updates. */
const tickMs = 100;

/** A slow part is read in every fifth update: it is large, and its numbers change with every request. */
const slowTicks = 5;

/** New rows in one update. */
const maxRows = 100;

/** A part of the state of a page. */
interface Part<TValue> {
  readonly read: () => TValue;
  readonly isSlow?: true;
}

/** The parts of the state of a page. */
export type Parts = { readonly [TKey in keyof PageState]: Part<PageState[TKey]> };

/** Dependencies of {@link Updates}. */
export interface UpdatesDeps {
  readonly clock: Clock;
  readonly parts: Parts;
  readonly history: History;
  /** Receives the JSON text of each update. */
  readonly tell: (json: string) => void;
}

/** Writes the parts that have changed, at most ten times a second while it is started. */
export class Updates {
  readonly #deps: UpdatesDeps;
  /** The JSON text of each part in the last update that had it. */
  readonly #told = new Map<string, string>();
  #lastRow = 0;
  #oldest = 0;
  #ticks = 0;
  #stopTimer: (() => void) | undefined;

  constructor(deps: UpdatesDeps) {
    this.#deps = deps;
  }

  /** Starts writing updates. Does nothing if it was started. */
  start(): void {
    if (this.#stopTimer !== undefined) return;
    this.#told.clear();
    this.#lastRow = this.#deps.history.last;
    this.#arm();
  }

  /** Callable twice. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #arm(): void {
    this.#stopTimer = this.#deps.clock.after(tickMs, () => {
      this.#arm();
      this.#tick();
    });
  }

  #tick(): void {
    const { parts, tell } = this.#deps;
    const isSlowToo = this.#ticks % slowTicks === 0;
    this.#ticks += 1;
    const members: string[] = [];
    for (const [name, { read, isSlow }] of Object.entries(parts)) {
      if (isSlow === true && !isSlowToo) continue;
      const text = JSON.stringify(read());
      if (this.#told.get(name) === text) continue;
      this.#told.set(name, text);
      members.push(`"${name}":${text}`);
    }
    members.push(...this.#historyMembers());
    if (members.length > 0) tell(`{"at":${Date.now()},${members.join(",")}}`);
  }

  #historyMembers(): readonly string[] {
    const { history } = this.#deps;
    const { last, oldest } = history;
    if (last === this.#lastRow) return [];
    const rows = JSON.stringify(history.after(this.#lastRow, maxRows));
    this.#lastRow = last;
    const isOldestSame = oldest === this.#oldest;
    this.#oldest = oldest;
    return isOldestSame ? [`"history":${rows}`] : [`"history":${rows}`, `"oldest":${oldest}`];
  }
}
