import { SurfaceError } from "../../errors.ts";
import { isFunction } from "../../options/is-object.ts";
import { Newest } from "../../spine/newest.ts";
import type { ObservableLike } from "../observable.ts";

/** What a subscription is ended by. TC39 and RxJS give an object; some libraries a function. */
function toStop(subscription: unknown): (() => unknown) | undefined {
  if (isFunction(subscription)) return () => subscription();
  if (typeof subscription !== "object" || subscription === null) return undefined;
  const unsubscribe: unknown = Reflect.get(subscription, "unsubscribe");
  return isFunction(unsubscribe) ? () => unsubscribe.call(subscription) : undefined;
}

/** Subscribes to an observable. Returns its newest values; `return()` unsubscribes, unless it has ended by itself. */
export function observe(observable: ObservableLike<unknown>): AsyncIterable<unknown> {
  let isOver = false;
  const values = new Newest<unknown>(() => stop?.());
  const finish = (failure?: { readonly cause: unknown }): void => {
    isOver = true;
    values.finish(failure);
  };
  const subscription: unknown = observable.subscribe({
    next: (value) => values.tell(value),
    error: (cause) => finish({ cause }),
    complete: () => finish(),
  });
  const stop = toStop(subscription);
  if (stop !== undefined || isOver) return values;
  throw new SurfaceError("INTERNAL", "Subscribing to an observable: subscribe() must return what ends it");
}
