import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Handler } from "./handlers.ts";
import { createHandshake, legacyVersions } from "./handshake.ts";
import { downgrade } from "./protocol-features.ts";
import { rpcCodes, toRpcError, type Era, type McpRequest, type RpcAnswer } from "./protocol.ts";
import type { AppRuntime } from "./servable-app.ts";

/** What an era does not know, although it is answered here: each has a handshake of its own. */
const foreign: Readonly<Record<Era, ReadonlySet<string>>> = {
  legacy: new Set(["server/discover"]),
  modern: new Set(["initialize", "logging/setLevel"]),
};

/** Where a request waits for its turn: behind calls, which may take minutes, or behind reads; others do not wait. */
export type Turn = "calls" | "reads" | "none";

/** The methods that handlers answer: those of the app, the handshakes, and those of one connection. */
export class Methods {
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #turns: ReadonlyMap<string, Turn>;

  /** @param own - what belongs to one connection, such as the level of its log. */
  constructor(runtime: AppRuntime, own: Readonly<Record<string, Handler>> = {}) {
    this.#handlers = new Map(Object.entries({ ...runtime.handlers, ...createHandshake(runtime), ...own }));
    this.#turns = new Map<string, Turn>([
      ["tools/call", "calls"],
      ["prompts/get", "calls"],
      ["resources/read", "reads"],
      ["completion/complete", "reads"],
      // Read from the application where it can change.
      ["resources/list", runtime.changing.has("resources") ? "reads" : "none"],
    ]);
  }

  /** Returns the handler of a method, or `undefined` if the app or the era does not have the method. */
  find(method: string, era: Era): Handler | undefined {
    return foreign[era].has(method) ? undefined : this.#handlers.get(method);
  }

  /** Where a request of this method waits. */
  turnOf(method: string): Turn {
    return this.#turns.get(method) ?? "none";
  }
}

/** Returns whether a request of this method gets an empty result in this era. */
export function isNod(method: string, era: Era): boolean {
  return method === "shutdown" || (method === "ping" && era === "legacy");
}

/** What a method's failure is answered with: a code that names the one entry in the log. */
export function toInternalAnswer(cause: unknown, method: string, report: FaultReporter): RpcAnswer {
  const { correlationId } = internalError(cause, `method "${method}"`, report);
  return toRpcError(rpcCodes.internal, "Internal error", { correlationId });
}

/** A method, and what it is asked. */
export interface Asked {
  readonly method: string;
  readonly handler: Handler;
  readonly params: JsonObject | undefined;
  readonly request: McpRequest;
  readonly report: FaultReporter;
}

/**
 * Answers a request, at once where its handler does: what waited for nothing must not let others overtake it. Neither throws
 * nor rejects: what a handler lets through is answered with an internal error.
 */
export function answerAsked(asked: Asked): RpcAnswer | Promise<RpcAnswer> {
  const { method, handler, params, request, report } = asked;
  try {
    const answering = handler(params, request);
    const { version } = request;
    const isOld = version !== undefined && version !== legacyVersions[0];
    if (!(answering instanceof Promise)) return isOld ? downgrade(answering, version) : answering;
    const known = isOld ? answering.then((answer) => downgrade(answer, version)) : answering;
    return known.catch((cause: unknown) => toInternalAnswer(cause, method, report));
  } catch (cause) {
    return toInternalAnswer(cause, method, report);
  }
}
