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
import { ClientSession } from "./client-session.ts";
import { PeerContract } from "./contract.ts";
import { defaultHandshakeMs, defaultHeartbeatMs, methods, protocolVersion, RpcError } from "./protocol.ts";
import { SentRequest, type RequestFields } from "./sent-request.ts";
import type { WireTransport } from "../transport/base-transport.ts";
import { WireClient } from "./wire-client.ts";
import { readErrorAnswer } from "./wire-fault.ts";

/** What {@link openWireClient} may be told. Times are in milliseconds. */
export interface WireClientOptions {
  /** Ends the attempt when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** How long nothing is heard before the far side is asked whether it is there. Default: what the far side says. */
  readonly heartbeatMs?: number | undefined;
  /** How long the far side may take to say who it is. Default 5,000. */
  readonly handshakeMs?: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

const minHeartbeatMs = 100;
const maxHeartbeatMs = 60_000;

/** A request whose outcome, also a failure, is a value. */
class HandshakeRequest extends SentRequest {
  readonly #resolve: (outcome: unknown) => void;

  constructor(setting: RequestFields, resolve: (outcome: unknown) => void) {
    super(setting);
    this.#resolve = resolve;
  }

  protected answered(result: unknown): void {
    this.#resolve(result);
  }

  protected refused(error: RpcError): void {
    this.#resolve(error);
  }

  protected failed(cause: SurfaceError): void {
    this.#resolve(cause);
  }
}

/** The first messages of a connection: who is there, and whether it fits. */
class Handshake {
  readonly #surface: Surface<Spec>;
  readonly #session: ClientSession;
  readonly #signal: AbortSignal | undefined;
  readonly contract: PeerContract;

  constructor(surface: Surface<Spec>, session: ClientSession, signal: AbortSignal | undefined) {
    this.#surface = surface;
    this.#session = session;
    this.#signal = signal;
    this.contract = new PeerContract(surface);
  }

  get #what(): string {
    return `surface "${this.#surface.name}"`;
  }

  /** Shakes hands; resolves with how often the far side wants to be heard. */
  async shake(): Promise<number> {
    const { name } = this.#surface;
    const segments = segmentsOf(this.#surface);
    const answer = await this.#ask(methods.hello, {
      protocol: protocolVersion,
      surface: name,
      ...(segments === undefined ? {} : { segments: Object.fromEntries(segments) }),
      members: this.contract.digests(),
    });
    if (answer["protocol"] !== protocolVersion || !isJsonObject(answer["members"])) throw this.#mismatch(undefined);
    if (answer["surface"] !== name) {
      throw new SurfaceError("UNKNOWN_MEMBER", `Connecting to ${this.#what}: this link reaches another surface`);
    }
    const unclear = this.contract.compare(answer["members"]);
    if (unclear.length > 0) await this.#describe(unclear);
    return readHeartbeat(answer["heartbeatMs"]);
  }

  async #describe(unclear: readonly string[]): Promise<void> {
    const { members } = await this.#ask(methods.describe, { members: [...unclear] });
    if (!isJsonObject(members)) throw this.#mismatch(undefined);
    this.contract.describe(unclear, members);
  }

  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    const refusal = this.#session.refusal();
    if (refusal !== undefined) throw refusal;
    const signal = this.#signal;
    const answer = await new Promise<unknown>((resolve) =>
      this.#session.send(new HandshakeRequest({ method, params, what: this.#what, signal }, resolve)),
    );
    if (answer instanceof RpcError) throw this.#toCause(answer);
    if (answer instanceof SurfaceError) throw signal?.aborted === true ? answer : this.#toUnavailable();
    if (!isJsonObject(answer)) throw this.#mismatch(undefined);
    return answer;
  }

  #toCause(error: RpcError): SurfaceError | Refusal {
    const untaken = this.#session.refusalOf(error, this.#what);
    if (untaken !== undefined) return untaken;
    const cause = readErrorAnswer(error, this.#what, () => undefined);
    if (!(cause instanceof SurfaceError) || cause.code === "PROTOCOL_MISMATCH") return this.#mismatch(error);
    if (cause.code === "DROPPED") return createDropped(this.#surface.name);
    if (cause.code !== "UNKNOWN_MEMBER") return this.#unavailable(cause);
    return new SurfaceError("UNKNOWN_MEMBER", `Connecting to ${this.#what}: this link reaches another surface`);
  }

  /** What the end of a connection that never was one came from: ours is told as it is. */
  #toUnavailable(): SurfaceError {
    const cause = this.#session.reason?.cause;
    const isTelling = cause instanceof SurfaceError && cause.code !== "TIMEOUT";
    return isTelling ? cause : this.#unavailable(cause);
  }

  #unavailable(cause: unknown): SurfaceError {
    return new SurfaceError("UNAVAILABLE", `Connecting to ${this.#what}: the far side did not answer`, { cause });
  }

  #mismatch(cause: unknown): SurfaceError {
    return new SurfaceError(
      "PROTOCOL_MISMATCH",
      `Connecting to ${this.#what}: it does not speak version 1 of this protocol`,
      {
        cause,
      },
    );
  }
}

function readHeartbeat(given: unknown): number {
  const isUsable = typeof given === "number" && given >= minHeartbeatMs && given <= maxHeartbeatMs;
  return isUsable ? given : defaultHeartbeatMs;
}

async function shakeHands(handshake: Handshake, session: ClientSession, options: WireClientOptions): Promise<void> {
  const { clock = systemClock, handshakeMs = defaultHandshakeMs } = options;
  const late = new SurfaceError("TIMEOUT", `Connecting: nothing answered within ${handshakeMs} ms`);
  const stopTimer = clock.after(handshakeMs, () => session.close(late));
  try {
    const asked = await handshake.shake();
    session.watch(options.heartbeatMs ?? asked);
  } finally {
    stopTimer();
  }
}

/**
 * Opens a connection over a transport, which it owns from now on, also when it fails: makes sure of who is there, and
 * which members can be used. Members that differ are refused when they are used, with `CONTRACT_MISMATCH` or
 * `SCHEMA_UNSUPPORTED`; they do not keep the others from working.
 *
 * @throws SurfaceError `UNKNOWN_MEMBER` for a surface of another name, `DROPPED` for one that was closed while others there
 * go on, `PROTOCOL_MISMATCH` for a far side that speaks something else, `UNAVAILABLE` for one that says nothing or has gone, `ABORTED` when the signal fires first, and
 * any other error of this package that the transport ended with.
 */
export async function openWireClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  transport: WireTransport,
  options: WireClientOptions = {},
): Promise<Connection<TSpec>> {
  const { clock = systemClock, signal } = options;
  const what = `surface "${surface.name}"`;
  const session = new ClientSession({ transport, clock, what });
  const handshake = new Handshake(surface, session, signal);
  try {
    if (signal?.aborted === true) throw toAborted(signal, `Connecting to ${what}`);
    await shakeHands(handshake, session, options);
  } catch (cause) {
    session.close();
    // Nothing was lost with a transport that broke before there was a connection.
    if (!(cause instanceof SurfaceError) || cause.code !== "DISCONNECTED") throw cause;
    const message = `Connecting to ${what}: the far side went before it had answered`;
    throw new SurfaceError("UNAVAILABLE", message, { cause });
  }
  const channel = new WireClient({ surface, session, contract: handshake.contract });
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
