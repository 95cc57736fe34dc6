import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { toPushing, type Pushing, type Sink } from "../../spine/pushing.ts";
import type { Scope } from "../../spine/scope.ts";
import { followSignal } from "../../spine/signals.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { kScope, type Served } from "../../surface/implement-surface.ts";
import { nextTurn } from "../../surface/owner/waiting.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { createLinkBudgets, PeerShares, type LinkBudgets } from "../link-options.ts";
import { reachSurface } from "../reach-surface.ts";
import type { WireTransport } from "../transport/base-transport.ts";
import { toPartCodec } from "./member-codec.ts";
import {
  defaultHandshakeMs,
  defaultHeartbeatMs,
  goodbyeMs,
  invalidParams,
  maxAsks,
  maxCredit,
  maxStreams,
  methods,
  notTaken,
  protocolVersion,
  toErrorResponse,
  createRejection,
  noSuchMethod,
  type Part,
} from "./protocol.ts";
import { readAsk, readFollow, readHello, type RequestParams, type Hello } from "./request-params.ts";
import { ServedSurface, type ServedMemberCodec } from "./served-surface.ts";
import { Heartbeat, WirePeer, type IncomingRequest, type PeerHandlers } from "./wire-peer.ts";

/** Dependencies of a {@link ServedStream}. */
interface StreamDeps {
  readonly values: AsyncIterable<unknown>;
  /** Items that the consumer takes at first. */
  readonly credit: number;
  /** Fires when the consumer has gone. */
  readonly signal: AbortSignal;
  readonly peer: WirePeer;
  /** Encodes and sends an item. @throws SurfaceError `UNSERIALISABLE` or `FRAME_TOO_LARGE`. */
  send(this: void, value: unknown): void;
  /** Called once, after the iteration has ended and returned. */
  over(this: void, failure?: { readonly cause: unknown }): void;
}

/**
 * Sends the values of one iteration within the credit of its consumer. Without credit it pulls no values: an iteration over
 * the newest value then skips to the newest, and a lossless one waits.
 */
class ServedStream implements Sink<unknown> {
  readonly #deps: StreamDeps;
  readonly #values: Pushing<unknown>;
  #credit: number;
  #isOver = false;

  constructor(deps: StreamDeps) {
    this.#deps = deps;
    this.#credit = Math.min(deps.credit, maxCredit);
    this.#values = toPushing(deps.values);
  }

  /** Starts to send, until the values end or the consumer has gone. */
  start(): void {
    const { signal } = this.#deps;
    signal.addEventListener("abort", () => this.ended(), { once: true });
    if (signal.aborted) this.ended();
    else this.#values.push(this);
  }

  get isFull(): boolean {
    return this.#credit <= 0 || this.#deps.peer.isFull;
  }

  /** Adds credit. */
  grant(credit: number): void {
    this.#credit = Math.min(this.#credit + credit, maxCredit);
    this.resume();
  }

  /** Continues, if the far side has read enough. */
  resume(): void {
    if (!this.isFull) this.#values.resume();
  }

  value(value: unknown): void {
    if (this.#isOver) return;
    this.#credit -= 1;
    try {
      this.#deps.send(value);
    } catch (cause) {
      this.failed(cause);
    }
  }

  ended(): void {
    this.#end();
  }

  failed(cause: unknown): void {
    this.#end({ cause });
  }

  #end(failure?: { readonly cause: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#values.return().then(
      () => this.#deps.over(failure),
      (cause: unknown) => this.#deps.over(failure ?? { cause }),
    );
  }
}

/** Options of a {@link WireServer}. Times are in milliseconds. */
export interface WireServerOptions {
  /** Silence after which the peer is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number | undefined;
  /** Time until the peer must have said hello. @default 5_000 */
  readonly handshakeMs?: number | undefined;
  /** Receives the faults that are masked here. @default the console's error stream */
  readonly onFault?: FaultReporter | undefined;
  /** Budgets of all peers of a listener. @default budgets of this peer alone */
  readonly budgets?: LinkBudgets | undefined;
  /** @default this machine's clock */
  readonly clock?: Clock | undefined;
}

/**
 * Serves one or several live surfaces to one peer, over a transport that it owns. Ends with the live surface, as `close()`
 * does, and does not close it. Aborts the requests of a peer that disconnects. The caller that created it closes it.
 */
