import { setImmediate } from "node:timers";
import { SurfaceError, type Refusal } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { toAborted } from "../../spine/until-aborted.ts";
import type { Carry, Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../../surface/channel.ts";
import { memberOf, type Surface } from "../../surface/define-surface.ts";
import { onRejection } from "../../surface/fault.ts";
import type { Spec } from "../../surface/member.ts";
import type { ClientSession } from "./client-session.ts";
import { ClientStream, skipped, type ReadItem } from "./client-stream.ts";
import { toMemberCodec, type MemberCodec } from "./member-codec.ts";
import { toPartCodec, type PartCodec } from "./part-codec.ts";
import type { PeerContract } from "./peer-contract.ts";
import { methods, newestWindow, streamWindow } from "./protocol.ts";
import type { SentRequest } from "./sent-request.ts";
import { toCallerJson } from "./wire-caller.ts";
import { readErrorAnswer } from "./wire-fault.ts";

/** What an application that goes says of the calls that this cuts off: that of one which does not only read is unknown. */
const cutCodes: ReadonlySet<string> = new Set(["CLOSED", "OUTCOME_UNKNOWN"]);

/** One use, ready to be sent. */
interface Prepared {
  /** Names it in errors. */
  readonly what: string;
  readonly codec: MemberCodec;
  readonly answer: PartCodec;
  readonly params: JsonObject;
}

/** A stream that was sent for. */
interface Opened {
  readonly id: number;
  readonly request: SentRequest;
  readonly read: ReadItem;
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

/**
 * Runs something when what this turn has brought was passed on, also by those who write at the end of a turn. Giving
 * credit wakes the far side, and it took a tenth of the way of a change to do that first.
 */
function afterThisTurn(run: () => void): void {
  setImmediate(() => setImmediate(run));
}

/** What a {@link WireClient} is made of. */
export interface WireClientSetting {
  readonly surface: Surface<Spec>;
  readonly session: ClientSession;
  readonly contract: PeerContract;
}

/** The members of a surface, over a session. */
export class WireClient implements SurfaceChannel {
  readonly #setting: WireClientSetting;
  readonly #surface: Surface<Spec>;
  readonly #session: ClientSession;
  readonly #contract: PeerContract;
  readonly #to: Carry | undefined;

  /** @param to - what is made of what it carries; see {@link as}. */
  constructor(setting: WireClientSetting, to?: Carry) {
    this.#setting = setting;
    this.#surface = setting.surface;
    this.#session = setting.session;
    this.#contract = setting.contract;
    this.#to = to;
  }

  as(to: Carry): SurfaceChannel {
    return new WireClient(this.#setting, to);
  }

  request(use: Operation<RequestVerb>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const prepared = this.#prepare(use);
      // Read once: a signal may be made when it is looked at.
      const { signal } = use.options;
      if (signal?.aborted === true) throw toAborted(signal, `Using ${prepared.what}`);
      const caller = toCaller(use, prepared.what);
      const token = this.#listen(use, prepared);
      const settle = (outcome: () => void): void => {
        if (token !== undefined) this.#session.unlisten(token);
        outcome();
      };
      this.#session.send({
        method: methods.ask,
        params: {
          ...prepared.params,
          ...toOptions(use),
          ...(caller === undefined ? {} : { caller }),
          ...(token === undefined ? {} : { progress: token }),
        },
        what: prepared.what,
        signal,
        answered: (result) => settle(() => this.#answer({ result, prepared, resolve, reject })),
        refused: (error) => settle(() => reject(this.#toCause(error, prepared))),
        failed: (cause) => settle(() => reject(cause)),
      });
    });
  }

  subscribe(use: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    const window = use.verb === "open" ? streamWindow : newestWindow;
    let opened: Opened | undefined;
    return new ClientStream({
      window,
      open: (stream) => {
        opened = this.#open(use, stream, window);
        return opened.read;
      },
      grant: (credit) => {
        const stream = opened?.id;
        if (stream !== undefined) afterThisTurn(() => this.#session.notify(methods.credit, { stream, credit }));
      },
      stop: () => opened?.request.cancel(new SurfaceError("ABORTED", "Iterating: the consumer has left")),
    });
  }

  #open(use: Operation<SubscribeVerb>, stream: ClientStream, window: number): Opened {
    const prepared = this.#prepare(use);
    const { signal } = use.options;
    const id = this.#session.listen(stream);
    const settle = (outcome: () => void): void => {
      this.#session.unlisten(id);
      outcome();
    };
    const request = this.#session.send({
      method: methods.follow,
      params: { ...prepared.params, stream: id, credit: window },
      what: prepared.what,
      signal,
      answered: () => settle(() => stream.finish()),
      refused: (error) => settle(() => stream.finish(this.#toCause(error, prepared))),
      // Who has left, or closed the connection, is not told that it is gone.
      failed: (cause) =>
        settle(() => {
          if (signal?.aborted === true || this.#session.isClosed) stream.abandon();
          else stream.finish(cause);
        }),
    });
    const readItem: ReadItem = (item) => read(prepared.answer, item, prepared.what);
    return { id, request, read: this.#to === undefined ? readItem : readDistinct(readItem, this.#to) };
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

  #answer(given: {
    readonly result: unknown;
    readonly prepared: Prepared;
    readonly resolve: (value: unknown) => void;
    readonly reject: (cause: unknown) => void;
  }): void {
    const { result, prepared } = given;
    try {
      const carried = read(prepared.answer, result, prepared.what);
      given.resolve(this.#to === undefined ? carried : this.#to(carried));
    } catch (cause) {
      given.reject(cause);
    }
  }

  #toCause(error: unknown, { what, codec }: Prepared): SurfaceError | Refusal {
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
