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
  /** The error that ended it, for a log. */
  readonly cause?: unknown;
}

/** The state of a connection. Later versions may know further kinds. */
export type ConnectionState =
  | { readonly kind: "open" }
  /** The far side is going: new operations are refused, and running ones are still answered. */
  | { readonly kind: "leaving" }
  | { readonly kind: "ended"; readonly reason: CloseReason };

/** One opened link. The caller that opened it closes it. */
export interface Connection<TSpec> {
  readonly client: SurfaceClient<TSpec>;
  /** The same members, untyped. The end cuts operations off with `DISCONNECTED`; those that start after it reject with `UNAVAILABLE`. */
  readonly channel: SurfaceChannel;
  /** Returns the state, without a delay: it has changed before an operation fails because of that. */
  readonly state: (this: void) => ConnectionState;
  /** Resolves once the far side refuses new operations, and still answers running ones. Left out if the link cannot know. */
  readonly leaving?: Promise<void>;
  /** Resolves when the connection has ended; never rejects. Every operation has settled by then. */
  readonly closed: Promise<CloseReason>;
  /** Whether reads leave this process. A watched value then answers reads without a round trip for up to a second. @default false */
  readonly isRemote?: boolean;
  /** Ends it. Callable twice. */
  close(): Promise<void>;
}

/** Options of {@link Link.keep}, for the handlers that a link runs in this process, such as those of a projection. */
export interface KeepOptions {
  /** Receives every fault. @default the console's error stream */
  readonly onFault?: FaultReporter | undefined;
  /** The `toRefusal` of the app. */
  readonly toRefusal?: ToRefusal | undefined;
}

/** A kept link. The caller of {@link Link.keep} closes it, after every connection over it. */
export interface KeptLink extends Link {
  /** Ends the kept parts. Callable twice. */
  close(): Promise<void>;
}

/** A way to reach a live surface. A link never reconnects by itself. */
export interface Link {
  /** Throws the `UNKNOWN_MEMBER` or `CONTRACT_MISMATCH` of `connect()` that the link knows without connecting, for the start of an app. */
  check?(surface: Surface<Spec>): void;
  /** Returns the same link, which keeps its parts in this process, such as a projection, until `close()`. Left out without such parts. */
  keep?(options?: KeepOptions): KeptLink;
  /** Opens a connection; rejects if the live surface cannot be reached. */
  connect<TSpec extends Spec>(surface: Surface<TSpec>, options?: UseOptions): Promise<Connection<TSpec>>;
}

const open: ConnectionState = Object.freeze({ kind: "open" });
const leaving: ConnectionState = Object.freeze({ kind: "leaving" });

/** The end of a connection: its state, which changes at once, and the promises that follow it. */
export class ConnectionEnd {
  #state: ConnectionState = open;
  #resolveLeaving: () => void = () => {};
  #resolveClosed: (reason: CloseReason) => void = () => {};
  readonly leaving: Promise<void> = new Promise((resolve) => (this.#resolveLeaving = resolve));
  readonly closed: Promise<CloseReason> = new Promise((resolve) => (this.#resolveClosed = resolve));

  /** Returns the state. A field, so that connections may hand it out. */
  readonly state = (): ConnectionState => this.#state;

  leave(): void {
    if (this.#state !== open) return;
    this.#state = leaving;
    this.#resolveLeaving();
  }

  /** Ends the connection, for the first reason; `settle` settles operations. `closed` resolves a turn later, after earlier answers. */
  end(reason: CloseReason, settle?: () => void): void {
    if (this.#state.kind === "ended") return;
    this.#state = { kind: "ended", reason };
    settle?.();
    setImmediate(() => this.#resolveClosed(reason));
  }
}