export class WireServer implements PeerHandlers {
  readonly #served: Served;
  readonly #clock: Clock;
  readonly #heartbeatMs: number;
  readonly #onFault: FaultReporter;
  readonly #peer: WirePeer;
  readonly #streams = new Map<number, ServedStream>();
  /** The newest progress of each call while the output is full. */
  readonly #unsentProgress = new Map<number, Part>();
  /** Removes this server from the scopes that it ends with. */
  readonly #leaves = new Map<Scope, () => void>();
  readonly #heartbeat: Heartbeat;
  readonly #stopHandshake: () => void;
  #asks = 0;
  /** Running waits for an event: the end cuts them off, and clients send them again elsewhere. */
  #waits = 0;
  #surface: ServedSurface | undefined;
  #isLeaving = false;
  #isPeerLeaving = false;
  #isOver = false;
  #closing: Promise<void> | undefined;
  /** Ends the wait of a closing server. */
  #onIdle: () => void = () => {};
  #resolveClosed: () => void = () => {};
  /** Resolves when the connection has ended; never rejects. */
  readonly closed: Promise<void> = new Promise((resolve) => (this.#resolveClosed = resolve));

  constructor(served: Served, transport: WireTransport, options: WireServerOptions = {}) {
    const { clock = systemClock, heartbeatMs = defaultHeartbeatMs, handshakeMs = defaultHandshakeMs } = options;
    const { budgets = createLinkBudgets(), onFault = reportToConsole } = options;
    this.#served = served;
    this.#clock = clock;
    this.#heartbeatMs = heartbeatMs;
    this.#onFault = toSafeReporter(onFault);
    const peer = new WirePeer(transport, this, new PeerShares(budgets, () => transport.destroy()));
    this.#peer = peer;
    this.#heartbeat = new Heartbeat({ clock, everyMs: heartbeatMs, peer, lost: () => peer.ended(undefined) });
    this.#stopHandshake = clock.after(handshakeMs, () => {
      if (this.#surface === undefined) peer.ended(undefined);
    });
    peer.listen();
    this.#endWith(served[kScope]);
    void this.closed.then(() => {
      for (const leave of this.#leaves.values()) leave();
    });
  }

  /** Returns whether the peer has said hello. */
  get isGreeted(): boolean {
    return this.#surface !== undefined;
  }

  /** Tells the peer that no new requests are taken. Callable twice. */
  sayGoodbye(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#notify(methods.goodbye, {});
  }

  /** Says goodbye, waits five seconds at most for running requests, and ends. Callable twice. */
  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  request(request: IncomingRequest): void {
    const { method, params } = request;
    const surface = this.#surface;
    if (method === methods.hello) return request.reply(this.#hello(params));
    if (surface === undefined) return request.reply(createRejection("PROTOCOL_MISMATCH"));
    switch (method) {
      case methods.ask:
        return this.#ask(surface, request);
      case methods.follow:
        return this.#follow(surface, request);
      case methods.ping:
        return request.reply(null);
      case methods.describe:
        return request.reply(surface.describe(params) ?? invalidParams);
      default:
        return request.reply(noSuchMethod);
    }
  }

  notification(method: string, params: unknown): void {
    if (method === methods.goodbye) {
      this.#isPeerLeaving = true;
      this.#checkIdle();
    }
    if (method !== methods.credit || !isJsonObject(params)) return;
    const { stream, credit } = params;
    if (typeof stream !== "number" || typeof credit !== "number" || !Number.isSafeInteger(credit) || credit < 0) return;
    this.#streams.get(stream)?.grant(credit);
  }

  drained(): void {
    const unsent = [...this.#unsentProgress];
    this.#unsentProgress.clear();
    for (const [token, part] of unsent) this.#sendProgress(token, part);
    for (const stream of [...this.#streams.values()]) stream.resume();
  }

  ended(): void {
    this.#isOver = true;
    this.#stopHandshake();
    this.#heartbeat.stop();
    this.#checkIdle();
    this.#resolveClosed();
  }

  #hello(params: unknown): unknown {
    const hello = readHello(params);
    if (hello === undefined) return invalidParams;
    if (hello.protocol !== protocolVersion) return createRejection("PROTOCOL_MISMATCH");
    try {
      return this.#greet(hello);
    } catch (cause) {
      return toErrorResponse(
        cause instanceof SurfaceError ? cause : new SurfaceError("INTERNAL", "Cannot serve a hello"),
      );
    }
  }

  /** @throws SurfaceError `UNKNOWN_MEMBER` or `DROPPED`. */
  #greet({ surface: asked, members }: Hello): unknown {
    if (this.#surface?.isFor(asked) === false) return createRejection("UNKNOWN_MEMBER");
    const reached = reachSurface(this.#served, asked);
    this.#endWith(reached.scope);
    if (this.#isLeaving) return notTaken;
    this.#surface ??= new ServedSurface(asked, reached, this.#onFault);
    this.#peer.trust();
    this.#stopHandshake();
    return {
      protocol: protocolVersion,
      surface: asked.name,
      members: this.#surface.digests(members),
      heartbeatMs: this.#heartbeatMs,
    };
  }

  /** Runs an operation. Answers at once if nothing waits. */
  #ask(surface: ServedSurface, request: IncomingRequest): void {
    const asked = readAsk(request.params);
    if (asked === undefined) return request.reply(invalidParams);
    if (this.#isLeaving) return request.reply(notTaken);
    if (this.#asks >= maxAsks) return request.reply(createRejection("OVERFLOW"));
    this.#asks += 1;
    if (asked.verb === "wait") this.#waits += 1;
    const { verb, member, argument, options, progress } = asked;
    const over = (outcome: unknown): void => this.#answer(asked, request, outcome);
    try {
      const served = surface.find(member, verb);
      const value = surface.channel.request({
        verb,
        member,
        argument: served.codec.decodeArgument(verb, argument),
        options: {
          // An own getter, since owners copy options.
          get signal() {
            return request.signal;
          },
          ...options,
          ...(progress === undefined ? {} : { onProgress: (report: unknown) => this.#tell(asked, served, report) }),
        },
      });
      const encode = (settled: unknown): void => over(served.answer.encode(settled));
      if (!(value instanceof Promise)) return encode(value);
      value.then(encode).catch((cause: unknown) => over(surface.toAnswer(cause, member)));
    } catch (cause) {
      over(surface.toAnswer(cause, member));
    }
  }

  #answer({ verb, progress }: RequestParams, request: IncomingRequest, outcome: unknown): void {
    request.reply(outcome);
    this.#asks -= 1;
    if (verb === "wait") this.#waits -= 1;
    if (progress !== undefined) this.#unsentProgress.delete(progress);
    this.#checkIdle();
  }

  #tell({ progress: token, member }: RequestParams, { codec }: ServedMemberCodec, value: unknown): void {
    if (token === undefined) return;
    try {
      this.#sendProgress(token, toPartCodec(codec.schemas.progress).encode(value));
    } catch (fault) {
      internalError(fault, `the progress of member "${member}"`, this.#onFault);
    }
  }

  #follow(surface: ServedSurface, request: IncomingRequest): void {
    const asked = readFollow(request.params);
    if (asked === undefined || this.#streams.has(asked.stream)) return request.reply(invalidParams);
    if (this.#isLeaving) return request.reply(notTaken);
    if (this.#streams.size >= maxStreams) return request.reply(createRejection("OVERFLOW"));
    const { verb, member, argument, stream: id, credit } = asked;
    const { signal } = request;
    const over = (failure?: { readonly cause: unknown }): void => {
      this.#streams.delete(id);
      request.reply(failure === undefined ? {} : surface.toAnswer(failure.cause, member));
    };
    try {
      const { codec, answer } = surface.find(member, verb);
      const decoded = codec.decodeArgument(verb, argument);
      const stream = new ServedStream({
        values: surface.channel.subscribe({ verb, member, argument: decoded, options: { signal } }),
        ...{ credit, signal, over, peer: this.#peer },
        send: (value) => this.#peer.notify(methods.item, { stream: id, ...answer.encode(value) }),
      });
      this.#streams.set(id, stream);
      stream.start();
    } catch (cause) {
      over({ cause });
    }
  }

  /** Sends progress, or keeps the newest until there is room. */
  #sendProgress(token: number, part: Part): void {
    if (this.#peer.isFull) this.#unsentProgress.set(token, part);
    else this.#notify(methods.progress, { token, ...part });
  }

  /** Sends a notification. One that is too large is a fault. */
  #notify(method: string, params: JsonObject): void {
    try {
      this.#peer.notify(method, params);
    } catch (cause) {
      internalError(cause, "a notification that is too large", this.#onFault);
    }
  }

  /** Ends the server with a live surface. */
  #endWith(scope: Scope): void {
    if (this.#leaves.has(scope)) return;
    // The goodbye comes before the first answer, so that callers know why their requests fail.
    const unfollow = followSignal(scope.signal, () => this.sayGoodbye());
    const forget = scope.add(() => this.close());
    this.#leaves.set(scope, () => {
      unfollow();
      forget();
    });
  }

  /** Ends the wait of a closing server, unless calls run or its peer has not answered the goodbye. */
  #checkIdle(): void {
    const isQuiet = this.#asks <= this.#waits && (this.#surface === undefined || this.#isPeerLeaving);
    if (this.#isOver || isQuiet) this.#onIdle();
  }

  async #leave(): Promise<void> {
    this.sayGoodbye();
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    const stopTimer = this.#clock.after(goodbyeMs, this.#onIdle);
    this.#checkIdle();
    await idle;
    stopTimer();
    // The last answer leaves at the end of the turn.
    await nextTurn();
    this.#peer.ended(undefined);
    await this.closed;
  }
}
