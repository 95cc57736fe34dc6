import type { RequestId } from "../protocol.ts";
import type { ResourceWatcher } from "../servable-app.ts";
import { renderChange } from "./notices.ts";
import type { Notice, Outbox } from "./outbox.ts";
import { watchTopic, type Topic, type TopicEvents } from "./topic.ts";

/** What the watches of one caller over one output share. */
export interface WatchShared {
  readonly resources: ResourceWatcher;
  readonly outbox: Outbox;
  readonly send: (json: string) => void;
}

/**
 * One topic that one subscriber watches. What changes before the subscriber was told that it is subscribed is announced
 * behind that. Whoever opens it closes it.
 */
export class TopicWatch implements Notice, TopicEvents {
  readonly topic: Topic;
  readonly #shared: WatchShared;
  readonly #subscriptionId: RequestId | undefined;
  #isOpen = false;
  #stop: (() => void) | undefined;
  #isThere: boolean | undefined;
  /** Told when it becomes known whether there is anything. */
  onOpened: (() => void) | undefined;
  #isTold = false;
  /** There is something to announce which nobody else will. */
  #isOwed = false;

  /** @param subscriptionId - names the subscription in every notice; left out in the legacy era. */
  constructor(shared: WatchShared, topic: Topic, subscriptionId?: RequestId) {
    this.#shared = shared;
    this.topic = topic;
    this.#subscriptionId = subscriptionId;
  }

  /** Whether it watches. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether there is anything under the topic; `undefined` until that is known. Once it is, no change is missed. */
  get isThere(): boolean | undefined {
    return this.#isThere;
  }

  /** Starts to watch. Says whether there may be anything under the topic. Callable again after {@link close}. */
  open(): boolean {
    if (this.#isOpen) return true;
    this.#isOpen = true;
    const stop = watchTopic(this.topic, this.#shared.resources, this);
    // Closed already where it was told of something, and that led to its end.
    if (stop === undefined || !this.#isOpen) this.close();
    if (this.#isOpen) this.#stop = stop;
    else stop?.();
    return this.#isOpen;
  }

  /** Its subscriber knows that it is subscribed, and counts on hearing of every change from here on. */
  tell(): void {
    this.#isTold = true;
    this.#settleDebt();
  }

  /** Stops watching; nothing of it is written any more, not even what was kept for later. Callable twice. */
  close(): void {
    this.#isOpen = false;
    this.#isOwed = false;
    this.#isThere = undefined;
    this.onOpened = undefined;
    this.#shared.outbox.drop(this);
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
  }

  changed(): void {
    if (!this.#isOpen) return;
    this.#isOwed = true;
    this.#settleDebt();
  }

  opened(isThere: boolean): void {
    if (!this.#isOpen || this.#isThere !== undefined) return;
    this.#isThere = isThere;
    const wasTold = this.#isTold;
    this.onOpened?.();
    if (!wasTold) return;
    // It was told too early: what changed since then went by unseen. A notice that follows at once is that of this.
    this.#isOwed = true;
    queueMicrotask(() => this.#settleDebt());
  }

  write(): void {
    this.#shared.send(renderChange(this.topic, this.#subscriptionId));
  }

  #settleDebt(): void {
    if (!this.#isOwed || !this.#isTold) return;
    this.#isOwed = false;
    this.#shared.outbox.post(this);
  }
}
