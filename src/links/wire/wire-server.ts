import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { followSignal } from "../../spine/signals.ts";
import type { Scope } from "../../spine/scope.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { kScope, type Served } from "../../surface/implement-surface.ts";
import { nextTurn } from "../../surface/owner/waiting.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { createLinkBudgets, type LinkBudgets } from "../link-options.ts";
import { reachSurface } from "../reach-surface.ts";
import { Heartbeat } from "./heartbeat.ts";
import { toPartCodec } from "./part-codec.ts";
import { PeerShares } from "./peer-shares.ts";
import {
  defaultHandshakeMs,
  defaultHeartbeatMs,
  goodbyeMs,
  maxAsks,
  maxStreams,
  methods,
  protocolVersion,
  type Part,
} from "./protocol.ts";
import { readAsk, readFollow, readHello, type AskedOnce, type AskedStream, type Hello } from "./read-use.ts";
import { Greeted, type ServedMember } from "./served-members.ts";
import { readCredit, ServedStream } from "./served-stream.ts";
import type { WireTransport } from "../transport/base-transport.ts";
import { invalid, refuse, toErrorAnswer, unknown, untaken } from "./wire-fault.ts";
import { WirePeer, type IncomingRequest, type PeerHandlers } from "./wire-peer.ts";

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
 * does, and does not close it. When the peer goes, its requests are aborted. The caller that created it closes it.
 */
