import { SurfaceError } from "../../errors.ts";
import { internalError, onRejection, runUnawaited, type FaultReporter } from "../../surface/fault.ts";
import type { ToolInvoker } from "./tool-invoker.ts";

/** What {@link InvokerList} takes. */
export interface InvokerListSetting {
  readonly invoker: ToolInvoker;
  /** How messages name it. */
  readonly where: string;
  readonly report: FaultReporter;
  /** Told when something else may be listed. */
  readonly changed: () => void;
}

/**
 * How long one is left alone that has said once more that it has changed while it was asked, in milliseconds: twice as long each time.
 */
const [firstPauseMs, maxPauseMs] = [500, 60_000];

function isLater(listed: unknown): listed is PromiseLike<unknown> {
  return typeof listed === "object" && listed !== null && "then" in listed && typeof listed.then === "function";
}

/** What one invoker lists: what it listed last, as long as it cannot say. */
export class InvokerList {
  readonly invoker: ToolInvoker;
  readonly where: string;
  readonly #setting: InvokerListSetting;
  #listed: readonly unknown[] = [];
  #isStale = true;
  /** Whether its list() runs now, or is waited for. */
  #isAsked = false;
  #isLater = false;
  /** How often it was asked, and which time it has answered last: it may answer in another order. */
  #asked = 0;
  #answered = 0;
  /** How often it was asked because it had said that it has changed while it was asked, one time after the other. */
  #inARow = 0;
  #pause: NodeJS.Timeout | undefined;
  /** What it listed in this turn, where it was looked at. */
  #looked: { readonly listed: readonly unknown[] | undefined } | undefined;
  #stop: (() => unknown) | undefined;

  constructor(setting: InvokerListSetting) {
    this.#setting = setting;
    this.invoker = setting.invoker;
    this.where = setting.where;
  }

  /** What is known of it now. Never throws. */
  items(): readonly unknown[] {
    if (this.#isStale && !this.#isAsked && this.#pause === undefined) this.#ask();
    return this.#listed;
  }

  /**
   * What it lists right now, where nobody says when that changes; `undefined` where it cannot say at once. Asked once a turn: many
   * calls that begin together look at one list.
   */
  look(): readonly unknown[] | undefined {
    if (this.#isLater || this.invoker.subscribe !== undefined) return undefined;
    if (this.#looked === undefined) {
      this.#looked = { listed: this.#listNow() };
      queueMicrotask(() => {
        this.#looked = undefined;
      });
    }
    return this.#looked.listed;
  }

  /** What was looked at is what it lists. */
  adopt(listed: readonly unknown[]): void {
    this.#listed = listed;
    this.#answered = this.#asked;
    this.#isStale = false;
    this.#setting.changed();
  }

  /** Something else may be listed. */
  refresh(): void {
    this.#isStale = true;
    // One that answers later is asked at once: nobody waits for it when it is looked at.
    if (this.#isLater) this.#askOnceMore();
    // Whoever waits for what it answers says so then.
    if (!this.#isAsked || !this.#isLater) this.#setting.changed();
  }

  /** Listens to it, and looks again at what has changed before. */
  listen(): void {
    this.#isStale = true;
    const { invoker } = this;
    if (invoker.subscribe === undefined) return;
    try {
      const stop: unknown = invoker.subscribe(() => this.refresh());
      if (typeof stop === "function") {
        this.#stop = () => Reflect.apply(stop, undefined, []);
        return;
      }
      onRejection(stop, (cause) => this.#tell(cause));
      throw new SurfaceError("INVALID_OPTION", `Listening to ${this.where}: its subscribe() must return a function`);
    } catch (cause) {
      this.#tell(cause);
    }
  }

  /** Stops that. Callable twice. */
  rest(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    this.#clearPause();
    if (stop !== undefined) runUnawaited(stop, (cause) => this.#tell(cause));
  }

  /** Asks one that answers later; one that is asked by now may never answer, and is asked anew after a while. */
  #askOnceMore(): void {
    if (this.#pause !== undefined) return;
    if (this.#isAsked) this.#askLater();
    else this.#ask();
  }

  #ask(): void {
    const time = (this.#asked += 1);
    this.#isStale = false;
    this.#isAsked = true;
    try {
      const listed: unknown = this.invoker.list();
      this.#isLater = isLater(listed);
      if (isLater(listed)) {
        void this.#wait(listed, time);
        return;
      }
      this.#take(listed, time);
    } catch (cause) {
      this.#fail(cause);
    }
    this.#isAsked = false;
  }

  async #wait(listed: PromiseLike<unknown>, time: number): Promise<void> {
    try {
      this.#take(await listed, time);
    } catch (cause) {
      this.#tell(cause);
    }
    if (time === this.#asked) this.#settle();
    this.#setting.changed();
  }

  /** Nothing is waited for any more. What has changed meanwhile is asked for once more, and then only after a while. */
  #settle(): void {
    this.#isAsked = false;
    this.#clearPause();
    if (!this.#isStale) this.#inARow = 0;
    else if (this.#inARow === 0) this.#askInARow();
    else this.#askLater();
  }

  #askLater(): void {
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#inARow);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#askInARow();
    }, pauseMs);
    this.#pause.unref();
  }

  #askInARow(): void {
    this.#inARow += 1;
    this.#ask();
  }

  #clearPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  /** What it lists at once. One that answers later does so from now on. */
  #listNow(): readonly unknown[] | undefined {
    const time = (this.#asked += 1);
    try {
      const listed: unknown = this.invoker.list();
      if (!isLater(listed)) return this.#toList(listed);
      this.#isLater = true;
      this.#isAsked = true;
      void this.#wait(listed, time);
    } catch (cause) {
      this.#tell(cause);
    }
    return undefined;
  }

  #take(listed: unknown, time: number): void {
    const list = this.#toList(listed);
    if (time < this.#answered) return;
    this.#answered = time;
    this.#listed = list;
  }

  #toList(listed: unknown): readonly unknown[] {
    if (Array.isArray(listed)) return Array.from<unknown>(listed);
    throw new SurfaceError("INVALID_OPTION", `Listing ${this.where}: its list() must give an array of tools`);
  }

  /** It could not say: it is asked again when somebody looks. */
  #fail(cause: unknown): void {
    this.#isStale = true;
    this.#tell(cause);
  }

  #tell(cause: unknown): void {
    internalError(cause, this.where, this.#setting.report);
  }
}
