import type { AskPort } from "../call/ask-port.ts";
import { clientKinds } from "../mcp/asking/ask-protocol.ts";
import { PushedAsks, type SendAsk } from "../mcp/asking/pushed-asks.ts";
import type { FrameLimits } from "../mcp/parse-frame.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { anything, outerTimeoutMs, type V1Extra, type V1Port } from "./v1-port.ts";
import { toResponse } from "./v1-messages.ts";

/** A question, or the notification that one is given up. */
interface SentAsk {
  readonly id?: string;
  readonly method: string;
  readonly params?: { readonly requestId?: string; readonly reason?: string };
}

type SendRequest = (request: object, signal: AbortSignal) => Promise<unknown>;

/** Returns the code of the client's error. Its message is the client's own and is not handed on. */
function toError(cause: unknown): object {
  const code: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  return Number.isSafeInteger(code) ? { code } : {};
}

/** The questions to the client of one server. The SDK gives them ids of its own and matches the answers. */
export class V1Questions extends PushedAsks {
  readonly #limits: FrameLimits;
  /** Ends the requests of the SDK, by our ids. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(port: V1Port, { limits, report }: Pick<AppRuntime, "limits" | "report">) {
    super({
      kinds: () => clientKinds(port.clientCapabilities),
      send: (json, onDropped) => this.#sendBy((request, signal) => port.request(request, signal))(json, onDropped),
      report,
    });
    this.#limits = limits;
  }

  /** Returns the port of one call: its questions go where its request came from. */
  portTo(extra: V1Extra): AskPort {
    return this.portFor(
      this.#sendBy((request, signal) => extra.sendRequest(request, anything, { timeout: outerTimeoutMs, signal })),
    );
  }

  #sendBy(send: SendRequest): SendAsk {
    return (json) => {
      // Ours.
      const { id, method, params } = JSON.parse(json) as SentAsk;
      if (id === undefined) return this.#waiting.get(params?.requestId ?? "")?.abort(params?.reason);
      void this.#ask(id, (signal) => send(params === undefined ? { method } : { method, params }, signal));
    };
  }

  async #ask(id: string, send: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const controller = new AbortController();
    this.#waiting.set(id, controller);
    try {
      this.answer(toResponse(id, await send(controller.signal), this.#limits));
    } catch (cause) {
      this.answer({ kind: "response", id, error: toError(cause) });
    } finally {
      this.#waiting.delete(id);
    }
  }
}