export class WireServer implements PeerHandlers {
  readonly #served: Served;
  readonly #clock: Clock;
  readonly #heartbeatMs: number;
  readonly #onFault: FaultReporter;
  readonly #peer: WirePeer;
  readonly #streams = new Map<number, ServedStream>();
  /** The newest progress of each call while the far side does not take what is written. */
  readonly #unsentProgress = new Map<number, Part>();
  /** Removes this server from the scopes that it ends with. */
  readonly #leaves = new Map<Scope, () => void>();
  readonly #heartbeat: Heartbeat;
  readonly #stopHandshake: () => void;
  #asks = 0;
  /** Asks that wait for an event: the end cuts them off, and clients send them again elsewhere. */
  #waits = 0;
  /** Follows, also before their stream exists. */
  #follows = 0;
  #greeted: Greeted | undefined;
  #isLeaving = false;
  #isPeerLeaving = false;
  #isOver = false;
  #closing: Promise<void> | undefined;
  /** Checks whether a closing server may end. */
  #look: () => void = () => {};
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
      if (this.#greeted === undefined) peer.ended(undefined);
    });
    peer.listen();
    this.#endWith(served[kScope]);
    void this.closed.then(() => {
      for (const leave of this.#leaves.values()) leave();
    });
  }

  /** Whether the peer has said hello. */
  get isGreeted(): boolean {
    return this.#greeted !== undefined;
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
    const greeted = this.#greeted;
    if (method === methods.hello) return request.reply(this.#hello(params));
    if (greeted === undefined) return request.reply(refuse("PROTOCOL_MISMATCH"));
    switch (method) {
      case methods.ask:
        return this.#takeAsk(greeted, request);
      case methods.follow:
        return this.#takeFollow(greeted, request);
      case methods.ping:
        return request.reply(null);
      case methods.describe:
        return request.reply(greeted.describe(params) ?? invalid);
      default:
        return request.reply(unknown);
    }
  }

  notification(method: string, params: unknown): void {
    if (method === methods.goodbye) {
      this.#isPeerLeaving = true;
      this.#look();
    }
    if (method !== methods.credit || !isJsonObject(params)) return;
    const credit = readCredit(params["credit"]);
    const id = params["stream"];
    if (credit !== undefined && typeof id === "number") this.#streams.get(id)?.grant(credit);
  }

  drained(): void {
    const unsent = [...this.#unsentProgress];
    this.#unsentProgress.clear();
    for (const [token, part] of unsent) this.#sendProgress(token, part);
    for (const stream of [...this.#streams.values()]) stream.look();
  }

  ended(): void {
    this.#isOver = true;
    this.#stopHandshake();
    this.#heartbeat.stop();
    this.#look();
    this.#resolveClosed();
  }

  #hello(params: unknown): unknown {
    const hello = readHello(params);
    if (hello === undefined) return invalid;
    if (hello.protocol !== protocolVersion) return refuse("PROTOCOL_MISMATCH");
    try {
      return this.#greet(hello);
    } catch (cause) {
      return toErrorAnswer(cause instanceof SurfaceError ? cause : new SurfaceError("INTERNAL", "Serving a hello"));
    }
  }

  /** @throws SurfaceError `UNKNOWN_MEMBER` or `DROPPED`. */
  #greet({ surface: asked, members }: Hello): unknown {
    if (this.#greeted?.isFor(asked) === false) return refuse("UNKNOWN_MEMBER");
    const reached = reachSurface(this.#served, asked);
    this.#endWith(reached.scope);
    if (this.#isLeaving) return untaken;
    this.#greeted ??= new Greeted(asked, reached, this.#onFault);
    this.#peer.trust();
    this.#stopHandshake();
    return {
      protocol: protocolVersion,
      surface: asked.name,
      members: this.#greeted.members.digests(members),
      heartbeatMs: this.#heartbeatMs,
    };
  }

  #takeAsk(greeted: Greeted, request: IncomingRequest): void {
    const asked = readAsk(request.params);
    if (asked === undefined) return request.reply(invalid);
    if (this.#isLeaving) return request.reply(untaken);
    if (this.#asks >= maxAsks) return request.reply(refuse("OVERFLOW"));
    this.#asks += 1;
    if (asked.verb === "wait") this.#waits += 1;
    this.#ask(greeted, asked, request);
  }

  #takeFollow(greeted: Greeted, request: IncomingRequest): void {
    const asked = readFollow(request.params);
    if (asked === undefined || this.#streams.has(asked.stream)) return request.reply(invalid);
    if (this.#isLeaving) return request.reply(untaken);
    if (this.#follows >= maxStreams) return request.reply(refuse("OVERFLOW"));
    this.#follows += 1;
    this.#follow(greeted, asked, request);
  }

  /** Answers at once if nothing waits. */
  #ask({ channel, members }: Greeted, asked: AskedOnce, request: IncomingRequest): void {
    const { verb, member, argument, options, progress } = asked;
    const over = (outcome: unknown): void => this.#answer(asked, request, outcome);
    try {
      const served = members.find(member, verb);
      const value = channel.request({
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
      value.then(encode).catch((cause: unknown) => over(members.toAnswer(cause, member)));
    } catch (cause) {
      over(members.toAnswer(cause, member));
    }
  }

  #answer({ verb, progress }: AskedOnce, request: IncomingRequest, outcome: unknown): void {
    request.reply(outcome);
    this.#asks -= 1;
    if (verb === "wait") this.#waits -= 1;
    if (progress !== undefined) this.#unsentProgress.delete(progress);
    this.#look();
  }

  #tell({ progress: token, member }: AskedOnce, { codec }: ServedMember, value: unknown): void {
    if (token === undefined) return;
    try {
      this.#sendProgress(token, toPartCodec(codec.schemas.progress).encode(value));
    } catch (fault) {
      internalError(fault, `the progress of member "${member}"`, this.#onFault);
    }
  }

  #follow({ channel, members }: Greeted, asked: AskedStream, request: IncomingRequest): void {
    const { verb, member, argument, stream: id, credit } = asked;
    const { signal } = request;
    const over = (failure?: { readonly cause: unknown }): void => {
      this.#streams.delete(id);
      this.#follows -= 1;
      request.reply(failure === undefined ? {} : members.toAnswer(failure.cause, member));
    };
    try {
      const { codec, answer } = members.find(member, verb);
      const decoded = codec.decodeArgument(verb, argument);
      const stream = new ServedStream({
        values: channel.subscribe({ verb, member, argument: decoded, options: { signal } }),
        credit,
        signal,
        isFull: () => this.#peer.isFull,
        encode: (value) => answer.encode(value),
        send: (item) => this.#peer.notify(methods.item, { stream: id, ...item }),
        over,
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

  /** Ends the server with what it serves. */
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

  async #leave(): Promise<void> {
    this.sayGoodbye();
    await new Promise<void>((resolve) => {
      const stopTimer = this.#clock.after(goodbyeMs, resolve);
      const look = (): void => {
        if (!this.#isOver && (this.#asks > this.#waits || (this.#greeted !== undefined && !this.#isPeerLeaving)))
          return;
        stopTimer();
        resolve();
      };
      this.#look = look;
      this.#look();
    });
    // The last answer is on its way out.
    await nextTurn();
    this.#peer.ended(undefined);
    await this.closed;
  }
}
