import { SurfaceError } from "../errors.ts";
import { createClient } from "../surface/create-client.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import { internalError, reportToConsole, toSafeReporter } from "../surface/fault.ts";
import type { LiveSurface } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { implementProjection, kProjection, type Projection } from "../surface/project-surface.ts";
import { systemClock } from "../surface/system-clock.ts";
import { assertContract } from "./reach-surface.ts";
import { ReconnectingSurface } from "./reconnecting-surface.ts";
import { inProcess } from "./in-process.ts";
import type { KeepOptions, KeptLink, Link } from "./link.ts";

/** Milliseconds until the projection of an opened app connects, unless it is used before: the first answer must not wait for that. */
const settleMs = 1000;

/** Creates a gate for connections, which opens after a delay, or by `open()`. `wait()` returns a promise until then. */
function createGate(delayMs: number): {
  readonly open: () => void;
  readonly wait: () => Promise<void> | undefined;
} {
  let resolve = (): void => {};
  const opened = new Promise<void>((done) => (resolve = done));
  let isOpen = false;
  const open = (): void => {
    isOpen = true;
    stop();
    resolve();
  };
  const stop = systemClock.after(delayMs, open);
  return { open, wait: () => (isOpen ? undefined : opened) };
}

/** A projection that lives in this process. Closing the live surface closes its source connection too. */
interface Kept<TSpec> {
  readonly live: LiveSurface<TSpec>;
  /** Lets it connect from now on. Callable twice. */
  readonly open: () => void;
}

function keepProjection<TSource extends Spec, TSpec extends Spec>(
  projection: Projection<TSource, TSpec>,
  link: Link,
  options: KeepOptions,
): Kept<TSpec> {
  const { onFault = reportToConsole, toRefusal } = options;
  const surface = projection[kProjection].source;
  const report = toSafeReporter(onFault);
  const gate = createGate(settleMs);
  const inner = link.keep?.(options);
  const onUnreachable = (cause: unknown): void =>
    void internalError(cause, `reaching surface "${surface.name}"`, report);
  const held = new ReconnectingSurface({ link: inner ?? link, surface, gate: () => gate.wait(), onUnreachable });
  const { channel } = held;
  const close = async (): Promise<void> => {
    try {
      await held.close();
    } finally {
      // Stops its timer, and releases the connections that wait for it.
      gate.open();
      await inner?.close();
    }
  };
  try {
    const source = { surface, client: createClient(surface, channel), channel, close };
    return { open: gate.open, live: implementProjection(projection, source, { onFault, toRefusal }) };
  } catch (cause) {
    // It has connected to nothing, so its end is of no interest.
    close().catch(() => {});
    throw cause;
  }
}

function assertProjection(asked: Surface<Spec>, projection: Surface<Spec>): void {
  if (asked.name !== projection.name) {
    const message = `Cannot connect to surface "${asked.name}": the link is of projection "${projection.name}"`;
    throw new SurfaceError("UNKNOWN_MEMBER", message);
  }
  assertContract(asked, { member: (key) => memberOf(projection, key) });
}

/**
 * Creates a link to a projection, over a link to its source. The projection lives in this process: as long as an app that is bridged by the
 * link, with its events, or a single connection. It connects to the source on first use, or a second after the app was opened. While the
 * source cannot be reached, cells and collections keep their values, marked stale, and calls answer `UNAVAILABLE`.
 *
 * @throws SurfaceError, when an app is opened or from `connect()`: `UNKNOWN_MEMBER` or `CONTRACT_MISMATCH` for another surface than the
 * projection, `MISSING_HANDLER` or `UNKNOWN_HANDLER`, and the errors of the function of the projection.
 * @example
 * ```ts
 * const app = mcp(agentSurface).bridge(projected(agentSurface, unixSocket(".ci/pipeline.sock")));
 * ```
 */
export function projected<TSource extends Spec, TSpec extends Spec>(
  projection: Projection<TSource, TSpec>,
  link: Link,
): Link {
  const check = (surface: Surface<Spec>): void => {
    assertProjection(surface, projection);
    link.check?.(projection[kProjection].source);
  };
  const keep = (options: KeepOptions = {}): KeptLink => {
    const { live, open } = keepProjection(projection, link, options);
    const inner = inProcess(live);
    const connect: Link["connect"] = (surface, use) => {
      open();
      return inner.connect(surface, use);
    };
    return Object.freeze({ check, connect, close: () => live.close() });
  };
  return Object.freeze({
    check,
    keep,
    async connect<TAsked extends Spec>(surface: Surface<TAsked>) {
      check(surface);
      const kept = keep();
      const connection = await kept.connect(surface);
      const close = async (): Promise<void> => {
        try {
          await connection.close();
        } finally {
          // The projection belongs to this connection. A failure of its end is not one of the connection.
          await kept.close().catch(() => {});
        }
      };
      return Object.freeze({ ...connection, close });
    },
  });
}
