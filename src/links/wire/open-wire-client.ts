import { SurfaceError, type Refusal } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { toAborted } from "../../spine/signals.ts";
import { segmentsOf } from "../../surface/compose-surfaces.ts";
import { createClient } from "../../surface/create-client.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import { createDropped } from "../droppable.ts";
import type { Connection } from "../link.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { ClientSession, SentRequest } from "./client-session.ts";
import {
  defaultHandshakeMs,
  defaultHeartbeatMs,
  methods,
  protocolVersion,
  readErrorAnswer,
  WireError,
} from "./protocol.ts";
import type { WireTransport } from "../transport/base-transport.ts";
import { WireClient } from "./wire-client.ts";

/** Options of {@link openWireClient}. Times are in milliseconds. */
export interface WireClientOptions {
  /** Ends the attempt when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** Silence after which the far side is asked for a sign of life. @default the number that the far side sends */
  readonly heartbeatMs?: number | undefined;
  /** Time until the far side must have answered the hello. @default 5_000 */
  readonly handshakeMs?: number;
  /** @default this machine's clock */
  readonly clock?: Clock;
}

const minHeartbeatMs = 100;
const maxHeartbeatMs = 60_000;

/** A request whose outcome, also a failure, is a value. */
class HandshakeRequest extends SentRequest {
  readonly #resolve: (outcome: unknown) => void;

  constructor(resolve: (outcome: unknown) => void) {
    super();
    this.#resolve = resolve;
  }

  protected settled(outcome: unknown): void {
    this.#resolve(outcome);
  }
}

/** The first requests of a connection: which surface is there, and which of its members fit. */
class Handshake {
  readonly #surface: Surface<Spec>;
  readonly #session: ClientSession;
  readonly #signal: AbortSignal | undefined;

  constructor(surface: Surface<Spec>, session: ClientSession, signal: AbortSignal | undefined) {
    this.#surface = surface;
    this.#session = session;
    this.#signal = signal;
  }

  get #what(): string {
    return this.#session.what;
  }

  /** Says hello. Resolves with the heartbeat that the far side wants, in milliseconds. */
  async shake(): Promise<number> {
    const { name } = this.#surface;
    const segments = segmentsOf(this.#surface);
    const answer = await this.#ask(methods.hello, {
      protocol: protocolVersion,
      surface: name,
      ...(segments === undefined ? {} : { segments: Object.fromEntries(segments) }),
      members: this.#session.contract.digests(),
    });
    if (answer["protocol"] !== protocolVersion || !isJsonObject(answer["members"])) throw this.#mismatch();
    if (answer["surface"] !== name) throw this.#createUnknown();
    const unclear = this.#session.contract.compare(answer["members"]);
    if (unclear.length > 0) await this.#describe(unclear);
    return readHeartbeat(answer["heartbeatMs"]);
  }

  async #describe(unclear: readonly string[]): Promise<void> {
    const { members } = await this.#ask(methods.describe, { members: [...unclear] });
    if (!isJsonObject(members)) throw this.#mismatch();
    this.#session.contract.describe(unclear, members);
  }

  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    const refusal = this.#session.refusal();
    if (refusal !== undefined) throw refusal;
    const signal = this.#signal;
    const fields = { method, params, what: this.#what, signal };
    const answer = await new Promise<unknown>((resolve) => this.#session.send(new HandshakeRequest(resolve), fields));
    if (answer instanceof WireError) throw this.#toCause(answer);
    if (answer instanceof SurfaceError) throw signal?.aborted === true ? answer : this.#toUnavailable();
    if (!isJsonObject(answer)) throw this.#mismatch();
    return answer;
  }

  #toCause(error: WireError): SurfaceError | Refusal {
    const untaken = this.#session.refusalOf(error, this.#what);
    if (untaken !== undefined) return untaken;
    const cause = readErrorAnswer(error, this.#what, () => undefined);
    if (!(cause instanceof SurfaceError) || cause.code === "PROTOCOL_MISMATCH") return this.#mismatch(error);
    if (cause.code === "DROPPED") return createDropped(this.#surface.name);
    if (cause.code !== "UNKNOWN_MEMBER") return this.#unavailable(cause);
    return this.#createUnknown();
  }

  #createUnknown(): SurfaceError {
    return new SurfaceError("UNKNOWN_MEMBER", `Cannot connect to ${this.#what}: this link reaches another surface`);
  }

  /** Returns the cause of the end if it is an error of this package, else `UNAVAILABLE`. */
  #toUnavailable(): SurfaceError {
    const cause = this.#session.reason?.cause;
    const isOurs = cause instanceof SurfaceError && cause.code !== "TIMEOUT";
    return isOurs ? cause : this.#unavailable(cause);
  }

  #unavailable(cause: unknown): SurfaceError {
    return new SurfaceError("UNAVAILABLE", `Cannot connect to ${this.#what}: the far side did not answer`, { cause });
  }

  #mismatch(cause?: unknown): SurfaceError {
    const message = `Cannot connect to ${this.#what}: the far side does not speak version 1 of this protocol`;
    return new SurfaceError("PROTOCOL_MISMATCH", message, { cause });
  }
}

function readHeartbeat(given: unknown): number {
  const isUsable = typeof given === "number" && given >= minHeartbeatMs && given <= maxHeartbeatMs;
  return isUsable ? given : defaultHeartbeatMs;
}

async function shakeHands(surface: Surface<Spec>, session: ClientSession, options: WireClientOptions): Promise<void> {
  const { clock = systemClock, handshakeMs = defaultHandshakeMs } = options;
  const late = new SurfaceError("TIMEOUT", `Cannot connect: no answer within ${handshakeMs} ms`);
  const stopTimer = clock.after(handshakeMs, () => session.close(late));
  try {
    const asked = await new Handshake(surface, session, options.signal).shake();
    session.watch(options.heartbeatMs ?? asked);
  } finally {
    stopTimer();
  }
}

/**
 * Opens a connection over a transport, which it owns from then on, also if it fails. Checks the name of the surface and compares
 * the members. A member that differs fails with `CONTRACT_MISMATCH` or `SCHEMA_UNSUPPORTED` when it is used; the others work.
 *
 * @throws SurfaceError `UNKNOWN_MEMBER` for a surface of another name, `DROPPED` for a surface that was closed while its
 * siblings go on, `PROTOCOL_MISMATCH` for another protocol, `UNAVAILABLE` if the far side does not answer or has gone,
 * `ABORTED` when the signal fires first, and any other error of this package that the transport ended with.
 */
export async function openWireClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  transport: WireTransport,
  options: WireClientOptions = {},
): Promise<Connection<TSpec>> {
  const { clock = systemClock, signal } = options;
  const session = new ClientSession({ transport, clock, surface });
  try {
    if (signal?.aborted === true) throw toAborted(signal, `Cannot connect to ${session.what}`);
    await shakeHands(surface, session, options);
  } catch (cause) {
    session.close();
    // No operation was lost: the transport broke before there was a connection.
    if (!(cause instanceof SurfaceError) || cause.code !== "DISCONNECTED") throw cause;
    const message = `Cannot connect to ${session.what}: the far side closed the connection before it answered`;
    throw new SurfaceError("UNAVAILABLE", message, { cause });
  }
  const channel = new WireClient(session);
  const { state, leaving, closed } = session.ending;
  return Object.freeze({
    client: createClient(surface, channel),
    channel,
    state,
    leaving,
    closed,
    isRemote: true,
    async close() {
      session.close();
      await closed;
    },
  });
}
