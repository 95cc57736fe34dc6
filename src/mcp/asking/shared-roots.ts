import type { JsonObject } from "../../schema/json.ts";
import { toAborted, untilAborted } from "../../spine/until-aborted.ts";

/** The largest answer that is kept, in UTF-16 units of its JSON. */
const maxKept = 65_536;

/** A question that is under way, and how many calls wait for it. */
interface Shared {
  readonly answer: Promise<JsonObject>;
  readonly stop: AbortController;
  waiting: number;
}

/** Returns whether an answer is small enough to be kept. One that is too deep to be written is not. */
function isSmall(answer: JsonObject): boolean {
  try {
    return JSON.stringify(answer).length <= maxKept;
  } catch {
    return false;
  }
}

/** The roots of a client: asked once for all calls that wait, and again after they changed. */
export class SharedRoots {
  #known: JsonObject | undefined;
  #asked: Shared | undefined;

  /** @param ask - sends the question, if neither an answer is known nor a question is under way. */
  async get(ask: (signal: AbortSignal) => Promise<JsonObject>, signal: AbortSignal): Promise<JsonObject> {
    if (this.#known !== undefined) return this.#known;
    if (signal.aborted) throw toAborted(signal, "Asking the client");
    const shared = (this.#asked ??= this.#ask(ask));
    shared.waiting += 1;
    try {
      return await untilAborted({ start: () => shared.answer, signal, doing: "Asking the client" });
    } finally {
      shared.waiting -= 1;
      // The last call that leaves cancels the question.
      if (shared.waiting === 0) {
        shared.stop.abort();
        this.#drop(shared);
      }
    }
  }

  /** Forgets the answer, and that of a question under way: the roots may have changed meanwhile. */
  forget(): void {
    this.#known = undefined;
    this.#asked = undefined;
  }

  #ask(ask: (signal: AbortSignal) => Promise<JsonObject>): Shared {
    const stop = new AbortController();
    const shared: Shared = { answer: ask(stop.signal), stop, waiting: 0 };
    const keep = (answer: JsonObject): void => {
      if (this.#asked === shared && isSmall(answer)) this.#known = answer;
      this.#drop(shared);
    };
    shared.answer.then(keep, () => this.#drop(shared));
    return shared;
  }

  #drop(shared: Shared): void {
    if (this.#asked === shared) this.#asked = undefined;
  }
}
