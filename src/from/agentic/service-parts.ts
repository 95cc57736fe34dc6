import { SurfaceError } from "../../errors.ts";
import { handleRejection, runUnawaited } from "../../surface/fault.ts";
import type { AgenticService } from "./service-shape.ts";

/** A listener of an observed part. */
interface PartListener {
  /** Called for each value, also an equal one. Must not throw. */
  changed(): void;
  /** Receives errors. Must not throw. */
  fail(cause: unknown): void;
}

type Subscribe = (notify: (value: unknown) => void) => unknown;

/** One subscription, from the first listener to the last. */
interface Opened {
  /** The error of subscribing. Values that come after it are ignored. */
  failed: { readonly cause: unknown } | undefined;
  /** Whether an invalid value has been reported since the last valid one. */
  isReported: boolean;
  stop: (() => unknown) | undefined;
}

/**
 * An observable of a service, with one subscription for all listeners, from the first to the last. If subscribing throws, the next
 * attempt follows when all listeners have left.
 */
export class ObservedPart {
  readonly #subscribe: Subscribe;
  readonly #listeners = new Set<PartListener>();
  #opened: Opened | undefined;
  #value: object | undefined;

  constructor(subscribe: Subscribe) {
    this.#subscribe = subscribe;
  }

  /** The last value. */
  get value(): object | undefined {
    return this.#value;
  }

  /** Adds a listener, which may be called before this returns. Returns a function that removes it; calling it twice is safe. */
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
    const opened: Opened = { failed: undefined, isReported: false, stop: undefined };
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
    handleRejection(stop, (cause) => this.#tell(cause));
    this.#tell(
      new SurfaceError(
        "INVALID_OPTION",
        "Cannot observe a service: the observable must return a function that stops it",
      ),
    );
  }

  #forget(cause: unknown): void {
    this.#value = undefined;
    this.#tell(cause);
    this.#change();
  }

  #take(opened: Opened, value: unknown): void {
    if (this.#opened !== opened || opened.failed !== undefined) return;
    if (typeof value === "object" && value !== null) {
      opened.isReported = false;
      this.#value = value;
      this.#change();
      return;
    }
    // The last valid value stays.
    if (opened.isReported) return;
    opened.isReported = true;
    const message = `Cannot observe a service: the value must be an object, is ${value === null ? "null" : typeof value}`;
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

/** Name of an observable of a service. */
export type PartName = "actions" | "states" | "links";

/** The observables of a service, each with one subscription in the process. */
export type ServiceObservations = Readonly<Record<PartName, ObservedPart>>;

const known = new WeakMap<AgenticService, ServiceObservations>();

function toPart(service: AgenticService, name: PartName): ObservedPart {
  return new ObservedPart((notify) => {
    const observe: unknown = service[name];
    // A service may have no links.
    return typeof observe === "function" ? Reflect.apply(observe, service, [notify]) : () => {};
  });
}

/** Returns the observables of a service, the same ones for all apps and links. */
export function partsOf(service: AgenticService): ServiceObservations {
  let parts = known.get(service);
  if (parts === undefined) {
    parts = Object.freeze({
      actions: toPart(service, "actions"),
      states: toPart(service, "states"),
      links: toPart(service, "links"),
    });
    known.set(service, parts);
  }
  return parts;
}
