import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient, UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";

/** Why a connection ended. */
export interface CloseReason {
  /** `closed`: this side closed it. `gone`: the live surface went away. */
  readonly kind: "closed" | "gone";
}

/** One opened link. Whoever opened it closes it. */
export interface Connection<TSpec> {
  readonly client: SurfaceClient<TSpec>;
  /** The same members, untyped: what `client` is built on. */
  readonly channel: SurfaceChannel;
  /** Resolves once, when the connection has ended; never rejects. */
  readonly closed: Promise<CloseReason>;
  /** Ends it. Callable twice. */
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
  /** Opens a connection; rejects when there is no such live surface to reach. */
  connect<TSpec extends Spec>(surface: Surface<TSpec>, options?: UseOptions): Promise<Connection<TSpec>>;
}
