import type { AskPort } from "../../call/ask-port.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import type { ResponseFrame } from "../parse-frame.ts";

/**
 * Sends a question, as the text of one message.
 *
 * @param onDropped - told where it is thrown away before anybody was sent it.
 */
export type SendAsk = (json: string, onDropped: () => void) => void;

/** What the questions to one client are made of. */
export interface PushedAsksSetting {
  /** What its client said in its handshake that it can do. */
  readonly capabilities: () => JsonObject | undefined;
  /** Where questions go that belong to no request. */
  readonly send: SendAsk;
  readonly clock: Clock;
}

/**
 * The questions to the client of one session or connection of the legacy era: each with an id of its own, matched here and nowhere
 * else. Whoever made it closes it.
 */
export class PushedAsks {
  readonly #setting: PushedAsksSetting;

  constructor(setting: PushedAsksSetting) {
    this.#setting = setting;
  }

  /** How the client of one call is asked. @param send - where its questions go. Default: where those of no request do. */
  portFor(_send: SendAsk = this.#setting.send): AskPort {
    return { kinds: new Set() };
  }

  /** Takes what a client answers; what nobody asked, or waits for any more, is dropped. */
  answer(_frame: ResponseFrame): void {}

  /** Its client says that its roots are others. */
  rootsChanged(): void {}

  /** Rejects whatever is open, and all that is asked later. Callable twice. */
  close(): void {}
}
