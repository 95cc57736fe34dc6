import { SurfaceError } from "../../errors.ts";
import { internalError, handleRejection, runUnawaited, type FaultReporter } from "../../surface/fault.ts";
import type { ToolInvoker } from "./tool-invoker.ts";

/** Dependencies of {@link InvokerList}. */
export interface InvokerListDeps {
  readonly invoker: ToolInvoker;
  /** Name of the invoker in messages. */
  readonly where: string;
  readonly report: FaultReporter;
  /** Called when the list may have changed. */
  readonly changed: () => void;
}

/**
 * Milliseconds until an invoker is read again that has reported a change during each of its last reads. They double with each read.
 */
const [firstPauseMs, maxPauseMs] = [500, 60_000];

function isPromiseLike(listed: unknown): listed is PromiseLike<unknown> {
  return typeof listed === "object" && listed !== null && "then" in listed && typeof listed.then === "function";
}

/** The tools of one invoker. Keeps the last list while a read fails or is pending. */
export class InvokerList {
  readonly invoker: ToolInvoker;
  readonly where: string;
  readonly #deps: InvokerListDeps;
  #listed: readonly unknown[] = [];
  #isStale = true;
  /** Whether a call of `list()` is running or pending. */
  #isReading = false;
  #isAsync = false;
  /** The number of reads, and the number of the newest completed one. Reads may complete in another order. */
  #reads = 0;
  #newestRead = 0;
  /** Consecutive reads that were repeated, because the invoker reported a change during each. */
  #repeats = 0;
  #pause: NodeJS.Timeout | undefined;
  /** Result of {@link look} in this turn. */
  #lookedUp: { readonly listed: readonly unknown[] | undefined } | undefined;
  #stop: (() => unknown) | undefined;

  constructor(deps: InvokerListDeps) {
    this.#deps = deps;
    this.invoker = deps.invoker;
    this.where = deps.where;
  }

  /** Returns the last list, and starts a read if it is stale. Never throws. */
  items(): readonly unknown[] {
    if (this.#isStale && !this.#isReading && this.#pause === undefined) this.#read();
    return this.#listed;
  }

  /**
   * Reads the list of an invoker that reports no changes; `undefined` if it has `subscribe`, or cannot answer synchronously. Reads once
   * a turn, so calls that start together share a read.
   */
  look(): readonly unknown[] | undefined {
    if (this.#isAsync || this.invoker.subscribe !== undefined) return undefined;
    if (this.#lookedUp === undefined) {
      this.#lookedUp = { listed: this.#listNow() };
      queueMicrotask(() => {
        this.#lookedUp = undefined;
      });
    }
    return this.#lookedUp.listed;
  }

  /** Replaces the list by the result of {@link look}. */
  adopt(listed: readonly unknown[]): void {
    this.#listed = listed;
    this.#newestRead = this.#reads;
    this.#isStale = false;
    this.#deps.changed();
  }

  /** Marks the list as stale, and reports that it may have changed. */
  refresh(): void {
    this.#isStale = true;
    // Read an asynchronous list now, since items() does not wait for it.
    if (this.#isAsync) this.#readSoon();
    // A pending read reports the change when it completes.
    if (!this.#isReading || !this.#isAsync) this.#deps.changed();
  }

  /** Subscribes to changes, and marks the list as stale, since it may have changed before. */
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
      handleRejection(stop, (cause) => this.#report(cause));
      throw new SurfaceError(
        "INVALID_OPTION",
        `Cannot subscribe to ${this.where}: its subscribe() must return a function`,
      );
    } catch (cause) {
      this.#report(cause);
    }
  }

  /** Unsubscribes. Calling it twice is safe. */
  rest(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    this.#clearPause();
    if (stop !== undefined) runUnawaited(stop, (cause) => this.#report(cause));
  }

  /** Reads an asynchronous list. A pending read may never complete, so the next one starts after a pause. */
  #readSoon(): void {
    if (this.#pause !== undefined) return;
    if (this.#isReading) this.#readAfterPause();
    else this.#read();
  }

  #read(): void {
    const time = (this.#reads += 1);
    this.#isStale = false;
    this.#isReading = true;
    try {
      const listed: unknown = this.invoker.list();
      this.#isAsync = isPromiseLike(listed);
      if (isPromiseLike(listed)) {
        void this.#wait(listed, time);
        return;
      }
      this.#take(listed, time);
    } catch (cause) {
      this.#fail(cause);
    }
    this.#isReading = false;
  }

  async #wait(listed: PromiseLike<unknown>, time: number): Promise<void> {
    try {
      this.#take(await listed, time);
    } catch (cause) {
      this.#report(cause);
    }
    if (time === this.#reads) this.#settle();
    this.#deps.changed();
  }

  /** Ends the pending read. After a change during the read, reads again: the first time at once, then after a pause. */
  #settle(): void {
    this.#isReading = false;
    this.#clearPause();
    if (!this.#isStale) this.#repeats = 0;
    else if (this.#repeats === 0) this.#readAgain();
    else this.#readAfterPause();
  }

  #readAfterPause(): void {
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#repeats);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#readAgain();
    }, pauseMs);
    this.#pause.unref();
  }

  #readAgain(): void {
    this.#repeats += 1;
    this.#read();
  }

  #clearPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  /** Returns the list if the invoker answers synchronously. Otherwise it is asynchronous from now on. */
  #listNow(): readonly unknown[] | undefined {
    const time = (this.#reads += 1);
    try {
      const listed: unknown = this.invoker.list();
      if (!isPromiseLike(listed)) return this.#toList(listed);
      this.#isAsync = true;
      this.#isReading = true;
      void this.#wait(listed, time);
    } catch (cause) {
      this.#report(cause);
    }
    return undefined;
  }

  #take(listed: unknown, time: number): void {
    const list = this.#toList(listed);
    if (time < this.#newestRead) return;
    this.#newestRead = time;
    this.#listed = list;
  }

  #toList(listed: unknown): readonly unknown[] {
    if (Array.isArray(listed)) return Array.from<unknown>(listed);
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot list the tools of ${this.where}: its list() must return an array of tools`,
    );
  }

  /** Reports a failed read. The list stays stale, so the next call of items() reads again. */
  #fail(cause: unknown): void {
    this.#isStale = true;
    this.#report(cause);
  }

  #report(cause: unknown): void {
    internalError(cause, this.where, this.#deps.report);
  }
}
