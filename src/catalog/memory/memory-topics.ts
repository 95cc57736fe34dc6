import { SurfaceError } from "../../errors.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { assertText } from "./assert-text.ts";
import type { PubSub } from "./memory-context.ts";

/** How many listen at most, to all topics together. */
const maxListeners = 10_000;

/** Topics in memory. One that nobody listens to takes no room. */
export class MemoryTopics implements PubSub {
  readonly #topics = new Map<string, Listeners<unknown>>();
  readonly #report: FaultReporter;
  #count = 0;

  constructor(report: FaultReporter) {
    this.#report = report;
  }

  publish(topic: string, message: unknown): void {
    assertText(topic, "Publishing a message", "its topic");
    this.#topics.get(topic)?.tell(message, (cause) => this.#fail(topic, cause));
  }

  subscribe(topic: string, listener: (message: unknown) => void): () => void {
    assertText(topic, "Listening to a topic", "its name");
    if (typeof listener !== "function") {
      throw new SurfaceError("INVALID_OPTION", `Listening to topic "${topic}": its listener must be a function`);
    }
    if (this.#count >= maxListeners) {
      throw new SurfaceError("OVERFLOW", `Listening to topic "${topic}": ${maxListeners} listen already`);
    }
    const stop = this.#add(topic, listener);
    let isOn = true;
    return () => {
      if (isOn) stop();
      isOn = false;
    };
  }

  #add(topic: string, listener: (message: unknown) => void): () => void {
    const listeners = this.#topics.get(topic) ?? new Listeners<unknown>();
    const remove = listeners.add(listener);
    this.#topics.set(topic, listeners);
    this.#count += 1;
    return () => {
      remove();
      this.#count -= 1;
      // Others of its name may have come since.
      if (listeners.size === 0 && this.#topics.get(topic) === listeners) this.#topics.delete(topic);
    };
  }

  #fail(topic: string, cause: unknown): void {
    internalError(cause, `listener of topic "${topic}"`, this.#report);
  }
}
