import type { RequestId } from "../request-id.ts";
import type { ResourceWatcher } from "../servable-app.ts";
import { renderChange } from "./notices.ts";
import type { Notice, Outbox } from "./outbox.ts";
import { watchTopic, type Topic } from "./topic.ts";

/** What all watches of one connection share. */
export interface WatchShared {
  readonly resources: ResourceWatcher;
  readonly outbox: Outbox;
  readonly send: (json: string) => void;
}

/** One topic that one subscriber watches. Whoever opens it closes it. */
export class TopicWatch implements Notice {
  readonly topic: Topic;
  readonly #shared: WatchShared;
  readonly #subscriptionId: RequestId | undefined;
  #isOpen = false;
  #stop: (() => void) | undefined;

  /** @param subscriptionId - names the subscription in every notice; left out in the legacy era. */
  constructor(shared: WatchShared, topic: Topic, subscriptionId?: RequestId) {
    this.#shared = shared;
    this.topic = topic;
    this.#subscriptionId = subscriptionId;
  }

  /** Starts to watch. Says whether there is anything under the topic. Callable again after {@link close}. */
  open(): boolean {
    if (this.#isOpen) return true;
    this.#isOpen = true;
    const stop = watchTopic(this.topic, this.#shared.resources, () => {
      if (this.#isOpen) this.#shared.outbox.post(this);
    });
    // Closed already where it was told of a change, and that led to an end.
    if (stop === undefined || !this.#isOpen) this.close();
    if (this.#isOpen) this.#stop = stop;
    else stop?.();
    return this.#isOpen;
  }

  /** Stops watching; nothing of it is written any more, not even what was kept for later. Callable twice. */
  close(): void {
    this.#isOpen = false;
    this.#shared.outbox.drop(this);
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
  }

  write(): void {
    this.#shared.send(renderChange(this.topic, this.#subscriptionId));
  }
}
