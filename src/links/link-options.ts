import { Buffer } from "node:buffer";
import { SurfaceError } from "../errors.ts";
import { duration, object, wholeNumber, type Option } from "../options/option.ts";
import { Budget, type BudgetUse, type Share } from "../spine/budget.ts";

/** Milliseconds of silence after which a peer is asked for a sign of life. A timer with a longer time fires at once. */
export const heartbeat: Option = duration(2 ** 31 - 1);

/** Bounds of one resource that peers use. */
export interface PeerLimit {
  /** For all peers together. */
  readonly total?: number;
  /** For one peer. */
  readonly perPeer?: number;
}

/** Bounds of the memory that peers can use in a listener: see `docs/guide/limits.md`. */
export interface LinkLimits {
  /** Arguments of requests that are not answered yet, in characters of JSON. */
  readonly argumentBytes?: PeerLimit;
  /** Answers and items that peers have not read, in bytes. */
  readonly unreadBytes?: PeerLimit;
  /** Connected peers. The oldest peer that has not said hello gives way to a new one. */
  readonly peers?: Pick<PeerLimit, "total">;
  /** Connections to a web socket listener that have not shown a token yet. The oldest gives way. */
  readonly handshakes?: Pick<PeerLimit, "total">;
}

/** The name of a limit. */
export type LinkLimitName = keyof LinkLimits;

/** Current state of each limit. */
export type LinkUse = Readonly<Record<LinkLimitName, BudgetUse>>;

/** The budgets of one listener. */
export type LinkBudgets = Readonly<Record<LinkLimitName, Budget>>;

const mebibyte = 1024 * 1024;

/** Defaults of the option `limits` of listeners. */
export const defaultLinkLimits: Readonly<Record<LinkLimitName, Required<PeerLimit>>> = Object.freeze({
  argumentBytes: { total: 64 * mebibyte, perPeer: 32 * mebibyte },
  unreadBytes: { total: 64 * mebibyte, perPeer: 32 * mebibyte },
  peers: { total: 256, perPeer: 1 },
  handshakes: { total: 256, perPeer: 1 },
});

function forEachLimit<TValue>(make: (name: LinkLimitName) => TValue): Readonly<Record<LinkLimitName, TValue>> {
  return {
    argumentBytes: make("argumentBytes"),
    unreadBytes: make("unreadBytes"),
    peers: make("peers"),
    handshakes: make("handshakes"),
  };
}

const count = wholeNumber(1);
const both = object<PeerLimit>({ total: count, perPeer: count });
const onlyTotal = object<Pick<PeerLimit, "total">>({ total: count });

/** The option `limits` of listeners. */
export const linkLimits: Option = object<LinkLimits>({
  argumentBytes: both,
  unreadBytes: both,
  peers: onlyTotal,
  handshakes: onlyTotal,
});

/** Creates the budgets of one listener. */
export function createLinkBudgets(limits: LinkLimits = {}): LinkBudgets {
  return forEachLimit((name) => {
    const given: PeerLimit = limits[name] ?? {};
    const { total, perPeer } = defaultLinkLimits[name];
    return new Budget({ total: given.total ?? total, perKey: given.perPeer ?? perPeer });
  });
}

/** Reads the current state of each budget. */
export function readLinkUse(budgets: LinkBudgets): LinkUse {
  return forEachLimit((name) => budgets[name].use);
}

let peers = 0;

/** The shares of one peer in the budgets of its listener. Call {@link close} when the peer is gone. */
export class PeerShares {
  readonly #arguments: Share;
  readonly #unread: Share;
  #isClosed = false;

  /** @param drop - ends the connection at once, to make room for other peers. */
  constructor(budgets: LinkBudgets, drop: () => void) {
    peers += 1;
    const key = `peer ${peers}`;
    this.#arguments = budgets.argumentBytes.open(key);
    this.#unread = budgets.unreadBytes.open(key, (_excess, what) => {
      if (what === "spare") return;
      drop();
      this.#unread.release();
    });
  }

  /** Counts a request of this size. Returns `false` if there is no room for it, or the peer is gone. */
  admit(size: number): boolean {
    return !this.#isClosed && this.#arguments.take(size) === undefined;
  }

  answered(size: number): void {
    this.#arguments.release(size);
  }

  /** Counts the bytes that are written and not read at present. Returns `false` if they are too many. */
  weigh(unread: number): boolean {
    // An answer that is written after the end would count for ever.
    if (this.#isClosed) return true;
    const more = unread - this.#unread.amount;
    if (more > 0) return this.#unread.take(more) === undefined;
    this.#unread.resize(unread);
    return true;
  }

  /** Gives everything back. Callable twice. */
  close(): void {
    this.#isClosed = true;
    this.#arguments.release();
    this.#unread.release();
  }
}

/** Most bytes of the path of a socket: the operating system silently cuts longer ones off. */
export const maxSocketPathBytes: number = process.platform === "darwin" ? 103 : 107;

/** Refuses a path that no socket can have. @throws SurfaceError `INVALID_OPTION`. */
export function assertSocketPath(path: string): void {
  const bytes = typeof path === "string" && !path.includes("\0") ? Buffer.byteLength(path) : 0;
  if (bytes > 0 && bytes <= maxSocketPathBytes) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot use the socket "${path}": its path has ${bytes} bytes; use 1 to ${maxSocketPathBytes}, and no zero byte`,
  );
}
