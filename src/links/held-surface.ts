import { SurfaceError } from "../errors.ts";
import type { Clock, Random } from "../spine/clock.ts";
import { ConnectionHolder, type HolderUser } from "../spine/connection-holder.ts";
import { followSignal, toAborted } from "../spine/signals.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import { startRequest } from "../spine/request.ts";
import { Scope } from "../spine/scope.ts";
import { Subscriptions } from "../spine/subscriptions.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { systemClock, waitingClock } from "../surface/system-clock.ts";
import { toDial, type OpenedLink } from "./dial-link.ts";
import { isRead } from "./droppable.ts";
import { HeldUse, nameUse, readPatienceMs, type HeldUseSetting } from "./held-use.ts";
import { directReachOf } from "./in-process.ts";
import type { Link } from "./link.ts";
import type { ReachedSurface } from "./reach-surface.ts";
import { retold } from "./retold.ts";

/** Keeps a connection from being closed as idle, until it is released or the connection ends. Does not ask for another. */
class Lease implements HolderUser<OpenedLink> {
  readonly wants = false;
  readonly #leave: () => void;
  #generation = 0;

  constructor(holder: ConnectionHolder<OpenedLink>) {
    this.#leave = holder.join(this);
  }

  isPatient(): boolean {
    return true;
  }

  live(_link: OpenedLink, generation: number): void {
    if (this.#generation === 0) this.#generation = generation;
  }

  down(): void {
    // Running operations may still be answered.
  }

  ended(generation: number): void {
    if (generation === this.#generation) this.release();
  }

  unreachable(): void {
    // The holder was closed, and has removed it.
  }

  /** Callable twice. */
  release(): void {
    this.#leave();
  }
}

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
  /**
   * Whether its user goes on when the link has ended, as with one of several siblings. Operations that the end cuts off then fail
   * as those of a lost connection, and a live surface of this process that was closed was dropped. @default false
   */
  readonly outlivesLink?: boolean;
  /** Returns a promise while no connection may be opened. */
  readonly gate?: () => Promise<void> | undefined;
  /** Told why the live surface cannot be reached: once for each time that it goes away. */
  readonly onUnreachable?: (cause: unknown) => void;
}

const defaultIdleMs = 30_000;

/** A connection, and what keeps it in use. */
interface LeasedLink {
  readonly link: OpenedLink;
  readonly lease: Lease;
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
    const { outlivesLink = false, gate } = setting;
    const dial = toDial({ link, surface, closing: this.#closing, outlivesLink, gate, onUnreachable });
    this.#surface = surface;
    // Of requests only: a connection that is kept, or dialled for watches alone, is no reason to live.
    this.#clock = setting.clock ?? waitingClock;
    this.#scope = new Scope(`the connection to ${what}`);
    this.#holder = new ConnectionHolder({ what, dial, clock, random, idleMs });
    this.#useSetting = { holder: this.#holder, clock: this.#clock, surface: surface.name, outlivesLink };
    this.subscriptions = new Subscriptions({ holder: this.#holder, clock, random });
    const reach = outlivesLink ? undefined : directReachOf(link);
    this.channel = {
      request: (operation) => {
        const direct = reach && this.#reachDirectly(reach, operation);
        return direct === undefined ? this.#request(operation) : direct.request(operation);
      },
      subscribe: (operation) => this.#subscribe(operation),
    };
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

  #request(operation: Operation<RequestVerb>): Promise<unknown> {
    return new HeldUse(operation, this.#kindOf(operation), this.#useSetting).run();
  }

  /**
   * Returns the channel of a live surface in this process, for calls and reads of cells: those need no connection. A connection
   * says more of a surface that is closed, or does not fit.
   */
  #reachDirectly(
    reach: (surface: Surface<Spec>) => ReachedSurface,
    { verb }: Operation<RequestVerb>,
  ): SurfaceChannel | undefined {
    if (verb !== "call" && verb !== "get") return undefined;
    try {
      this.#reached ??= reach(this.#surface);
    } catch {
      return undefined;
    }
    const { scope, channel } = this.#reached;
    return scope.closed || this.#scope.closed ? undefined : channel;
  }

  #subscribe(use: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    if (this.#scope.closed) throw this.#scope.createClosed();
    const open = async (signal: AbortSignal): Promise<AsyncIterable<unknown>> => {
      const { link, lease } = await this.#lease(use, signal);
      const release = (): void => lease.release();
      const cut = (): SurfaceError | undefined => {
        if (!this.#useSetting.outlivesLink || signal.aborted || link.isOpen()) return undefined;
        return new SurfaceError("DISCONNECTED", `Using ${this.#name(use)}: the connection has ended`);
      };
      if (!signal.aborted) return retold(() => link.channel.subscribe(use), { cut, over: release });
      release();
      throw this.#createAborted(use, signal);
    };
    return new OwnedIterator({ open, scope: this.#scope, signal: use.options.signal });
  }

  /** Waits for a connection as a read does, and for no longer than its caller cares. */
  #lease(use: Operation<SubscribeVerb>, signal: AbortSignal): Promise<LeasedLink> {
    return new Promise((resolve, reject) => {
      const cancel = startRequest<OpenedLink, LeasedLink>(this.#holder, this.#clock, {
        what: this.#name(use),
        kind: "read",
        patienceMs: readPatienceMs,
        waiting: () => {},
        send: (link, reply) => {
          // Taken before the request is over, so that there is no moment without a user.
          reply.answered({ link, lease: new Lease(this.#holder) });
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

  #createAborted(use: Operation<SubscribeVerb>, signal: AbortSignal): SurfaceError {
    return toAborted(signal, `Using ${this.#name(use)}`);
  }

  #name({ member }: Operation<SubscribeVerb>): string {
    return nameUse(this.#surface.name, member);
  }

  #kindOf(operation: Operation<RequestVerb>): "read" | "mutation" {
    return isRead(memberOf(this.#surface, operation.member), operation) ? "read" : "mutation";
  }
}
