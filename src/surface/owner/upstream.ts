import { SurfaceError } from "../../errors.ts";
import type { ObservableLike } from "../observable.ts";
import { kPushed, Unchanged, Unmade, type PushedFrame, type PushedOrigin } from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { OpenedAnew } from "./opened-anew.ts";
import { observe } from "./observed.ts";
import { isFunction, isObjectOrFunction } from "../../options/is-object.ts";

/** Where the values of a cell come from that are not there to be read at any time. */
export interface Upstream {
  /** Opens it anew; may be asynchronous where its author made it so. */
  open(signal: AbortSignal): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  /** One frame, without opening it. */
  readonly read?: (signal: AbortSignal) => Promise<unknown>;
  /** Whether what is read while it is open is at least as new as what that has given by then. */
  readonly isReadWhileOpen?: boolean;
  /** What a frame says. @throws SurfaceError `INVALID_OUTPUT`. */
  toFrame(frame: unknown): Exclude<PushedFrame<unknown>, Unmade>;
  /** Whether what it said last stands for good when it ends, and it is not to be opened again. */
  readonly isFinalAtEnd: boolean;
  /** Whether it can be opened only once, and is to be kept for the next reader where there is none now. */
  readonly isOpenedOnce: boolean;
}

function hasMethod(value: object, name: PropertyKey): boolean {
  return isFunction(Reflect.get(value, name));
}

function readFrame(frame: unknown): Exclude<PushedFrame<unknown>, Unmade> {
  if (frame instanceof Unmade) throw frame.cause;
  if (frame instanceof Unchanged) return frame;
  if (isObjectOrFunction(frame) && "value" in frame) return frame;
  throw new SurfaceError("INVALID_OUTPUT", "Reading a pushed source: it gave something that is no reading");
}

const toPlainFrame = (value: unknown): Reading => ({ value });

/** Where a pushed source comes from, as one kind of many. */
export function fromPushed(origin: PushedOrigin<unknown>): Upstream {
  const read = origin.read?.bind(origin);
  return {
    open: (signal) => origin.open(signal),
    ...(read === undefined ? {} : { read, isReadWhileOpen: origin.isReadWhileOpen ?? true }),
    toFrame: readFrame,
    isFinalAtEnd: false,
    isOpenedOnce: false,
  };
}

function fromObservable(observable: ObservableLike<unknown>): Upstream {
  return { open: () => observe(observable), toFrame: toPlainFrame, isFinalAtEnd: true, isOpenedOnce: false };
}

/** By the well-known method libraries hand over observables that are not their own. */
function toInterop(value: object): unknown {
  for (const name of [Reflect.get(Symbol, "observable") as unknown, "@@observable"]) {
    if (typeof name !== "symbol" && typeof name !== "string") continue;
    const give: unknown = Reflect.get(value, name);
    if (isFunction(give)) return give.call(value);
  }
  return undefined;
}

function toObservable(value: object): ObservableLike<unknown> | undefined {
  const found = toInterop(value) ?? value;
  if (!isObjectOrFunction(found) || !hasMethod(found, "subscribe")) return undefined;
  // What its subscribe() takes and returns cannot be known before it is called.
  return found as ObservableLike<unknown>;
}

/** What a cell's implementation gives by and by; `undefined` where it is nothing of that kind. */
export function toUpstream(value: unknown): Upstream | undefined {
  if (!isObjectOrFunction(value)) return undefined;
  // Only this package puts anything under that symbol.
  if (kPushed in value) return fromPushed(value[kPushed] as PushedOrigin<unknown>);
  if (hasMethod(value, Symbol.asyncIterator)) {
    // What its method returns is looked at when it is opened.
    const iterable = value as AsyncIterable<unknown>;
    return {
      open: () => new OpenedAnew(iterable),
      toFrame: toPlainFrame,
      isFinalAtEnd: true,
      // What is its own iterator, as a generator that was called already, is over for good once it was returned.
      isOpenedOnce: hasMethod(value, "next"),
    };
  }
  const observable = toObservable(value);
  return observable === undefined ? undefined : fromObservable(observable);
}
