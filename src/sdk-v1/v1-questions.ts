import { PushedAsks, type SendAsk } from "../mcp/asking/pushed-asks.ts";
import type { AskPort } from "../call/ask-port.ts";
import { isJsonObject } from "../schema/json.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { anything, outerTimeoutMs, type V1Extra } from "./v1-extra.ts";
import type { V1Port } from "./v1-port.ts";

/** Asks the client one thing, and resolves with its answer. */
type Request = (request: object) => Promise<unknown>;

/** What an answer with an error says: its code is the client's, and its text nobody's business. */
function toError(cause: unknown): object {
  const code: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  return Number.isSafeInteger(code) ? { code } : {};
}

/**
 * The questions to the client of one server. It is the SDK that gives them ids of its own and matches the answers; what is a
 * question, and how long it may take, is said as everywhere. Whoever made it closes it.
 */
export class V1Questions {
  readonly #asks: PushedAsks;
  readonly #sends: SendAsk;

  constructor(port: V1Port, report: FaultReporter) {
    this.#sends = this.#sendBy((request) => port.request(request));
    this.#asks = new PushedAsks({
      capabilities: () => port.clientCapabilities,
      send: this.#sends,
      clock: systemClock,
      report,
    });
  }

  /** How the client of one request is asked: where that came from. */
  portFor(extra: V1Extra): AskPort {
    return this.#asks.portFor(
      this.#sendBy((request) => extra.sendRequest(request, anything, { timeout: outerTimeoutMs })),
    );
  }

  /** Its client says that its roots are others. */
  rootsChanged(): void {
    this.#asks.rootsChanged();
  }

  /** Keeps what is asked from being sent, for as long as nobody reads it. */
  hold(held: boolean): void {
    this.#asks.hold(held);
  }

  /** Rejects whatever is open, and all that is asked later. Callable twice. */
  close(): void {
    this.#asks.close();
  }

  #sendBy(ask: Request): SendAsk {
    return (json) => {
      const message: unknown = JSON.parse(json);
      // A notice that one is given up has an id that the SDK does not know: it says so itself when its own time is over.
      if (!isJsonObject(message) || message["id"] === undefined) return;
      const { id, method, params } = message;
      const request = params === undefined ? { method } : { method, params };
      ask(request).then(
        (result) => this.#asks.answer({ kind: "response", id, result }),
        (cause: unknown) => this.#asks.answer({ kind: "response", id, error: toError(cause) }),
      );
    };
  }
}
