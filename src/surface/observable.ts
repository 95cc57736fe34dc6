/** What an {@link ObservableLike} tells. */
export interface ValueObserver<TValue> {
  next(value: TValue): void;
  error(cause: unknown): void;
  complete(): void;
}

/**
 * Values that are told to whoever subscribes, until they complete or fail: what TC39's proposal and RxJS mean by an
 * observable. A subject fits too.
 */
export interface ObservableLike<TValue> {
  /** Begins to tell, perhaps at once. What it returns ends that. */
  subscribe(observer: ValueObserver<TValue>): { unsubscribe(): unknown };
}
