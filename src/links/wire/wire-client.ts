import { SurfaceError, type Refusal } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { toAborted } from "../../spine/signals.ts";
import type { Carry, Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../../surface/channel.ts";
import type { Surface } from "../../surface/define-surface.ts";
import { onRejection } from "../../surface/fault.ts";
import type { Spec } from "../../surface/member.ts";
import type { ClientSession } from "./client-session.ts";
import { ClientStream, skipped, type ReadItem } from "./client-stream.ts";
import { toMemberCodec, type MemberCodec } from "./member-codec.ts";
import { toPartCodec, type PartCodec } from "./part-codec.ts";
import type { PeerContract } from "./contract.ts";
import { methods, newestWindow, streamWindow, type RpcError } from "./protocol.ts";
import { SentRequest, type RequestFields } from "./sent-request.ts";
import { toCallerJson } from "./wire-caller.ts";
import { readErrorAnswer } from "./wire-fault.ts";

/** Codes of calls that a closing application cuts off: the outcome of a call that changes something is unknown. */
const cutCodes: ReadonlySet<string> = new Set(["CLOSED", "OUTCOME_UNKNOWN"]);

/** An operation that is ready to be sent. */
interface Prepared {
  /** Its name in errors. */
  readonly what: string;
  readonly codec: MemberCodec;
  readonly answer: PartCodec;
  readonly params: JsonObject;
}

/** Returns a reader of the items of a watch, mapped by `to`, that skips repeated ones. */
function readDistinct(readItem: ReadItem, to: Carry): ReadItem {
  let last: unknown = skipped;
  return (item) => {
    const value = to(readItem(item));
    if (Object.is(value, last)) return skipped;
    last = value;
    return value;
  };
}

/** Reads an answer of the far side. @throws SurfaceError `INVALID_OUTPUT` that names the member. */
function read(codec: PartCodec, part: unknown, what: string): unknown {
  try {
    return codec.receive(part);
  } catch (cause) {
    const issues = cause instanceof SurfaceError ? cause.issues : [];
    throw new SurfaceError("INVALID_OUTPUT", `Using ${what}: the answer does not fit its schema`, { issues, cause });
  }
}

/** The functions that settle a promise. */
interface Settle {
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** Reads the answer of a request. */
interface AnswerUse {
  readonly client: WireClient;
  readonly prepared: Prepared;
  /** The progress token, if there is a listener, or the number of the stream. */
  readonly token: number | undefined;
}

/** An operation that is answered once. */
class AskRequest extends SentRequest {
  readonly #use: AnswerUse;
  readonly #settle: Settle;

  constructor(setting: RequestFields, use: AnswerUse, settle: Settle) {
    super(setting);
    this.#use = use;
    this.#settle = settle;
  }

  protected answered(result: unknown): void {
    this.#use.client.unlisten(this.#use.token);
    try {
      this.#settle.resolve(this.#use.client.readAnswer(result, this.#use.prepared));
    } catch (cause) {
      this.#settle.reject(cause);
    }
  }

  protected refused(error: RpcError): void {
    this.#use.client.unlisten(this.#use.token);
    this.#settle.reject(this.#use.client.toCause(error, this.#use.prepared));
  }

  protected failed(cause: SurfaceError): void {
    this.#use.client.unlisten(this.#use.token);
    this.#settle.reject(cause);
  }
}

/** Reads the answer of a stream's request. */
interface FollowUse extends AnswerUse {
  readonly stream: ClientStream;
}

/** An operation whose answer is the end of a stream. */
class FollowRequest extends SentRequest {
  readonly #use: FollowUse;
  readonly #signal: AbortSignal | undefined;

  constructor(setting: RequestFields, use: FollowUse) {
    super(setting);
    this.#use = use;
    this.#signal = setting.signal;
  }

  protected answered(): void {
    this.#use.client.unlisten(this.#use.token);
    this.#use.stream.finish();
  }

  protected refused(error: RpcError): void {
    this.#use.client.unlisten(this.#use.token);
    this.#use.stream.finish(this.#use.client.toCause(error, this.#use.prepared));
  }

  protected failed(cause: SurfaceError): void {
    this.#use.client.unlisten(this.#use.token);
    // A consumer that has left, or closed the connection, gets no error.
    if (this.#signal?.aborted === true || this.#use.client.isClosed) this.#use.stream.abandon();
    else this.#use.stream.finish(cause);
  }
}

/** Dependencies of a {@link WireClient}. */
export interface WireClientDeps {
  readonly surface: Surface<Spec>;
  readonly session: ClientSession;
  readonly contract: PeerContract;
}

/** The channel of a surface over a session. */
export class WireClient implements SurfaceChannel {
  readonly #setting: WireClientDeps;
  readonly #surface: Surface<Spec>;
  readonly #session: ClientSession;
  readonly #contract: PeerContract;
  readonly #to: Carry | undefined;

  /** @param to - maps the values; see {@link as}. */
  constructor(setting: WireClientDeps, to?: Carry) {
    this.#setting = setting;
    this.#surface = setting.surface;
    this.#session = setting.session;
    this.#contract = setting.contract;
    this.#to = to;
  }

  /** Whether this side has closed the connection. */
  get isClosed(): boolean {
    return this.#session.isClosed;
  }

  as(to: Carry): SurfaceChannel {
    return new WireClient(this.#setting, to);
  }

  request(operation: Operation<RequestVerb>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const prepared = this.#prepare(operation);
      const { what } = prepared;
      // Read once: a getter may create the signal.
      const { signal } = operation.options;
      if (signal?.aborted === true) throw toAborted(signal, `Using ${what}`);
      const caller = toCaller(operation, what);
      const token = this.#listen(operation, prepared);
      const params = {
        ...prepared.params,
        ...toOptions(operation),
        ...(caller === undefined ? {} : { caller }),
        ...(token === undefined ? {} : { progress: token }),
      };
      const setting = { method: methods.ask, params, what, signal };
      this.#session.send(new AskRequest(setting, { client: this, prepared, token }, { resolve, reject }));
    });
  }

  subscribe(operation: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    const window = operation.verb === "open" ? streamWindow : newestWindow;
    let request: SentRequest | undefined;
    let token: number | undefined;
    return new ClientStream({
      window,
      open: (stream) => {
        const prepared = this.#prepare(operation);
        const { what } = prepared;
        const { signal } = operation.options;
        token = this.#session.listen(stream);
        const params = { ...prepared.params, stream: token, credit: window };
        const setting = { method: methods.follow, params, what, signal };
        request = new FollowRequest(setting, { client: this, prepared, token, stream });
        this.#session.send(request);
        const readItem: ReadItem = (item) => read(prepared.answer, item, what);
        return this.#to === undefined ? readItem : readDistinct(readItem, this.#to);
      },
      grant: (credit) => {
        if (token !== undefined) this.#session.grant(token, credit);
      },
      stop: () => request?.cancel(new SurfaceError("ABORTED", "Iterating: the consumer has left")),
    });
  }

  /** Reads a result for the caller. */
  readAnswer(result: unknown, { answer, what }: Prepared): unknown {
    const carried = read(answer, result, what);
    return this.#to === undefined ? carried : this.#to(carried);
  }

  /** Removes the listener of a token. */
  unlisten(token: number | undefined): void {
    if (token !== undefined) this.#session.unlisten(token);
  }

  /** Returns the error of this side for an error of the far side. */
  toCause(error: RpcError, { what, codec }: Prepared): SurfaceError | Refusal {
    const refusal = this.#session.refusalOf(error, what);
    if (refusal !== undefined) return refusal;
    const { errors } = codec.schemas;
    const cause = readErrorAnswer(error, what, (code, details) => readDetails(errors, code, details));
    // The call was running when the application closed: it fails as the calls that the end of the connection cuts off.
    if (cause instanceof SurfaceError && cutCodes.has(cause.code) && this.#session.isLeaving) {
      return new SurfaceError("DISCONNECTED", `Using ${what}: the application closed before the answer`);
    }
    return cause;
  }

  /** @throws SurfaceError if it cannot be sent. */
  #prepare({ verb, member: key, argument }: Operation<RequestVerb | SubscribeVerb>): Prepared {
    const what = `"${key}" of surface "${this.#surface.name}"`;
    const refusal = this.#session.refusal();
    if (refusal !== undefined) throw refusal;
    const member = this.#contract.member(key, what);
    const codec = toMemberCodec(member, key);
    const answer = codec.answer(verb);
    if (answer === undefined) throw new SurfaceError("WRONG_KIND", `Using ${what}: a ${member.kind} has no "${verb}"`);
    const json = codec.encodeArgument(verb, argument);
    return { what, codec, answer, params: { verb, member: key, ...(json === undefined ? {} : { argument: json }) } };
  }

  /** Listens to the progress of a call, if it has a listener. Returns the progress token. */
  #listen(use: Operation<RequestVerb>, { codec, what }: Prepared): number | undefined {
    const { onProgress } = use.options;
    if (onProgress === undefined || use.verb !== "call") return undefined;
    const progress = toPartCodec(codec.schemas.progress);
    return this.#session.listen({
      take(part) {
        try {
          // Neither a failing listener nor invalid progress fails the call.
          onRejection(onProgress(read(progress, part, what)), () => {});
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

function toOptions({ options: { timeoutMs, since } }: Operation<RequestVerb>): JsonObject {
  if (timeoutMs === undefined && since === undefined) return {};
  return {
    options: { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(since === undefined ? {} : { since }) },
  };
}

function readDetails(errors: MemberCodec["schemas"]["errors"], code: string, details: JsonValue): unknown {
  const schema = errors[code];
  if (schema === undefined) return details;
  try {
    return toPartCodec(schema).receive({ value: details });
  } catch {
    // Withheld, as owners withhold invalid details.
    return undefined;
  }
}
