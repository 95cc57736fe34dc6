import type { AskPort } from "../../call/ask-port.ts";
import { CallContext } from "../../call/call-context.ts";
import type { AskKind } from "../../catalog/asking.ts";
import type { Caller } from "../../surface/caller.ts";
import { PushedAsks } from "../../mcp/asking/pushed-asks.ts";
import { ClientLog, renderLogged } from "../../mcp/client-log.ts";
import { ownParam, type RpcAnswer } from "../../mcp/protocol.ts";
import type { ResponseFrame } from "../../mcp/parse-frame.ts";
import { toProgressSink } from "../../mcp/progress-sink.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { PostedRequest } from "./posted-request.ts";
import type { SessionStreams } from "./session-streams.ts";

/** What the calls of one session share: the level of its log, and what its client is asked. Whoever made it closes it. */
export class SessionCalls {
  readonly #streams: SessionStreams;
  readonly #kinds: ReadonlySet<AskKind>;
  /** Made with the first call that may ask. */
  #asks: PushedAsks | undefined;
  #log: ClientLog | undefined;
  #isClosed = false;

  /** @param kinds - kinds of questions that the client can answer. */
  constructor(streams: SessionStreams, kinds: ReadonlySet<AskKind>) {
    this.#streams = streams;
    this.#kinds = kinds;
  }

  /** Whether its client has yet to answer something. */
  get isAsking(): boolean {
    return this.#asks !== undefined && this.#asks.size > 0;
  }

  /** Makes the call of one request: what it tells goes out on its own stream, or on that of what belongs to no request. */
  open(posted: PostedRequest): CallContext {
    const { token, post } = posted;
    const { http } = this.#streams;
    // What belongs to a request that is answered in one piece goes where what belongs to none does.
    const { tell, isFull } = token === undefined ? this.#streams : posted;
    const log = http.runtime.logs ? this.#ownLog() : undefined;
    return new CallContext({
      sink: token === undefined ? undefined : toProgressSink(token, { send: tell, isFull }),
      log: log?.sinkFor("legacy", undefined, { send: (params) => tell(renderLogged(params)), isFull }),
      caller: post.caller,
      limiter: http.limiter,
      asking: this.#portOf(posted),
      reached: (stage) => {
        http.counters.reached(stage);
        if (stage === "backend") posted.begun();
      },
    });
  }

  /** Whether the call of a request is to end when its client drops the connection. */
  endsOnDrop({ frame, view }: PostedRequest): boolean {
    const name = frame.method === "tools/call" ? ownParam(frame.params, "name") : undefined;
    return typeof name === "string" && view.catalog.tool(name)?.onDisconnect === "abort";
  }

  /** Answers `logging/setLevel`. */
  setLevel(params: JsonObject | undefined): RpcAnswer {
    return this.#ownLog().setLevel(params);
  }

  /** Its client has answered something. */
  answered(frame: ResponseFrame, by: Caller): void {
    this.#asks?.answer(frame, by);
  }

  /** Takes a notification of the client. */
  notified(method: string): void {
    this.#asks?.notified(method);
  }

  /** Nobody asks the client any more, which is still there. */
  drain(): void {
    this.#isClosed = true;
    this.#asks?.drain();
  }

  /** Nobody is there to be asked any more. Callable twice. */
  close(): void {
    this.#isClosed = true;
    this.#asks?.close();
  }

  /** Returns how the client is asked within a request, or `undefined` for a client that answers no questions, as most. */
  #portOf({ ask, post }: PostedRequest): AskPort | undefined {
    if (this.#kinds.size === 0) return undefined;
    this.#asks ??= this.#createAsks();
    return this.#asks.portFor(ask, post.caller);
  }

  #createAsks(): PushedAsks {
    const { tell: send, http } = this.#streams;
    const { runtime } = http;
    const asks = new PushedAsks({ kinds: () => this.#kinds, send, report: runtime.report });
    if (this.#isClosed) asks.close();
    return asks;
  }

  #ownLog(): ClientLog {
    this.#log ??= new ClientLog();
    return this.#log;
  }
}
