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
  #controller: AbortController | undefined;
  #closing: Promise<void> | undefined;

  /** @param what - names the owner in the report of a failed close. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Whether `close()` has been called. */
  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Fires when `close()` is called, before the first disposer runs. Made only when somebody asks for it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.closed) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /**
   * Registers a disposer; the scope owns it from now on. Returns what takes it back unrun, for things that end earlier
   * by themselves. On a closed scope the disposer runs at once and its failure is thrown to the caller.
   */
  add(disposer: Disposer): () => void {
    if (this.closed) {
      void disposer();
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
    if (this.closed) throw new SurfaceError("CLOSED", `Using ${this.#what}: it is closed`);
  }

  /**
   * Aborts {@link signal}, then disposes everything in reverse order and waits for it. Callable twice: every call gets the
   * same promise. Rejects with an `AggregateError` of all faults, after everything was disposed.
   */
  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    // Yields once, so that `closed` is true before the first listener or disposer runs.
    await Promise.resolve();
    this.#controller?.abort();
    const faults: unknown[] = [];
    for (const disposer of [...this.#disposers].reverse()) {
      // Taken back by an earlier disposer: no longer ours.
      if (!this.#disposers.delete(disposer)) continue;
      try {
        await disposer();
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, `Closing ${this.#what}: ${faults.length} disposers failed`);
  }
}
