import { clientKinds } from "../mcp/asking/client-kinds.ts";
import { PushedAsks, type SendAsk } from "../mcp/asking/pushed-asks.ts";
import type { AskPort } from "../call/ask-port.ts";
import type { FrameLimits } from "../mcp/parse-frame.ts";
import type { JsonObject } from "../schema/json.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { anything, outerTimeoutMs, type V1Extra } from "./v1-extra.ts";
import { toResponse } from "./v1-frame.ts";
import type { V1Port } from "./v1-port.ts";

/** Asks the client one thing, and resolves with its answer, until the signal says that nobody waits for it any more. */
type Request = (request: object, signal: AbortSignal) => Promise<unknown>;

/** What the questions to the client of one server are made of. */
export interface V1QuestionsSetting {
  readonly port: V1Port;
  /** How large an answer may be. */
  readonly limits: FrameLimits;
  readonly report: FaultReporter;
}

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
  readonly #limits: FrameLimits;
  /** Ends what the SDK waits for, by our ids. */
  readonly #open = new Map<string, AbortController>();

  constructor({ port, limits, report }: V1QuestionsSetting) {
    this.#limits = limits;
    this.#asks = new PushedAsks({
      kinds: () => clientKinds(port.clientCapabilities),
      send: this.#sendBy((request, signal) => port.request(request, signal)),
      report,
    });
  }

  /** How the client of one request is asked: where that came from. */
  portFor(extra: V1Extra): AskPort {
    return this.#asks.portFor(
      this.#sendBy((request, signal) => extra.sendRequest(request, anything, { timeout: outerTimeoutMs, signal })),
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

  /** Rejects whatever is open, and all that is asked later: the server stays, and tells its client. Callable twice. */
  close(): void {
    this.#asks.drain();
  }

  #sendBy(ask: Request): SendAsk {
    return (json) => {
      // Ours: a question, or that one is given up.
      const { id, method, params } = JSON.parse(json) as { id?: string; method: string; params?: JsonObject };
      if (id === undefined) return this.#takeBack(params);
      void this.#ask(id, (signal) => ask(params === undefined ? { method } : { method, params }, signal));
    };
  }

  async #ask(id: string, ask: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    try {
      const result = await ask(controller.signal);
      this.#asks.answer(toResponse(id, result, this.#limits));
    } catch (cause) {
      this.#asks.answer({ kind: "response", id, error: toError(cause) });
    } finally {
      this.#open.delete(id);
    }
  }

  /** Has the SDK tell its client so, under the id that the question has there. */
  #takeBack(params: JsonObject | undefined): void {
    const id = params?.["requestId"];
    if (typeof id === "string") this.#open.get(id)?.abort(params?.["reason"]);
  }
}
