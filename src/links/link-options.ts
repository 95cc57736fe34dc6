import { duration, object, wholeNumber, type Option } from "../options/option.ts";
import { Budget, type BudgetUse } from "../spine/budget.ts";

/** Milliseconds of silence after which a peer is asked for a sign of life. Longer ones make a timer fire at once. */
export const heartbeat: Option = duration(2 ** 31 - 1);

/** Bounds of one thing that peers can make a listener hold. */
export interface PeerLimit {
  /** For all peers together. */
  readonly total?: number;
  /** For one peer. */
  readonly perPeer?: number;
}

/** Bounds of what peers can make a listener hold: see `docs/guide/limits.md`. */
export interface LinkLimits {
  /** Arguments of requests that are not answered yet, in characters of JSON. */
  readonly argumentBytes?: PeerLimit;
  /** Answers and items that peers have not read, in bytes. */
  readonly unreadBytes?: PeerLimit;
  /** Peers that are connected. The oldest that has not said who it is gives way to a new one. */
  readonly peers?: Pick<PeerLimit, "total">;
  /** Connections to a web socket listener that have not shown a token yet. The oldest gives way. */
  readonly handshakes?: Pick<PeerLimit, "total">;
}

/** Name of something that peers can make a listener hold. */
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
const bytes = object<PeerLimit>({ total: count, perPeer: count });
const onlyTotal = object<Pick<PeerLimit, "total">>({ total: count });

/** The option `limits` of listeners. */
export const linkLimits: Option = object<LinkLimits>({
  argumentBytes: bytes,
  unreadBytes: bytes,
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
