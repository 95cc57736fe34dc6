import { setMaxListeners } from "node:events";
import { SurfaceError } from "../errors.ts";

/** Releases what was acquired. May be asynchronous; called at most once by its scope. */
export type Disposer = () => void | Promise<void>;

/**
 * The only owner of disposers in this package. `close()` runs them in reverse order of registration, every one of them
 * even if others fail, once; what is registered after that is disposed at once.
 */
export class Scope {
  readonly #what: string;
  readonly #disposers = new Set<Disposer>();
  /** What was registered while the scope closed and is still being disposed. */
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

  /**
   * Fires when `close()` is called, before the first disposer runs, with a `CLOSED` error as its reason. Made only when
   * somebody asks for it.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // As many listeners as there are uses: a number of them is no sign of a leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.closed) this.#controller.abort(this.createClosed());
    }
    return this.#controller.signal;
  }

  /**
   * Registers a disposer; the scope owns it from now on. Returns what takes it back unrun, for things that end earlier
   * by themselves. On a closed scope the disposer runs at once: what it throws is thrown to the caller, and a promise is
   * waited for by a `close()` that is still under way, which reports its failure; after that nobody is left to be told.
   */
  add(disposer: Disposer): () => void {
    if (this.closed) {
      this.#disposeLate(disposer);
      return () => {};
    }
    // A wrapper of its own, so that one function registered twice runs twice.
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
   * Aborts {@link signal}, then disposes everything in reverse order and waits for it. Callable twice: every call gets the
   * same promise. Rejects with an `AggregateError` of all faults, after everything was disposed.
   *
   * A disposer that never ends keeps `close()` waiting; whoever must not wait bounds it. A disposer that closes its own
   * scope as its first act is answered at once; one that does so later, after an `await`, must not wait for it.
   */
  close(): Promise<void> {
    this.closed = true;
    this.#closing ??= this.#run();
    // Otherwise the disposer would wait for the close that waits for the disposer.
    return this.#disposing ? Promise.resolve() : this.#closing;
  }

  async #run(): Promise<void> {
    // Yields once, so that `closed` is true before the first listener or disposer runs.
    await Promise.resolve();
    this.#controller?.abort(this.createClosed());
    for (const disposer of [...this.#disposers].toReversed()) {
      // Taken back by an earlier disposer: no longer ours.
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

  /** The `CLOSED` error of this scope, for those who answer with it instead of throwing it. */
  createClosed(): SurfaceError {
    return new SurfaceError("CLOSED", `Using ${this.#what}: it is closed`);
  }
}
