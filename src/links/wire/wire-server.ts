import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { nextTurn } from "../../surface/owner/next-turn.ts";
import type { LinkBudgets } from "../link-options.ts";
import type { AskedSurface, ReachedSurface } from "../reach-surface.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { toPartCodec } from "./part-codec.ts";
import { PeerShares } from "./peer-shares.ts";
import { ProgressSender } from "./progress-sender.ts";
import { goodbyeMs, maxAsks, maxStreams, methods, protocolVersion } from "./protocol.ts";
import {
  readAsk,
  readCredit,
  readFollow,
  readHello,
  type AskedOnce,
  type AskedStream,
  type Hello,
} from "./read-use.ts";
import { Greeted, type ServedMember } from "./served-members.ts";
import { ServedStream } from "./served-stream.ts";
import type { WireTransport } from "./transport.ts";
import { invalid, refuse, toErrorAnswer, unknown, untaken } from "./wire-fault.ts";
import { WirePeer, type PeerHandlers } from "./wire-peer.ts";

/** What a server is made of. Times are in milliseconds. */
export interface ServerSetting {
  /**
   * Finds what the peer asks for.
   *
   * @throws SurfaceError `UNKNOWN_MEMBER` or `DROPPED`.
   */
  reach(asked: AskedSurface): ReachedSurface;
  readonly transport: WireTransport;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly handshakeMs: number;
  readonly report: FaultReporter;
  /** What all peers of its listener hold. */
  readonly budgets: LinkBudgets;
}

/** Serves a live surface to one peer: the server's end of a connection, from the first message to the last. */
export class WireServer implements PeerHandlers {
  readonly #setting: ServerSetting;
  readonly #peer: WirePeer;
  readonly #progress: ProgressSender;
  readonly #streams = new Map<number, ServedStream>();
  readonly #heartbeat: Heartbeat;
  readonly #stopHandshake: () => void;
  #asks = 0;
  /** How many of those wait for an event: its end cuts them off, and their clients send them again elsewhere. */
  #waits = 0;
  /** Also those that have not begun to iterate: `#streams` has the others. */
  #follows = 0;
  #greeted: Greeted | undefined;
  #isLeaving = false;
  #isPeerLeaving = false;
  #isOver = false;
  #closing: Promise<void> | undefined;
  /** Looks again whether it may end. */
  #look: () => void = () => {};
  #resolveClosed: () => void = () => {};
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void> = new Promise((resolve) => (this.#resolveClosed = resolve));

  constructor(setting: ServerSetting) {
    this.#setting = setting;
    const { transport, clock, heartbeatMs: everyMs, handshakeMs } = setting;
    const peer = new WirePeer(transport, this, new PeerShares(setting.budgets, () => transport.destroy()));
    this.#peer = peer;
    this.#progress = new ProgressSender({
      isFull: () => peer.isFull,
      send: (token, part) => this.#notify(methods.progress, { token, ...part }),
    });
    this.#heartbeat = new Heartbeat({ clock, everyMs, peer, lost: () => peer.ended(undefined) });
    this.#stopHandshake = clock.after(handshakeMs, () => {
      if (this.#greeted === undefined) peer.ended(undefined);
    });
    peer.listen();
  }

  /** Whether the peer has said who it is. */
  get isGreeted(): boolean {
    return this.#greeted !== undefined;
  }

  /** Tells the peer that nothing new is taken. Callable twice. */
  sayGoodbye(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#notify(methods.goodbye, {});
  }

  /** Says goodbye, waits for what runs, within bounds, and ends. Callable twice. */
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
    this.#progress.flush();
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
    const reached = this.#setting.reach(asked);
    if (this.#isLeaving) return untaken;
    this.#greeted ??= new Greeted(asked, reached, this.#setting.report);
    this.#peer.trust();
    this.#stopHandshake();
    return {
      protocol: protocolVersion,
      surface: asked.name,
      members: this.#greeted.members.digests(members),
      heartbeatMs: this.#setting.heartbeatMs,
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
    if (progress !== undefined) this.#progress.forget(progress);
    this.#look();
  }

  #tell({ progress: token, member }: AskedOnce, { codec }: ServedMember, value: unknown): void {
    if (token === undefined) return;
    try {
      this.#progress.send(token, toPartCodec(codec.schemas.progress).encode(value));
    } catch (fault) {
      internalError(fault, `the progress of member "${member}"`, this.#setting.report);
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

  /** Sends a notification. One that is too large is a fault. */
  #notify(method: string, params: JsonObject): void {
    try {
      this.#peer.notify(method, params);
    } catch (cause) {
      internalError(cause, "a notification that is too large", this.#setting.report);
    }
  }

  async #leave(): Promise<void> {
    this.sayGoodbye();
    const { clock } = this.#setting;
    await new Promise<void>((resolve) => {
      const stopTimer = clock.after(goodbyeMs, resolve);
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
