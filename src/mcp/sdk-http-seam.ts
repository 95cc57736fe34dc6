import { createMcpHandler } from "@modelcontextprotocol/server";
import { isJsonObject } from "../schema/json.ts";
import { internalError } from "../surface/fault.ts";
import { readEvents } from "./read-events.ts";
import { rpcCodes, toRpcError, type RpcAnswer } from "./protocol.ts";
import { SdkErrors } from "./sdk-errors.ts";
import type { SdkAnswer, SdkAsked, SdkExchange } from "./sdk-http-port.ts";
import type { RpcMessage } from "./sdk-port.ts";
import { createSdkServer } from "./sdk-server.ts";
import type { AppRuntime } from "./servable-app.ts";

/** Nobody is asked there: the SDK wants a URL, and looks at its headers alone. */
const url = "http://localhost/mcp";

/** The texts of the messages of a response: one, or as many as it has events. */
async function* readTexts(response: Response): AsyncGenerator<string> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream) yield await response.text();
  else if (response.body !== null) yield* readEvents(response.body);
}

/** One request on its way through the SDK. */
class Passage {
  readonly #runtime: AppRuntime;
  readonly #asked: SdkAsked;
  readonly #errors: SdkErrors;
  /** What our handler answered, where it was one of ours: the SDK hands on no scopes. */
  #answered: RpcAnswer | undefined;

  constructor(runtime: AppRuntime, asked: SdkAsked) {
    this.#runtime = runtime;
    this.#asked = asked;
    this.#errors = new SdkErrors(runtime.report);
  }

  async run(): Promise<SdkAnswer | undefined> {
    const { signal } = this.#asked;
    const response = await this.#fetch();
    for await (const text of readTexts(response)) {
      if (signal.aborted) return undefined;
      // The SDK writes nothing but messages of JSON-RPC.
      const message = JSON.parse(text) as RpcMessage;
      if (!("method" in message)) return this.#toAnswer(message, response.status);
      this.#asked.tell(text);
    }
    return undefined;
  }

  #fetch(): Promise<Response> {
    const { frame, headers, signal } = this.#asked;
    const { id, method, params } = frame;
    const message = params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
    this.#errors.handed(message);
    const { report } = this.#runtime;
    // Made for one request, so that nothing of one can be found by another's id, and nothing has to be closed.
    const handler = createMcpHandler(() => this.#createServer(), {
      legacy: "reject",
      keepAliveMs: 0,
      onerror: (cause) => void (signal.aborted || internalError(cause, "the SDK", report)),
    });
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, signal };
    return handler.fetch(new Request(url, init), { parsedBody: message });
  }

  #createServer(): ReturnType<typeof createSdkServer> {
    const { caller, limiter, reached } = this.#asked;
    return createSdkServer({
      runtime: this.#runtime,
      era: "modern",
      errors: this.#errors,
      asking: { caller: () => caller, limiter, reached },
      onAnswer: (answer) => {
        this.#answered = answer;
      },
    });
  }

  #toAnswer(message: RpcMessage, status: number): SdkAnswer {
    const { error } = this.#errors.toClient(message);
    if (!isJsonObject(error)) return { kind: "result", json: JSON.stringify(message) };
    const told = this.#answered;
    if (told?.kind === "error" && told.scopes !== undefined) return { kind: "error", status: 403, error: told };
    const { code, message: text, data } = error;
    // The SDK checks what it sends against its schema of an error.
    return { kind: "error", status, error: toRpcError(code as number, text as string, data) };
  }
}

/**
 * Has the SDK's HTTP serving answer what our own handlers do not, one request at a time; of subscriptions it never hears,
 * and what it does not serve statelessly it does not serve.
 */
export function createSdkExchange(runtime: AppRuntime): SdkExchange {
  return async (asked) => {
    try {
      return await new Passage(runtime, asked).run();
    } catch (cause) {
      if (asked.signal.aborted) return undefined;
      const { correlationId } = internalError(cause, "the SDK", runtime.report);
      return { kind: "error", status: 500, error: toRpcError(rpcCodes.internal, "Internal error", { correlationId }) };
    }
  };
}
