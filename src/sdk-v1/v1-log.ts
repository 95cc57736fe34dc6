import type { LogSink } from "../call/call-context.ts";
import { ClientLog, renderLogged } from "../mcp/client-log.ts";
import type { RpcAnswer } from "../mcp/protocol.ts";
import type { JsonObject } from "../schema/json.ts";
import type { V1Extra } from "./v1-extra.ts";
import type { V1Output } from "./v1-output.ts";
import type { V1Port } from "./v1-port.ts";

/** The log of one server's client: by a level of ours, or by that which the server keeps itself. */
export class V1Log {
  readonly #port: V1Port;
  readonly #output: V1Output;
  readonly #isTheirs: boolean;
  readonly #log = new ClientLog();

  /** @param isTheirs - whether the server keeps the level. */
  constructor(port: V1Port, output: V1Output, isTheirs: boolean) {
    this.#port = port;
    this.#output = output;
    this.#isTheirs = isTheirs;
    // Every line is handed on: which of them its client wants to read the server knows.
    if (isTheirs) this.#log.setLevel({ level: "debug" });
  }

  /** Answers `logging/setLevel`. */
  setLevel(params: JsonObject | undefined): RpcAnswer {
    return this.#log.setLevel(params);
  }

  /** Where the call of one request tells it. */
  sinkFor(extra: V1Extra): LogSink | undefined {
    const { isFull } = this.#output;
    const send = this.#isTheirs
      ? (params: string) => this.#output.send(params, (said) => this.#port.log(said, extra.sessionId))
      : (params: string) => this.#output.send(renderLogged(params), (notice) => extra.sendNotification(notice));
    return this.#log.sinkFor("legacy", undefined, { send, isFull });
  }
}
