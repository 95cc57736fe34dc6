import { SurfaceError, type Refusal } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { toAborted } from "../../spine/signals.ts";
import type { Carry, Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../../surface/channel.ts";
import { memberOf, type Surface } from "../../surface/define-surface.ts";
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

/** Codes of calls that an application cuts off by going: the outcome of a call that does not only read is unknown. */
const cutCodes: ReadonlySet<string> = new Set(["CLOSED", "OUTCOME_UNKNOWN"]);

/** An operation, ready to be sent. */
interface Prepared {
  /** Names it in errors. */
  readonly what: string;
  readonly codec: MemberCodec;
  readonly answer: PartCodec;
  readonly params: JsonObject;
}

/** What reads the items of a watch as `to` makes them, without those that repeat the one before. */
function readDistinct(readItem: ReadItem, to: Carry): ReadItem {
  let last: unknown = skipped;
  return (item) => {
    const value = to(readItem(item));
    if (Object.is(value, last)) return skipped;
    last = value;
    return value;
  };
}

/** Reads an answer of the far side; what does not fit names its member. */
function read(codec: PartCodec, part: unknown, what: string): unknown {
  try {
    return codec.receive(part);
  } catch (cause) {
    const issues = cause instanceof SurfaceError ? cause.issues : [];
    throw new SurfaceError("INVALID_OUTPUT", `Using ${what}: the answer does not fit its schema`, { issues, cause });
  }
}

/** A promise, from the inside. */
interface Settle {
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** How the answer of a request is read. */
interface AnswerUse {
  readonly client: WireClient;
  readonly prepared: Prepared;
  /** The number that its progress is sent to, where there is a listener. */
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

/** The same, and the stream that it ends. */
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
    // Who has left, or closed the connection, is not told that it is gone.
    if (this.#signal?.aborted === true || this.#use.client.isClosed) this.#use.stream.abandon();
    else this.#use.stream.finish(cause);
  }
}

/** What a {@link WireClient} is made of. */
export interface WireClientDeps {
  readonly surface: Surface<Spec>;
  readonly session: ClientSession;
  readonly contract: PeerContract;
}

/** The members of a surface, over a session. */
export class WireClient implements SurfaceChannel {
  readonly #setting: WireClientDeps;
  readonly #surface: Surface<Spec>;
  readonly #session: ClientSession;
  readonly #contract: PeerContract;
  readonly #to: Carry | undefined;

  /** @param to - maps what it carries; see {@link as}. */
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
      // Read once: a signal may be made when it is looked at.
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

  /** Reads a result, as it is handed out. */
  readAnswer(result: unknown, { answer, what }: Prepared): unknown {
    const carried = read(answer, result, what);
    return this.#to === undefined ? carried : this.#to(carried);
  }

  /** Stops listening to messages. */
  unlisten(token: number | undefined): void {
    if (token !== undefined) this.#session.unlisten(token);
  }

  /** Returns the error of this side for an error of the far side. */
  toCause(error: RpcError, { what, codec }: Prepared): SurfaceError | Refusal {
    const refusal = this.#session.refusalOf(error, what);
    if (refusal !== undefined) return refusal;
    const { errors } = codec.schemas;
    const cause = readErrorAnswer(error, what, (code, details) => readDetails(errors, code, details));
    // It was under way when the application went, which is what the end of the connection will say of everything else.
    if (cause instanceof SurfaceError && cutCodes.has(cause.code) && this.#session.isLeaving) {
      return new SurfaceError("DISCONNECTED", `Using ${what}: the application closed before the answer`);
    }
    return cause;
  }

  /** @throws SurfaceError why it cannot be sent. */
  #prepare({ verb, member: key, argument }: Operation<RequestVerb | SubscribeVerb>): Prepared {
    const what = `"${key}" of surface "${this.#surface.name}"`;
    const refusal = this.#session.refusal();
    if (refusal !== undefined) throw refusal;
    this.#contract.assertUsable(key, what);
    const member = memberOf(this.#surface, key);
    if (member === undefined) throw new SurfaceError("UNKNOWN_MEMBER", `Using ${what}: there is no such member`);
    const codec = toMemberCodec(member, key);
    const answer = codec.answer(verb);
    if (answer === undefined) throw new SurfaceError("WRONG_KIND", `Using ${what}: a ${member.kind} has no "${verb}"`);
    const json = codec.encodeArgument(verb, argument);
    return { what, codec, answer, params: { verb, member: key, ...(json === undefined ? {} : { argument: json }) } };
  }

  /** Listens to the progress of a call, where somebody does. Returns the token that it is sent to. */
  #listen(use: Operation<RequestVerb>, { codec, what }: Prepared): number | undefined {
    const { onProgress } = use.options;
    if (onProgress === undefined || use.verb !== "call") return undefined;
    const progress = toPartCodec(codec.schemas.progress);
    return this.#session.listen({
      take(part) {
        try {
          // The listener is its caller's: that it fails is no reason to fail the call, nor is progress that does not fit.
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
    // Withheld, as the owner withholds what does not fit.
    return undefined;
  }
}
