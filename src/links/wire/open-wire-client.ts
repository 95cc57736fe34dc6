import { SurfaceError, type Refusal } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { createAbortedError } from "../../spine/signals.ts";
import { siblingNamesOf } from "../../surface/compose-surfaces.ts";
import { createClient } from "../../surface/create-client.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import { createDropped } from "../reach-surface.ts";
import type { Connection } from "../link.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { ClientSession, SentRequest } from "./client-session.ts";
import {
  defaultHandshakeMs,
  defaultHeartbeatMs,
  methods,
  protocolVersion,
  readErrorResponse,
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

/** Dependencies of a handshake. */
interface Handshake {
  readonly surface: Surface<Spec>;
  readonly session: ClientSession;
  readonly signal: AbortSignal | undefined;
}

function createMismatch(what: string, cause?: unknown): SurfaceError {
  const message = `Cannot connect to ${what}: the far side does not speak version 1 of this protocol`;
  return new SurfaceError("PROTOCOL_MISMATCH", message, { cause });
}

function createUnknown(what: string): SurfaceError {
  return new SurfaceError("UNKNOWN_MEMBER", `Cannot connect to ${what}: this link reaches another surface`);
}

function createUnavailable(what: string, cause: unknown): SurfaceError {
  return new SurfaceError("UNAVAILABLE", `Cannot connect to ${what}: the far side did not answer`, { cause });
}

/** Returns the error of this side for an error of the far side. */
function toCause(error: WireError, { surface, session }: Handshake): SurfaceError | Refusal {
  const { what } = session;
  const untaken = session.refusalOf(error, what);
  if (untaken !== undefined) return untaken;
  const cause = readErrorResponse(error, what, () => undefined);
  if (!(cause instanceof SurfaceError) || cause.code === "PROTOCOL_MISMATCH") return createMismatch(what, error);
  if (cause.code === "DROPPED") return createDropped(surface.name);
  return cause.code === "UNKNOWN_MEMBER" ? createUnknown(what) : createUnavailable(what, cause);
}

/** Returns the cause of the end if it is an error of this package, else `UNAVAILABLE`. */
function toEndCause({ what, reason }: ClientSession): SurfaceError {
  const cause = reason?.cause;
  return cause instanceof SurfaceError && cause.code !== "TIMEOUT" ? cause : createUnavailable(what, cause);
}

async function ask(handshake: Handshake, method: string, params: JsonObject): Promise<JsonObject> {
  const { session, signal } = handshake;
  const { what } = session;
  const refusal = session.refusal();
  if (refusal !== undefined) throw refusal;
  const fields = { method, params, what, by: { signal } };
  const answer = await new Promise<unknown>((resolve) => session.send(new HandshakeRequest(resolve), fields));
  if (answer instanceof WireError) throw toCause(answer, handshake);
  if (answer instanceof SurfaceError) throw signal?.aborted === true ? answer : toEndCause(session);
  if (!isJsonObject(answer)) throw createMismatch(what);
  return answer;
}

/** Names the surface and compares the members. Resolves with the heartbeat that the far side wants, in milliseconds. */
async function sayHello(handshake: Handshake): Promise<number> {
  const { surface, session } = handshake;
  const { contract, what } = session;
  const segments = siblingNamesOf(surface);
  const answer = await ask(handshake, methods.hello, {
    protocol: protocolVersion,
    surface: surface.name,
    ...(segments === undefined ? {} : { segments: Object.fromEntries(segments) }),
    members: contract.digests(),
  });
  if (answer["protocol"] !== protocolVersion || !isJsonObject(answer["members"])) throw createMismatch(what);
  if (answer["surface"] !== surface.name) throw createUnknown(what);
  const unclear = contract.compare(answer["members"]);
  if (unclear.length > 0) {
    const { members } = await ask(handshake, methods.describe, { members: [...unclear] });
    if (!isJsonObject(members)) throw createMismatch(what);
    contract.describe(unclear, members);
  }
  const { heartbeatMs } = answer;
  const isUsable = typeof heartbeatMs === "number" && heartbeatMs >= minHeartbeatMs && heartbeatMs <= maxHeartbeatMs;
  return isUsable ? heartbeatMs : defaultHeartbeatMs;
}

async function shakeHands(handshake: Handshake, options: WireClientOptions): Promise<void> {
  const { clock = systemClock, handshakeMs = defaultHandshakeMs } = options;
  const { session } = handshake;
  const late = new SurfaceError("TIMEOUT", `Cannot connect: no answer within ${handshakeMs} ms`);
  const stopTimer = clock.after(handshakeMs, () => session.close(late));
  try {
    const heartbeatMs = await sayHello(handshake);
    session.watch(options.heartbeatMs ?? heartbeatMs);
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
    if (signal?.aborted === true) throw createAbortedError(signal, `Cannot connect to ${session.what}`);
    await shakeHands({ surface, session, signal }, options);
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
