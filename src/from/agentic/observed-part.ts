import { SurfaceError } from "../../errors.ts";
import { onRejection, runUnawaited } from "../../surface/fault.ts";

/** Whoever wants to know what is observed. */
export interface PartListener {
  /** Told when something was said, also with an equal value. Must not throw. */
  changed(): void;
  /** Told what failed. Must not throw. */
  fail(cause: unknown): void;
}

/** How a part is observed: as the service's own method, which may be missing. */
type Subscribe = (notify: (value: unknown) => void) => unknown;

/** One time that a part is observed, from the first listener to the last. */
interface Opened {
  /** Why it counts as if it had never spoken. */
  failed: { readonly cause: unknown } | undefined;
  /** Whether what was wrong with what it said last was told. */
  isTold: boolean;
  stop: (() => unknown) | undefined;
}

/**
 * One observable of a service: observed once for all who listen, from the first on, and no longer than the last. What throws when
 * it is observed counts as if it had never spoken, and is not tried again before everybody has left.
 */
export class ObservedPart {
  readonly #subscribe: Subscribe;
  readonly #listeners = new Set<PartListener>();
  #opened: Opened | undefined;
  #value: object | undefined;

  constructor(subscribe: Subscribe) {
    this.#subscribe = subscribe;
  }

  /** What it said last; `undefined` where it has said nothing. */
  get value(): object | undefined {
    return this.#value;
  }

  /** Tells the listener too, from now on. It may be told before this returns. Returns what stops that; callable twice. */
  join(listener: PartListener): () => void {
    const own: PartListener = { changed: () => listener.changed(), fail: (cause) => listener.fail(cause) };
    this.#listeners.add(own);
    if (this.#opened === undefined) this.#open();
    else if (this.#opened.failed !== undefined) own.fail(this.#opened.failed.cause);
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#close(own);
    };
  }

  #open(): void {
    const opened: Opened = { failed: undefined, isTold: false, stop: undefined };
    this.#opened = opened;
    try {
      const stop = this.#subscribe((value) => this.#take(opened, value));
      if (typeof stop === "function") opened.stop = () => Reflect.apply(stop, undefined, []);
      else this.#refuse(stop);
    } catch (cause) {
      opened.failed = { cause };
      this.#forget(cause);
    }
  }

  #refuse(stop: unknown): void {
    onRejection(stop, (cause) => this.#tell(cause));
    this.#tell(new SurfaceError("INVALID_OPTION", "Observing a part of a service: it must return a function"));
  }

  #forget(cause: unknown): void {
    this.#value = undefined;
    this.#tell(cause);
    this.#change();
  }

  #take(opened: Opened, value: unknown): void {
    if (this.#opened !== opened || opened.failed !== undefined) return;
    if (typeof value === "object" && value !== null) {
      opened.isTold = false;
      this.#value = value;
      this.#change();
      return;
    }
    // What it said last stands.
    if (opened.isTold) return;
    opened.isTold = true;
    const message = `Observing a part of a service: what it tells must be an object, and it is ${value === null ? "null" : typeof value}`;
    this.#tell(new SurfaceError("INVALID_OPTION", message));
  }

  #close(last: PartListener): void {
    const stop = this.#opened?.stop;
    this.#opened = undefined;
    this.#value = undefined;
    if (stop !== undefined) runUnawaited(stop, (cause) => last.fail(cause));
  }

  #change(): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener.changed();
  }

  #tell(cause: unknown): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener.fail(cause);
  }
}
