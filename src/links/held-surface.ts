import type { SurfaceError } from "../errors.ts";
import type { Clock, Random } from "../spine/clock.ts";
import { ConnectionHolder } from "../spine/connection-holder.ts";
import { followSignal } from "../spine/follow-signal.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import { startRequest } from "../spine/request.ts";
import { Scope } from "../spine/scope.ts";
import { Subscriptions } from "../spine/subscriptions.ts";
import { toAborted } from "../spine/until-aborted.ts";
import type { DirectUses, SurfaceChannel } from "../surface/channel.ts";
import { toChannel, type AskVerb, type ChannelPort, type FollowVerb, type Use } from "../surface/channel-port.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { tagOf } from "../tags/tag-of.ts";
import { toDial, type OpenedLink } from "./dial-link.ts";
import { HeldUse, nameUse, readPatienceMs, type HeldUseSetting } from "./held-use.ts";
import { Lease } from "./lease.ts";
import { leased } from "./leased-iterable.ts";
import { directReachOf } from "./in-process.ts";
import type { Link } from "./link.ts";
import type { ReachedSurface } from "./reach-surface.ts";
import { systemClock, waitingClock } from "../surface/system-clock.ts";

/** What a held surface is made of. */
export interface HeldSetting {
  readonly link: Link;
  readonly surface: Surface<Spec>;
  /** Default: this machine's. */
  readonly clock?: Clock;
  /** Default: `Math.random`. */
  readonly random?: Random;
  /** How long a connection that nobody uses is kept, in milliseconds. Default 30,000. */
  readonly idleMs?: number;
  /** Told why the live surface cannot be reached: once for each time that it goes away. */
  readonly onUnreachable?: (cause: unknown) => void;
}

const defaultIdleMs = 30_000;

/** A connection's port, and what keeps the connection in use. */
interface LeasedPort {
  readonly port: ChannelPort;
  readonly lease: Lease<OpenedLink>;
}

/**
 * A surface behind a link, held for everybody who uses it: connected on first use, shared, connected anew when it was
 * lost. What needs no live surface works without one. Reads are sent again on a new connection; calls that may change
 * something never are. Its maker closes it.
 */
export class HeldSurface {
  readonly #surface: Surface<Spec>;
  readonly #clock: Clock;
  readonly #scope: Scope;
  readonly #closing = new Set<Promise<void>>();
  readonly #holder: ConnectionHolder<OpenedLink>;
  readonly #useSetting: HeldUseSetting;
  #reached: ReachedSurface | undefined;
  /** Everything that is watched: one watch a key, shared by all who watch it. */
  readonly subscriptions: Subscriptions<OpenedLink, unknown>;
  /** The members, each use of which connects first where that has not happened yet. */
  readonly channel: SurfaceChannel;

