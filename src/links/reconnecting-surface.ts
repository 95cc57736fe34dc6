import { SurfaceError } from "../errors.ts";
import type { Clock, Random } from "../spine/clock.ts";
import { ConnectionManager, type ConnectionUser } from "../spine/connection-manager.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import { startRequest } from "../spine/request.ts";
import { Scope } from "../spine/scope.ts";
import { followSignal, createAbortedError } from "../spine/signals.ts";
import { Subscriptions } from "../spine/subscriptions.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { systemClock, waitingClock } from "../surface/system-clock.ts";
import { createDial, type LinkChange, type OpenedLink } from "./dial-link.ts";
import { localSurfaceFinder } from "./in-process.ts";
import type { Link } from "./link.ts";
import { nameMember, PendingRequest, readConnectTimeoutMs, type PendingRequestDeps } from "./pending-request.ts";
import { isRead, type ReachedSurface } from "./reach-surface.ts";

/**
 * Keeps a connection from being closed as idle until it ends, or the returned function is called. Asks for no other one. The end closes
 * nothing else: running operations may still be answered.
 */
function lease(holder: ConnectionManager<OpenedLink>): () => void {
  let held: number | undefined;
  const user: ConnectionUser<OpenedLink> = {
    wants: false,
    isPatient: () => true,
    live: (_link, generation) => (held ??= generation),
    down() {},
    ended(generation) {
      if (generation === held) release();
    },
    unreachable() {},
  };
  const release = holder.join(user);
  return release;
}

/** Options of a {@link ReconnectingSurface}. */
export interface ReconnectingSurfaceOptions {
  readonly link: Link;
  readonly surface: Surface<Spec>;
  /** @default this machine's clock */
  readonly clock?: Clock;
  /** @default `Math.random` */
  readonly random?: Random;
  /** Milliseconds that an unused connection is kept. @default 30_000 */
  readonly idleMs?: number;
  /** Whether its user outlives the link, as with siblings: its end then fails operations like a lost connection. @default false */
  readonly outlivesLink?: boolean;
  /** Returns a promise while no connection may be opened. */
  readonly gate?: () => Promise<void> | undefined;
  /** Receives the reason each time that the live surface becomes unreachable. */
  readonly onUnreachable?: (cause: unknown) => void;
  /** Called when a connection has opened, and when it has ended. */
  readonly onLink?: ((change: LinkChange) => void) | undefined;
}

const defaultIdleMs = 30_000;

interface LeasedLink {
  readonly link: OpenedLink;
  /** Callable twice. */
  readonly release: () => void;
}

/** A surface behind a link, shared by all its users. It connects on first use, and again after a loss. Call `close()` when done. */
export class ReconnectingSurface {
  readonly #surface: Surface<Spec>;
  readonly #clock: Clock;
  readonly #scope: Scope;
  readonly #closing = new Set<Promise<void>>();
  readonly #holder: ConnectionManager<OpenedLink>;
  readonly #requestDeps: PendingRequestDeps;
  #reached: ReachedSurface | undefined;
  /** The watches, one for each key, shared by all watchers. */
  readonly subscriptions: Subscriptions<OpenedLink, unknown>;
  /** The members. An operation connects first if there is no connection. */
  readonly channel: SurfaceChannel;

  constructor(options: ReconnectingSurfaceOptions) {
    const { link, surface, clock = systemClock, random = Math.random, idleMs = defaultIdleMs } = options;
    const { outlivesLink = false, gate, onUnreachable = () => {}, onLink } = options;
    const what = `surface "${surface.name}"`;
    const dial = createDial({ link, surface, closing: this.#closing, outlivesLink, gate, onUnreachable, onLink });
    this.#surface = surface;
    // Requests keep the process alive. A connection that is kept, or dialled for watches alone, does not.
    this.#clock = options.clock ?? waitingClock;
    this.#scope = new Scope(`the connection to ${what}`);
    this.#holder = new ConnectionManager({ what, dial, clock, random, idleMs });
    this.#requestDeps = { holder: this.#holder, clock: this.#clock, surface: surface.name, outlivesLink };
    this.subscriptions = new Subscriptions({ holder: this.#holder, clock, random });
    const reach = outlivesLink ? undefined : localSurfaceFinder(link);
    this.channel = {
      request: (operation) => {
        const direct = reach && this.#reachDirectly(reach, operation);
        return direct === undefined ? this.#request(operation) : direct.request(operation);
      },
      subscribe: (operation) => this.#subscribe(operation),
    };
  }

  /** Closes the connection. No operation opens one after it. Does not wait for a dial under way, which it aborts. Callable twice. */
  close(): Promise<void> {
    // Registered last, so done first: no iteration is waited for while a far side that is stuck might keep it.
    if (!this.#scope.closed) this.#scope.add(() => this.#closeConnection());
    return this.#scope.close();
  }

  /** Returns whether the live surface is connected, or becomes so within the patience of a read. Never rejects. */
  isReachable(signal: AbortSignal): Promise<boolean> {
    return this.#lease(`surface "${this.#surface.name}"`, signal).then(
      ({ release }) => {
        release();
        return true;
      },
      () => false,
    );
  }

  async #closeConnection(): Promise<void> {
    this.#holder.close();
    await Promise.all(this.#closing);
  }

  #request(operation: Operation<RequestVerb>): Promise<unknown> {
    const kind = isRead(memberOf(this.#surface, operation.member), operation) ? "read" : "mutation";
    return new PendingRequest(operation, kind, this.#requestDeps).run();
  }

  /** Returns the channel of a live surface in this process, which calls and reads of cells use directly while it is open and fits. */
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

  #subscribe(operation: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    if (this.#scope.closed) throw this.#scope.createClosed();
    const what = nameMember(this.#surface.name, operation.member);
    const { signal } = operation.options;
    let leased: LeasedLink | undefined;
    return new OwnedIterator({
      open: async (own) => {
        leased = await this.#lease(what, own);
        if (!own.aborted) return leased.link.channel.subscribe(operation);
        leased.release();
        throw createAbortedError(own, `Cannot use ${what}`);
      },
      cut: () => {
        if (!this.#requestDeps.outlivesLink || leased?.link.isOpen() !== false) return undefined;
        return new SurfaceError("DISCONNECTED", `Cannot use ${what}: the connection has ended`);
      },
      over: () => leased?.release(),
      scope: this.#scope,
      signal,
    });
  }

  /** Waits for a connection as a read does, until the signal fires. */
  #lease(what: string, signal: AbortSignal): Promise<LeasedLink> {
    let leave: () => void = () => {};
    const leased = new Promise<LeasedLink>((resolve, reject) => {
      const cancel = startRequest<OpenedLink, LeasedLink>(this.#holder, this.#clock, {
        what,
        kind: "read",
        patienceMs: readConnectTimeoutMs,
        waiting: () => {},
        send: (link, reply) => {
          // Taken before the request is over, so that there is no moment without a user.
          reply.answered({ link, release: lease(this.#holder) });
          return () => {};
        },
        answered: resolve,
        failed: reject,
      });
      leave = followSignal(signal, () => {
        cancel();
        reject(createAbortedError(signal, `Cannot use ${what}`));
      });
    });
    // The signal may outlive many requests.
    return leased.finally(leave);
  }
}
