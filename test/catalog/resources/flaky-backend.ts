import { SurfaceError } from "../../../src/errors.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import { ConnectionEnd, type Connection, type Link } from "../../../src/links/link.ts";
import { OwnedIterator } from "../../../src/spine/owned-iterator.ts";
import { Scope } from "../../../src/spine/scope.ts";
import type { SurfaceChannel } from "../../../src/surface/channel.ts";
import { createClient } from "../../../src/surface/create-client.ts";
import type { Surface } from "../../../src/surface/define-surface.ts";
import type { LiveSurface } from "../../../src/surface/implement-surface.ts";
import type { Spec } from "../../../src/surface/member.ts";

/** A live surface behind a link that breaks when it is told to. */
export interface FlakyBackend {
  readonly link: Link;
  /** How often it was connected to. */
  readonly dials: number;
  /** Breaks every connection, and lets none come about until {@link up}. */
  down(): void;
  /** Lets connections come about: to the same live surface, or to another. */
  up<TSpec extends Spec>(next?: LiveSurface<TSpec>): void;
}

const lost = (): SurfaceError => new SurfaceError("DISCONNECTED", "Using a flaky link: it broke");

/** Breaks a promise of a connection that is lost. */
function until<TValue>(broken: Promise<never>, work: Promise<TValue>): Promise<TValue> {
  return Promise.race([work, broken]);
}

async function breakable(
  inner: Connection<Spec>,
  surface: Surface<Spec>,
  breaks: Set<() => void>,
): Promise<Connection<Spec>> {
  const scope = new Scope("a flaky connection");
  let lose: (cause: unknown) => void = () => {};
  const broken = new Promise<never>((_resolve, reject) => (lose = reject));
  broken.catch(() => {});
  const ending = new ConnectionEnd();
  const snap = (): void => {
    breaks.delete(snap);
    lose(lost());
    ending.end({ kind: "lost" });
    void scope.close();
    void inner.close();
  };
  breaks.add(snap);
  const channel: SurfaceChannel = {
    request: (use) => until(broken, Promise.resolve(inner.channel.request(use))),
    subscribe: (use) =>
      new OwnedIterator({ open: () => inner.channel.subscribe(use), scope, signal: use.options.signal }),
  };
  const close = async (): Promise<void> => {
    breaks.delete(snap);
    ending.end({ kind: "closed" });
    await scope.close();
    await inner.close();
  };
  const { state, closed } = ending;
  return { client: createClient(surface, channel), channel, state, closed, isRemote: true, close };
}

/** Makes a link to a live surface that breaks when it is told to. Whoever made the live surface closes it. */
export function flakyBackend<TSpec extends Spec>(first: LiveSurface<TSpec>): FlakyBackend {
  // Every spec is a Spec; a live surface is not covariant in it.
  let live = first as unknown as LiveSurface<Spec>;
  let isUp = true;
  let dials = 0;
  const breaks = new Set<() => void>();
  const connect = async (surface: Surface<Spec>): Promise<Connection<Spec>> => {
    dials += 1;
    if (!isUp) throw new SurfaceError("UNAVAILABLE", "Connecting to a flaky link: it is down");
    return breakable(await inProcess(live).connect(surface), surface, breaks);
  };
  return {
    // The surface that is asked for says what the connection's members are.
    link: { connect: connect as unknown as Link["connect"] },
    get dials() {
      return dials;
    },
    down() {
      isUp = false;
      for (const snap of [...breaks]) snap();
    },
    up(next) {
      // As above.
      if (next !== undefined) live = next as unknown as LiveSurface<Spec>;
      isUp = true;
    },
  };
}
