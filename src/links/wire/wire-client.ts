import { SurfaceError, type Refusal } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { ended, NextQueue, type Pushing, type Sink } from "../../spine/pushing.ts";
import type { ValueMapper, Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../../surface/channel.ts";
import { handleRejection } from "../../surface/fault.ts";
import { readTraceContext } from "../../surface/trace-context.ts";
import { SentRequest, type ClientSession, type Listener, type Prepared } from "./client-session.ts";
import { toPartCodec, type PartCodec } from "./member-codec.ts";
import { methods, newestWindow, streamWindow, WireError } from "./protocol.ts";
import { toCallerJson } from "./request-params.ts";

/** Reads a value of the far side. @throws SurfaceError `INVALID_OUTPUT` that names the member. */
function readPart(codec: PartCodec, part: unknown, what: string): unknown {
  try {
    return codec.receive(part);
  } catch (cause) {
    const issues = cause instanceof SurfaceError ? cause.issues : [];
    throw new SurfaceError("INVALID_OUTPUT", `Cannot use ${what}: the answer does not fit its schema`, {
      issues,
      cause,
    });
  }
}

/** Dependencies of an {@link AskRequest}. */
interface AskDeps {
  readonly session: ClientSession;
  readonly prepared: Prepared;
  readonly to: ValueMapper | undefined;
  /** The progress token, if there is a listener. */
  readonly token: number | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** An operation that is answered once. */
class AskRequest extends SentRequest {
  readonly #deps: AskDeps;

  constructor(deps: AskDeps) {
    super();
    this.#deps = deps;
  }

  protected settled(outcome: unknown): void {
    const { session, prepared, to, token, resolve, reject } = this.#deps;
    session.unlisten(token);
    if (outcome instanceof SurfaceError) return reject(outcome);
    if (outcome instanceof WireError) return reject(session.toCause(outcome, prepared));
    try {
      const value = readPart(prepared.answer, outcome, prepared.what);
      resolve(to === undefined ? value : to(value));
    } catch (cause) {
      reject(cause);
    }
  }
}

/** Stands for a repeated item, which no consumer gets. */
const repeated: unique symbol = Symbol("repeated");

/**
 * The iteration of one consumer over the items of a subscription, and its request, whose answer is the end. The far side sends as many
 * items as it has credit for. Items are read when the consumer takes them; while it takes none, no more than the window is sent.
 */
class ClientStream extends SentRequest implements AsyncIterableIterator<unknown>, Pushing<unknown>, Listener {
  readonly #session: ClientSession;
  readonly #operation: Operation<SubscribeVerb>;
  readonly #to: ValueMapper | undefined;
  /** Most items under way. */
  readonly #window: number;
  readonly #nexts = new NextQueue(this);
  readonly #items: JsonObject[] = [];
  #prepared: Prepared | undefined;
  #signal: AbortSignal | undefined;
  #stream: number | undefined;
  #sink: Sink<unknown> | undefined;
  #last: unknown = repeated;
  #taken = 0;
  #end: { readonly cause: SurfaceError | Refusal | undefined } | undefined;

  /** @param to - maps the items; items that are then the same as before are left out. */
  constructor(session: ClientSession, operation: Operation<SubscribeVerb>, to: ValueMapper | undefined) {
    super();
    this.#session = session;
    this.#operation = operation;
    this.#to = to;
    this.#window = operation.verb === "open" ? streamWindow : newestWindow;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get canPush(): boolean {
    return this.#sink === undefined;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#nexts.next();
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#leave();
    return ended;
  }

  push(sink: Sink<unknown>): void {
    this.#sink = sink;
    try {
      if (this.#end === undefined) this.#open();
    } catch (cause) {
      return this.#fail(cause);
    }
    this.resume();
  }

  resume(): void {
    while (this.#items.length > 0 && this.#sink?.isFull === false) this.#hand(this.#sink);
    if (this.#end === undefined || this.#items.length > 0) return;
    const sink = this.#sink;
    if (sink?.isFull !== false) return;
    this.#sink = undefined;
    const { cause } = this.#end;
    if (cause === undefined) sink.ended();
    else sink.failed(cause);
  }

  /** Takes an item. Returns `false` if it was sent without credit. */
  take(item: JsonObject): boolean {
    if (this.#end !== undefined) return true;
    if (this.#items.length + this.#taken >= this.#window) return false;
    this.#items.push(item);
    this.resume();
    return true;
  }

  protected settled(outcome: unknown): void {
    if (outcome instanceof WireError)
      return this.#finish(this.#prepared && this.#session.toCause(outcome, this.#prepared));
    if (!(outcome instanceof SurfaceError)) return this.#finish();
    // A consumer that has left, or closed the connection, gets no error.
    if (this.#signal?.aborted !== true && !this.#session.isClosed) return this.#finish(outcome);
    this.#items.length = 0;
    this.#finish();
  }

  #open(): void {
    const prepared = this.#session.prepare(this.#operation);
    const { what, params } = prepared;
    // Read once: a getter may create it.
    const { signal } = this.#operation.options;
    const stream = this.#session.listen(this);
    this.#signal = signal;
    this.#stream = stream;
    this.#prepared = prepared;
    const fields = {
      method: methods.follow,
      what,
      by: { signal },
      params: { ...params, stream, credit: this.#window },
    };
    this.#session.send(this, fields);
  }

  /** Ends it, after the items that have come. */
  #finish(cause?: SurfaceError | Refusal): void {
    this.#session.unlisten(this.#stream);
    this.#end ??= { cause };
    this.resume();
  }

  #hand(sink: Sink<unknown>): void {
    let value: unknown;
    try {
      value = this.#read(this.#items.shift());
    } catch (cause) {
      return this.#fail(cause);
    }
    if (value !== repeated) sink.value(value);
    this.#giveBack();
  }

  #read(item: JsonObject | undefined): unknown {
    if (item === undefined || this.#prepared === undefined) return repeated;
    const { answer, what } = this.#prepared;
    const value = readPart(answer, item, what);
    if (this.#to === undefined) return value;
    const mapped = this.#to(value);
    if (Object.is(mapped, this.#last)) return repeated;
    this.#last = mapped;
    return mapped;
  }

  #fail(cause: unknown): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#leave();
    sink?.failed(cause);
  }

  /** Gives credit back by halves of the window: a message an item would cost as much as the item. */
  #giveBack(): void {
    this.#taken += 1;
    if (this.#stream === undefined || this.#end !== undefined || this.#taken * 2 < this.#window) return;
    const credit = this.#taken;
    this.#taken = 0;
    this.#session.grant(this.#stream, credit);
  }

  #leave(): void {
    const isOpen = this.#prepared !== undefined && this.#end === undefined;
    this.#items.length = 0;
    this.#finish();
    if (isOpen) this.cancel(new SurfaceError("ABORTED", "Cannot iterate: the consumer has left"));
  }
}

/** The channel of a surface over a session. */
export class WireClient implements SurfaceChannel {
  readonly #session: ClientSession;
  readonly #to: ValueMapper | undefined;

  /** @param to - maps the values; see {@link as}. */
  constructor(session: ClientSession, to?: ValueMapper) {
    this.#session = session;
    this.#to = to;
  }

  as(to: ValueMapper): SurfaceChannel {
    return new WireClient(this.#session, to);
  }

  request(operation: Operation<RequestVerb>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const session = this.#session;
      const prepared = session.prepare(operation);
      const { what, params } = prepared;
      const options = toOptions(operation);
      if (options !== undefined) params["options"] = options;
      const caller = toCaller(operation, what);
      if (caller !== undefined) params["caller"] = caller;
      const trace = toTrace(operation);
      if (trace !== undefined) params["trace"] = trace;
      const token = this.#listen(operation, prepared);
      if (token !== undefined) params["progress"] = token;
      const request = new AskRequest({ session, prepared, to: this.#to, token, resolve, reject });
      session.send(request, { method: methods.ask, params, what, by: operation.options });
    });
  }

  subscribe(operation: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    return new ClientStream(this.#session, operation, this.#to);
  }

  /** Listens to the progress of a call, if its caller does. Returns the progress token. */
  #listen({ verb, options }: Operation<RequestVerb>, { codec, what }: Prepared): number | undefined {
    const { onProgress } = options;
    if (onProgress === undefined || verb !== "call") return undefined;
    const progress = toPartCodec(codec.schemas.progress);
    return this.#session.listen({
      take(part) {
        try {
          // Neither a failing listener nor invalid progress fails the call.
          handleRejection(onProgress(readPart(progress, part, what)), () => {});
        } catch {
          // As above.
        }
        return true;
      },
    });
  }
}

/** @throws SurfaceError `INVALID_OPTION`. */
function toCaller({ verb, options: { caller } }: Operation<RequestVerb>, what: string): JsonObject | undefined {
  return verb !== "call" || caller === undefined ? undefined : toCallerJson(caller, what);
}

/** Returns the trace context of a call, checked, since the author's code may pass any headers. */
function toTrace({ verb, options: { trace } }: Operation<RequestVerb>): JsonObject | undefined {
  const valid = verb !== "call" || trace === undefined ? undefined : readTraceContext(trace);
  return valid && { ...valid };
}

function toOptions({ options: { timeoutMs, since } }: Operation<RequestVerb>): JsonObject | undefined {
  if (timeoutMs === undefined && since === undefined) return undefined;
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(since === undefined ? {} : { since }) };
}
