import { CallContext, type LogSink } from "../../call/call-context.ts";
import { SurfaceError } from "../../errors.ts";
import { ClientLog, renderLogged } from "../../mcp/client-log.ts";
import { logLevelOf } from "../../mcp/envelope.ts";
import { runMethod, type Method } from "../../mcp/methods.ts";
import { toProgressSink } from "../../mcp/progress-sink.ts";
import type { HttpSetting } from "../setting.ts";
import type { Exchange } from "./exchange.ts";
import type { ModernRequest } from "./modern-request.ts";

/** What answers one exchange. */
export interface Work {
  /** Runs until its exchange is answered: in this turn, if the method waits for nothing. */
  run(): void | Promise<void>;
  /** Tells when nothing of it runs any more, which may be long after it was ended early. */
  whenIdle(told: () => void): void;
  /** Ends it early: its client has left. */
  cancel(): void;
  /** Ends it early: the server is closing. */
  close(): void;
}

/** What work is made of. */
export interface WorkParts {
  readonly request: ModernRequest;
  readonly exchange: Exchange;
  readonly setting: HttpSetting;
}

/** No client of this era has a log of its own: each request says from which level on it wants to hear. */
const log = new ClientLog();

function toLogSink({ request, exchange, setting }: WorkParts): LogSink | undefined {
  if (!setting.runtime.logs || request.answering === "json") return undefined;
  const send = (params: string): void => exchange.tell(renderLogged(params));
  return log.sinkFor("modern", logLevelOf(request.frame.params), { send, isFull: exchange.isFull });
}

/** Creates the work that answers a request by its method. */
export function toHandlerWork(method: Method, parts: WorkParts): Work {
  const { request, exchange, setting } = parts;
  const { runtime, counters, limiter } = setting;
  const { frame, caller, token } = request;
  const { method: name, params } = frame;
  const output = { send: exchange.tell, isFull: exchange.isFull };
  const call = new CallContext({
    sink: token === undefined ? undefined : toProgressSink(token, output),
    log: toLogSink(parts),
    caller,
    reached: counters.reached,
    limiter,
  });
  const asked = { name, method, params, request: { era: "modern", call }, report: runtime.report } as const;
  return {
    run() {
      const answering = runMethod(asked);
      if (answering instanceof Promise) return answering.then((answer) => exchange.answer(answer));
      return exchange.answer(answering);
    },
    whenIdle: (told) => call.whenIdle(told),
    cancel: () => call.cancel(),
    close: () => call.abort(new SurfaceError("CLOSED", "Calling: the server is closing")),
  };
}