  constructor(setting: HeldSetting) {
    const { link, surface, clock = systemClock, random = Math.random, idleMs = defaultIdleMs } = setting;
    const what = `surface "${surface.name}"`;
    const onUnreachable = setting.onUnreachable ?? (() => {});
    const dial = toDial({ link, surface, closing: this.#closing, onUnreachable });
    this.#surface = surface;
    // Of requests only: a connection that is kept, or dialled for watches alone, is no reason to live.
    this.#clock = setting.clock ?? waitingClock;
    this.#scope = new Scope(`the connection to ${what}`);
    this.#holder = new ConnectionHolder({ what, dial, clock, random, idleMs });
    this.#useSetting = { holder: this.#holder, clock: this.#clock, surface: surface.name };
    this.subscriptions = new Subscriptions({ holder: this.#holder, clock, random });
    const reach = directReachOf(link);
    this.channel = toChannel({
      ask: (use) => this.#ask(use),
      follow: (use) => this.#follow(use),
      direct: reach && {
        get: (...use) => this.#direct(reach).get(...use),
        call: (...use) => this.#direct(reach).call(...use),
      },
    });
  }

  /**
   * Closes the connection where there is one, and waits for that; no use opens one after it. A dial under way is told by
   * its signal, is waited for by nobody, and what it still opens is closed. Callable twice.
   */
  close(): Promise<void> {
    // Registered last, and so done first: no iteration is waited for while a far side that is stuck might keep it.
    if (!this.#scope.closed) this.#scope.add(() => this.#closeConnection());
    return this.#scope.close();
  }

  /** Whether the live surface is connected, or comes to be within a read's patience. Never rejects. */
  isReachable(signal: AbortSignal): Promise<boolean> {
    let leave: () => void = () => {};
    const known = new Promise<boolean>((resolve) => {
      const cancel = startRequest<OpenedLink, true>(this.#holder, this.#clock, {
        what: `surface "${this.#surface.name}"`,
        kind: "read",
        patienceMs: readPatienceMs,
        waiting: () => {},
        send: (_opened, reply) => {
          reply.answered(true);
          return () => {};
        },
        answered: resolve,
        failed: () => resolve(false),
      });
      leave = followSignal(signal, () => {
        cancel();
        resolve(false);
      });
    });
    // The signal may be one that outlives many questions.
    return known.finally(leave);
  }

  async #closeConnection(): Promise<void> {
    this.#holder.close();
    await Promise.all(this.#closing);
  }

  #ask(use: Use<AskVerb>): Promise<unknown> {
    return new HeldUse(use, this.#kindOf(use), this.#useSetting).run();
  }

  /** Returns the uses of a live surface in this process. A connection says more of what is closed, or does not fit. */
  #direct(reach: (surface: Surface<Spec>) => ReachedSurface): DirectUses {
    try {
      this.#reached ??= reach(this.#surface);
    } catch {
      return this.channel;
    }
    const { scope, channel } = this.#reached;
    return scope.closed || this.#scope.closed ? this.channel : (channel.direct ?? this.channel);
  }

  #follow(use: Use<FollowVerb>): AsyncIterable<unknown> {
    this.#scope.assertOpen();
    const open = async (signal: AbortSignal): Promise<AsyncIterable<unknown>> => {
      const { port, lease } = await this.#lease(use, signal);
      const release = (): void => lease.release();
      if (!signal.aborted) return leased(() => port.follow(use), release);
      release();
      throw this.#createAborted(use, signal);
    };
    return new OwnedIterator({ open, scope: this.#scope, signal: use.options.signal });
  }

  /** Waits for a connection as a read does, and for no longer than its caller cares. */
  #lease(use: Use<FollowVerb>, signal: AbortSignal): Promise<LeasedPort> {
    return new Promise((resolve, reject) => {
      const cancel = startRequest<OpenedLink, LeasedPort>(this.#holder, this.#clock, {
        what: this.#name(use),
        kind: "read",
        patienceMs: readPatienceMs,
        waiting: () => {},
        send: ({ port }, reply) => {
          // Taken before the request is over, so that there is no moment without a user.
          reply.answered({ port, lease: new Lease(this.#holder) });
          return () => {};
        },
        answered: resolve,
        failed: reject,
      });
      // Not left again: the signal is of this one iteration, and goes with it.
      followSignal(signal, () => {
        cancel();
        reject(this.#createAborted(use, signal));
      });
    });
  }

  #createAborted(use: Use<FollowVerb>, signal: AbortSignal): SurfaceError {
    return toAborted(signal, `Using ${this.#name(use)}`);
  }

  #name({ member }: Use<FollowVerb>): string {
    return nameUse(this.#surface.name, member);
  }

  #kindOf({ verb, member: key, options }: Use<AskVerb>): "read" | "mutation" {
    if (verb !== "call") return "read";
    const { idempotent } = options;
    if (idempotent !== undefined) return idempotent ? "read" : "mutation";
    const member = memberOf(this.#surface, key);
    return member !== undefined && tagOf(member).effect === "read" ? "read" : "mutation";
  }
}
