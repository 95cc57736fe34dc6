import { SurfaceError } from "../errors.ts";
import { createClient } from "../surface/create-client.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import type { LiveSurface } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { implementProjection, type ClientRef } from "../surface/project-surface.ts";
import { kProjection, type Projection } from "../surface/projection.ts";
import { systemClock } from "../surface/system-clock.ts";
import { assertContract } from "./reach-surface.ts";
import { HeldSurface, type HeldSetting } from "./held-surface.ts";
import { inProcess } from "./in-process.ts";
import type { KeepOptions, KeptLink, Link } from "./link.ts";

/**
 * How long an app that has just been opened leaves what a projection comes from alone, in milliseconds, unless somebody
 * asks sooner: its events begin by themselves, and what it takes to connect is not to delay the first answer.
 */
const settleMs = 1000;

interface Closable {
  close(): Promise<void>;
}

/** Holds connections back for a while. */
interface Gate {
  /** Lets connections through from now on. Callable twice. */
  open(): void;
  /** Resolves when it opens; `undefined` once it is open. */
  wait(): Promise<void> | undefined;
}

/** Creates a gate that opens by itself. Its timer does not keep the process alive. */
function createGate(delayMs: number): Gate {
  let release: () => void = () => {};
  let opened: Promise<void> | undefined = new Promise((resolve) => (release = resolve));
  const open = (): void => {
    opened = undefined;
    stop();
    release();
  };
  const stop = systemClock.after(delayMs, open);
  return { open, wait: () => opened };
}

/** A projection that lives in this process. Closing the live surface closes everything behind it. */
interface Kept<TSpec> {
  readonly live: LiveSurface<TSpec>;
  readonly gate: Gate;
}

/** A client of what is behind a link, connected on first use and again when it was lost. */
function openRef<TSource extends Spec>(
  surface: Surface<TSource>,
  setting: Pick<HeldSetting, "link" | "gate">,
  report: FaultReporter,
): ClientRef<TSource> {
  const onUnreachable = (cause: unknown): void =>
    void internalError(cause, `reaching surface "${surface.name}"`, report);
  const held = new HeldSurface({ ...setting, surface, onUnreachable });
  const { channel } = held;
  return { surface, client: createClient(surface, channel), channel, close: () => held.close() };
}

function keepProjection<TSource extends Spec, TSpec extends Spec>(
  projection: Projection<TSource, TSpec>,
  link: Link,
  options: KeepOptions,
): Kept<TSpec> {
  const { onFault = reportToConsole, toRefusal } = options;
  const gate = createGate(settleMs);
  const inner = link.keep?.(options);
  const held = { link: inner ?? link, gate: () => gate.wait() };
  const ref = openRef(projection[kProjection].source, held, toSafeReporter(onFault));
  const close = async (): Promise<void> => {
    try {
      await ref.close();
    } finally {
      // Its timer, and whoever waits behind it.
      gate.open();
      await inner?.close();
    }
  };
  try {
    return { gate, live: implementProjection(projection, { ...ref, close }, { onFault, toRefusal }) };
  } catch (cause) {
    // It has opened nothing: there is nothing to be told of its end.
    close().catch(() => {});
    throw cause;
  }
}

function assertProjection(asked: Surface<Spec>, projection: Surface<Spec>): void {
  if (asked.name !== projection.name) {
    const message = `Connecting to surface "${asked.name}": the link is of projection "${projection.name}"`;
    throw new SurfaceError("UNKNOWN_MEMBER", message);
  }
  assertContract(asked, { member: (key) => memberOf(projection, key) });
}

/**
 * A link to a projection, over a link to the surface that it comes from: the projection lives in this process. An app that
 * is bridged by it keeps it for as long as it is open, so that what its events said is there however seldom somebody
 * asks; a single connection keeps it for as long as it lasts.
 *
 * It connects when somebody uses it, or else a second after the app has been opened, for its events. While what it comes
 * from cannot be reached it goes on: cells and collections stand as they were, marked stale, and calls answer
 * `UNAVAILABLE`.
 *
 * @throws SurfaceError, when an app is opened or from `connect()`: `UNKNOWN_MEMBER` or `CONTRACT_MISMATCH` for another
 * surface than the projection, `MISSING_HANDLER` or `UNKNOWN_HANDLER`, and what the projection's function throws.
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
  return Object.freeze({
    check,
    keep(options: KeepOptions = {}): KeptLink {
      const { live, gate } = keepProjection(projection, link, options);
      const inner = inProcess(live);
      const connect: Link["connect"] = (surface, use) => {
        gate.open();
        return inner.connect(surface, use);
      };
      return Object.freeze({ check, connect, close: () => live.close() });
    },
    async connect<TAsked extends Spec>(surface: Surface<TAsked>) {
      check(surface);
      const { live, gate } = keepProjection(projection, link, {});
      gate.open();
      const connection = await inProcess(live).connect(surface);
      return Object.freeze({ ...connection, close: () => closeBoth(connection, live) });
    },
  });
}

/** Closes a connection and the projection that was its own. How that fares is no matter of the connection's. */
async function closeBoth(connection: Closable, live: Closable): Promise<void> {
  try {
    await connection.close();
  } finally {
    await live.close().catch(() => {});
  }
}
