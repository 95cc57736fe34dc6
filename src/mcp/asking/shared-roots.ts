import type { JsonObject } from "../../schema/json.ts";
import { toAborted, untilAborted } from "../../spine/until-aborted.ts";

/** How much of an answer is kept for who asks later, in UTF-16 units of its JSON. */
const maxKept = 65_536;

/** A question that is under way, and how many wait for it. */
interface Shared {
  readonly answer: Promise<JsonObject>;
  readonly stop: AbortController;
  waiting: number;
}

/** Whether an answer is small enough to be kept. What cannot even be written is not. */
function isSmall(answer: JsonObject): boolean {
  try {
    return JSON.stringify(answer).length <= maxKept;
  } catch {
    return false;
  }
}

/** Where a client's user works: asked once for all who want to know at a time, and again when it has changed. */
export class SharedRoots {
  #known: JsonObject | undefined;
  #asked: Shared | undefined;

  /** @param ask - sends the question; used where neither an answer is known nor one is under way. */
  async get(ask: (signal: AbortSignal) => Promise<JsonObject>, signal: AbortSignal): Promise<JsonObject> {
    if (this.#known !== undefined) return this.#known;
    if (signal.aborted) throw toAborted(signal, "Asking the client");
    const shared = (this.#asked ??= this.#ask(ask));
    shared.waiting += 1;
    try {
      return await untilAborted({ start: () => shared.answer, signal, doing: "Asking the client" });
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) this.#leave(shared);
    }
  }

  /** What is known, or is being asked, may be wrong by now: whoever asks from here on is told anew. */
  forget(): void {
    this.#known = undefined;
    this.#asked = undefined;
  }

  #ask(ask: (signal: AbortSignal) => Promise<JsonObject>): Shared {
    const stop = new AbortController();
    const shared: Shared = { answer: ask(stop.signal), stop, waiting: 0 };
    shared.answer.then(
      (answer) => {
        if (this.#asked !== shared) return;
        this.#asked = undefined;
        if (isSmall(answer)) this.#known = answer;
      },
      () => this.#drop(shared),
    );
    return shared;
  }

  /** Nobody waits for it any more. */
  #leave(shared: Shared): void {
    shared.stop.abort();
    this.#drop(shared);
  }

  #drop(shared: Shared): void {
    if (this.#asked === shared) this.#asked = undefined;
  }
}
