/** What an {@link ObservableLike} tells. */
export interface ValueObserver<TValue> {
  next(value: TValue): void;
  error(cause: unknown): void;
  complete(): void;
}

/**
 * Said twice, once as generic, since the compiler gives the parameters of a function that is written in place no types by
 * such a pair: those of a source's `subscribe` stay, which is what such a function is nearly always.
 */
interface Subscribe<TValue> {
  (observer: ValueObserver<TValue>): { unsubscribe(): unknown };
  <TObserver extends ValueObserver<TValue>>(observer: TObserver): { unsubscribe(): unknown };
}

/**
 * Values that are told to whoever subscribes, until they complete or fail: what TC39's proposal and RxJS mean by an
 * observable. A subject fits too.
 */
export interface ObservableLike<TValue> {
  /** Begins to tell, perhaps at once. What it returns ends that. */
  readonly subscribe: Subscribe<TValue>;
}
