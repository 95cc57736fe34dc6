import { setMaxListeners } from "node:events";
import { SurfaceError } from "../errors.ts";

/** Releases a resource. May be asynchronous; called at most once by its scope. */
export type Disposer = () => void | Promise<void>;

/**
 * The only owner of disposers in this package. `close()` runs all of them once, in reverse order of registration, even if some fail. A
 * disposer that is added after that runs at once.
 */
export class Scope {
  readonly #what: string;
  readonly #disposers = new Set<Disposer>();
  /** Disposers that were added during the close, and still run. */
  readonly #late = new Set<Promise<void>>();
  readonly #faults: unknown[] = [];
  /** Whether `close()` has been called. Only the scope changes it; a field, because every request reads it. */
  closed = false;
  #controller: AbortController | undefined;
  #closing: Promise<void> | undefined;
  #disposing = false;

  /** @param what - names the owner in the report of a failed close. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Fires when `close()` is called, before the first disposer runs, with a `CLOSED` error as its reason. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // One listener a use: many are no sign of a leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.closed) this.#controller.abort(this.createClosed());
    }
    return this.#controller.signal;
  }

  /**
   * Adds a disposer. Returns a function that removes it without running it. On a closed scope the disposer runs at once: an error is thrown
   * to the caller; a promise is awaited by a `close()` that still runs, which reports its failure.
   */
  add(disposer: Disposer): () => void {
    if (this.closed) {
      this.#disposeLate(disposer);
      return () => {};
    }
    // A wrapper, so that one function added twice runs twice.
    const owned: Disposer = () => disposer();
    this.#disposers.add(owned);
    return () => {
      this.#disposers.delete(owned);
    };
  }

  /** @throws SurfaceError `CLOSED` once `close()` has been called. */
  assertOpen(): void {
    if (this.closed) throw this.createClosed();
  }

  /**
   * Aborts {@link signal}, then runs all disposers in reverse order and waits for them, without a bound. Every call returns the same
   * promise. Rejects with an `AggregateError` of all faults at the end.
   *
   * A disposer that closes its own scope synchronously gets a resolved promise; one that does so after an `await` must not wait for it.
   */
  close(): Promise<void> {
    this.closed = true;
    this.#closing ??= this.#run();
    // The close waits for the disposer, which must not wait for the close.
    return this.#disposing ? Promise.resolve() : this.#closing;
  }

  async #run(): Promise<void> {
    // Yields once, so that `closed` is true before the first listener or disposer runs.
    await Promise.resolve();
    this.#controller?.abort(this.createClosed());
    for (const disposer of [...this.#disposers].toReversed()) {
      // An earlier disposer may have removed it.
      if (!this.#disposers.delete(disposer)) continue;
      try {
        await this.#dispose(disposer);
      } catch (fault) {
        this.#faults.push(fault);
      }
    }
    while (this.#late.size > 0) await Promise.all(this.#late);
    const count = this.#faults.length;
    if (count === 0) return;
    throw new AggregateError(
      this.#faults,
      `Closing ${this.#what}: ${count} ${count === 1 ? "disposer" : "disposers"} failed`,
    );
  }

  #dispose(disposer: Disposer): void | Promise<void> {
    const outer = this.#disposing;
    this.#disposing = true;
    try {
      return disposer();
    } finally {
      this.#disposing = outer;
    }
  }

  #disposeLate(disposer: Disposer): void {
    const ending = this.#dispose(disposer);
    if (ending === undefined) return;
    const settled: Promise<void> = Promise.resolve(ending)
      .catch((fault: unknown) => void this.#faults.push(fault))
      .finally(() => this.#late.delete(settled));
    this.#late.add(settled);
  }

  /** Creates the `CLOSED` error of this scope. */
  createClosed(): SurfaceError {
    return new SurfaceError("CLOSED", `Using ${this.#what}: it is closed`);
  }
}
