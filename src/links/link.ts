import { setImmediate } from "node:timers";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient, UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { FaultReporter, ToRefusal } from "../surface/fault.ts";
import type { Spec } from "../surface/member.ts";

/** Why a connection ended. Later versions may know further kinds. */
export interface CloseReason {
  /** `closed`: this side closed it. `gone`: the live surface said goodbye. `lost`: it broke, or fell silent. */
  readonly kind: "closed" | "gone" | "lost";
  /** What broke it, for a log. */
  readonly cause?: unknown;
}

/** The state of a connection. Later versions may know further kinds. */
export type ConnectionState =
  | { readonly kind: "open" }
  /** The far side is going: new operations are refused, and running ones are still answered. */
  | { readonly kind: "leaving" }
  | { readonly kind: "ended"; readonly reason: CloseReason };

/** One opened link. Whoever opened it closes it. */
export interface Connection<TSpec> {
  readonly client: SurfaceClient<TSpec>;
  /**
   * The same members, untyped: what `client` is built on. A use that the end of the connection cut short rejects with
   * `DISCONNECTED`; one that was sent nowhere, because it had ended before, with `UNAVAILABLE`.
   */
  readonly channel: SurfaceChannel;
  /** Returns the state, without a delay: it has changed before an operation fails because of that. */
  readonly state: (this: void) => ConnectionState;
  /**
   * Resolves once the far side has announced that it is going: further uses are refused, and what is under way is still
   * answered. Left out where the end comes unannounced.
   */
  readonly leaving?: Promise<void>;
  /** Resolves once, when the connection has ended; never rejects. Every use has settled by then. */
  readonly closed: Promise<CloseReason>;
  /**
   * Whether reads leave this process. A watched value then answers reads without a round trip for up to a second.
   * @default false - each read asks
   */
  readonly isRemote?: boolean;
  /** Ends it. Callable twice. */
  close(): Promise<void>;
}

/** Options of a link that an app keeps: they are about the handlers that the link runs in this process, such as a projection's. */
export interface KeepOptions {
  /** Receives every fault. @default the console's error stream */
  readonly onFault?: FaultReporter | undefined;
  /** The `toRefusal` of the app. */
  readonly toRefusal?: ToRefusal | undefined;
}

/** A link that is kept. Whoever keeps it closes it, after every connection over it. */
export interface KeptLink extends Link {
  /** Ends what was kept. Callable twice. */
  close(): Promise<void>;
}

/** A way to reach a live surface. A link never reconnects by itself. */
export interface Link {
  /**
   * Throws what `connect()` would reject with, where a link knows without connecting that what it reaches does not fit:
   * an app over it then fails when it is opened, and not at its first call.
   *
   * @throws SurfaceError `UNKNOWN_MEMBER` or `CONTRACT_MISMATCH`.
   */
  check?(surface: Surface<Spec>): void;
  /**
   * The same link, for somebody who stays: what it has of its own in this process is kept from now on, whether or not there
   * is a connection. Left out by links that have nothing to keep.
   *
   * @throws SurfaceError where that cannot be made.
   */
  keep?(options?: KeepOptions): KeptLink;
  /** Opens a connection; rejects when there is no such live surface to reach. */
  connect<TSpec extends Spec>(surface: Surface<TSpec>, options?: UseOptions): Promise<Connection<TSpec>>;
}

const open: ConnectionState = Object.freeze({ kind: "open" });
const leaving: ConnectionState = Object.freeze({ kind: "leaving" });

/** The end of a connection: its state, which is known at once, and the promises that tell of it. */
export class Ending {
  #state: ConnectionState = open;
  #resolveLeaving: () => void = () => {};
  #resolveClosed: (reason: CloseReason) => void = () => {};
  readonly leaving: Promise<void> = new Promise((resolve) => (this.#resolveLeaving = resolve));
  readonly closed: Promise<CloseReason> = new Promise((resolve) => (this.#resolveClosed = resolve));

  /** Returns the state. A field, so that connections may hand it out. */
  readonly state = (): ConnectionState => this.#state;

  /** The far side is going. Does nothing afterwards. */
  leave(): void {
    if (this.#state !== open) return;
    this.#state = leaving;
    this.#resolveLeaving();
  }

  /**
   * Ends the connection. The first reason counts. `closed` resolves in the next turn: an answer that came just before the end
   * reaches its caller first, and the call is not taken for one that the end cut off.
   *
   * @param settle - settles what is under way, after the state has changed.
   */
  end(reason: CloseReason, settle?: () => void): void {
    if (this.#state.kind === "ended") return;
    this.#state = { kind: "ended", reason };
    settle?.();
    setImmediate(() => this.#resolveClosed(reason));
  }
}
