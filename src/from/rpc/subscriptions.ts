import { ended } from "../../spine/pushing.ts";
import { followSignal, LinkedAbort, untilAborted } from "../../spine/signals.ts";
import { visibleKey, type Caller } from "../../surface/caller.ts";
import { nextTurn, stepsPerTurn } from "../../surface/owner/waiting.ts";
import { atMost } from "../../surface/system-clock.ts";
import type { RpcCall, RpcProcedure } from "./procedure.ts";

/** Milliseconds for which a read waits for the first item of a subscription. */
const firstItemMs = 1000;

/** Failed subscriptions whose last ids are kept. */
const maxFailed = 1000;

function ignore(): void {}

function iteratorOf(answer: unknown): AsyncIterator<unknown> {
  // The adapter of the router has made an async iterable of it.
  return (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
}

/**
 * The items of one subscription. An abort alone does not end a generator that does not look at its signal, and `return()` alone does not
 * end one that waits: the end of this iterator, and its signal, do both.
 */
export class SubscriptionItems implements AsyncIterableIterator<unknown> {
  readonly #procedure: RpcProcedure;
  readonly #abort: LinkedAbort;
  readonly #iterator: Promise<AsyncIterator<unknown>>;
  #ending: Promise<unknown> | undefined;

  constructor(procedure: RpcProcedure, input: unknown, { caller, signal }: RpcCall) {
    this.#procedure = procedure;
    this.#abort = new LinkedAbort(signal);
    const { signal: own } = this.#abort;
    this.#iterator = procedure.call(input, { caller, signal: own }).then(iteratorOf);
    // next() reports it.
    this.#iterator.catch(ignore);
    followSignal(own, () => {
      this.#ending = this.#iterator.then((iterator) => iterator.return?.());
      this.#ending.catch(ignore);
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    const start = async (): Promise<IteratorResult<unknown>> => (await this.#iterator).next();
    try {
      const step = await untilAborted({ start, signal: this.#abort.signal, doing: "Following a subscription" });
      if (step.done === true) this.#abort.dispose();
      return step;
    } catch (cause) {
      this.#abort.dispose();
      throw this.#procedure.toError(cause);
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#abort.abort();
    this.#abort.dispose();
    await this.#ending;
    return ended;
  }
}

/** Ends a subscription without waiting for it: its author's code may never settle. */
function endUnawaited(items: SubscriptionItems): void {
  items.return().catch(ignore);
}

/** The newest item of a subscription, while at least one watcher listens. */
class NewestItem {
  readonly watchers = new Set<() => void>();
  readonly items: SubscriptionItems;
  /** The id of the last item that had one. */
  lastId: string | undefined;
  newest: { readonly item: unknown } | undefined;
  failure: { readonly cause: unknown } | undefined;
  /** Resolves with the first item, or the end. */
  readonly first: Promise<void>;
  readonly #procedure: RpcProcedure;
  #isStarted: () => void = ignore;

  /** @param lastId - the item to continue behind. */
  constructor(procedure: RpcProcedure, caller: Caller, lastId: string | undefined) {
    this.#procedure = procedure;
    this.lastId = lastId;
    const { signal } = new AbortController();
    this.items = new SubscriptionItems(procedure, procedure.input.empty(lastId), { caller, signal });
    this.first = new Promise((resolve) => {
      this.#isStarted = resolve;
    });
    void this.#follow();
  }

  async #follow(): Promise<void> {
    try {
      for (let count = 1; ; count += 1) {
        const step = await this.items.next();
        if (step.done === true) break;
        this.newest = { item: step.value };
        this.lastId = this.#procedure.toItem?.(step.value).id ?? this.lastId;
        this.#announce();
        // A generator that never waits must not starve other work.
        if (count % stepsPerTurn === 0) await nextTurn();
      }
    } catch (cause) {
      this.failure = { cause };
      this.#announce();
    }
    this.#isStarted();
  }

  #announce(): void {
    this.#isStarted();
    for (const changed of [...this.watchers]) changed();
  }
}

/** The newest items of subscriptions as values: for each path and caller, one subscription for all watchers. */
export class NewestItems {
  readonly #open = new Map<string, NewestItem>();
  /** The last ids of failed subscriptions, which the next watcher continues; the oldest first. */
  readonly #failed = new Map<string, string>();

  /** Calls `changed` after each item. Returns a function that stops it, and ends the subscription after the last watcher. */
  watch(
    path: string,
    procedure: RpcProcedure,
    watcher: { readonly caller: Caller; readonly changed: () => void },
  ): () => void {
    const { caller } = watcher;
    const key = toKey(path, caller);
    let open = this.#open.get(key);
    // Watchers of a failed one leave when they read it.
    if (open === undefined || open.failure !== undefined) {
      open = new NewestItem(procedure, caller, open?.lastId ?? this.#failed.get(key));
      this.#failed.delete(key);
      this.#open.set(key, open);
    }
    const mine = open;
    const changed = (): void => watcher.changed();
    mine.watchers.add(changed);
    return () => {
      if (!mine.watchers.delete(changed) || mine.watchers.size > 0) return;
      if (this.#open.get(key) === mine) this.#close(key, mine);
      endUnawaited(mine.items);
    };
  }

  #close(key: string, { failure, lastId }: NewestItem): void {
    this.#open.delete(key);
    if (failure === undefined || lastId === undefined) return;
    this.#failed.set(key, lastId);
    const [oldest = key] = this.#failed.keys();
    if (this.#failed.size > maxFailed) this.#failed.delete(oldest);
  }

  /**
   * Returns the newest item of a watched subscription, or else the first of a new one; `undefined` if none comes within a second.
   *
   * @throws what the procedure has thrown.
   */
  async read(path: string, procedure: RpcProcedure, call: RpcCall): Promise<{ readonly item: unknown } | undefined> {
    const key = toKey(path, call.caller);
    const open = this.#open.get(key);
    if (open === undefined) return readFirst(new SubscriptionItems(procedure, procedure.input.empty(), call));
    await atMost(open.first, firstItemMs);
    if (open.failure !== undefined) throw open.failure.cause;
    return open.newest;
  }
}

function toKey(path: string, caller: Caller): string {
  return `${path} ${visibleKey(caller)}`;
}

async function readFirst(items: SubscriptionItems): Promise<{ readonly item: unknown } | undefined> {
  const next = items.next();
  // It may reject after the wait.
  next.catch(ignore);
  try {
    const step = await atMost(next, firstItemMs);
    return step === undefined || step.done === true ? undefined : { item: step.value };
  } finally {
    endUnawaited(items);
  }
}
