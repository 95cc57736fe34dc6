import { SurfaceError } from "../errors.ts";
import type { TypeProblem } from "../tags/type-problem.ts";

/** The wire name of a tool: its id with `_` for each dot. */
export type WireName<TKey extends string> = TKey extends `${infer Head}.${infer Tail}`
  ? `${Head}_${WireName<Tail>}`
  : TKey;

// Keys with one name on the wire meet under it, as a union.
/** Keys by their wire names. */
type KeysByWireName<TKeys extends string> = { readonly [Key in TKeys as WireName<Key>]: Key };

// A key without a dot is its own name, so of two keys with one name, one has a dot: the objection is to that one.
/** The keys with a dot that share their wire name with another. */
type SharedNames<TKeys extends string, TByName> = TKeys extends `${string}.${string}`
  ? [TByName[WireName<TKeys> & keyof TByName]] extends [TKeys]
    ? never
    : TKeys
  : never;

/** An objection to every key that shares its name on the wire with another key of the same object. */
export type WireNamesChecked<TKeys extends string> = {
  readonly [
    Key in SharedNames<TKeys, KeysByWireName<TKeys>>
  ]: TypeProblem<`the name "${WireName<Key>}" is taken by another key of this object`>;
};

// Two different keys with one name differ where one has a dot and the other `_`. The compiler intersects keys with a pattern
// without an instantiation for each, so a record without such keys costs nothing.
/** `true` when two of these keys may have one name on the wire; `false` when all names differ for certain. */
export type MayCollide<TKeys> = [TKeys & Underscored] extends [never]
  ? false
  : [TKeys & Dotted] extends [never]
    ? false
    : true;

/** A sentence for each two tools with one wire name; `never` when all names differ. */
export type CollisionSentence<TKeys extends string> = SentenceAmong<
  TKeys & Dotted,
  KeysByWireName<(TKeys & Dotted) | (TKeys & Underscored)>
>;

/** A key that is not its own name on the wire. */
type Dotted = `${string}.${string}`;

/** A key that may have the name of another with a dot. */
type Underscored = `${string}_${string}`;

// A pattern is a name that may exist, and no proof of a collision.
/** The sentences about keys with a dot that share their wire name. */
type SentenceAmong<TDotted extends string, TByName> = TDotted extends unknown
  ? [TByName[WireName<TDotted> & keyof TByName]] extends [TDotted]
    ? never
    : Record<never, never> extends Record<TDotted, 1>
      ? never
      : `the tools "${TDotted}" and "${Exclude<TByName[WireName<TDotted> & keyof TByName] & string, TDotted>}" have one name, "${WireName<TDotted>}": rename one of them`
  : never;

/** Characters of a wire name that model providers accept. */
const maxLength = 64;

/** Above this, a host's own prefix (`mcp__server__`) may push the name over 64. */
const comfortableLength = 40;

/** Options of {@link toWireName}. */
export interface WireNameOptions {
  /** Accepts `-`, in names of hand-written tools and mounted operations. Some hosts rewrite it to `_`. @default false */
  readonly allowDash?: boolean;
  /** The name in messages. */
  readonly origin: string;
}

// A dot stands between two names, as in the key of a member.
const plainId = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/;
const dashedId = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/**
 * Returns the wire name of an id: with `_` for each dot.
 *
 * @throws SurfaceError `INVALID_NAME` for other characters than letters, digits, `_`, `-` if allowed, and single dots inside; and for
 * more than 64 characters.
 */
export function toWireName(id: string, { allowDash = false, origin }: WireNameOptions): string {
  const pattern = allowDash ? dashedId : plainId;
  if (id.length <= maxLength && pattern.test(id)) return id.replaceAll(".", "_");
  throw new SurfaceError(
    "INVALID_NAME",
    `Cannot name ${origin}: "${id}" must be letters, digits, ${allowDash ? '"_", "-"' : '"_"'} and single dots inside, at most ${maxLength} characters`,
  );
}

/** Returns a sentence about a name that some hosts cannot use; `undefined` for others. */
export function nameWarning(name: string, origin: string): string | undefined {
  if (name in Object.prototype) {
    return `the name "${name}" of ${origin} is one that every JavaScript object has: hosts that keep tools in one confuse them`;
  }
  if (name.length <= comfortableLength) return undefined;
  return `the name "${name}" of ${origin} is ${name.length} characters long: hosts put a prefix before it, and over 64 they cut or refuse`;
}

/** The names of the tools of a gateway. */
export const gatewayToolNames = ["call", "list", "schema", "search"] as const;

/** The name of a tool of a gateway. */
export type GatewayToolName = (typeof gatewayToolNames)[number];

/** Returns the name of such a tool in messages. */
export function gatewayOrigin(name: GatewayToolName): string {
  return `tool "${name}" of the gateway`;
}

/** The name of the tool that `.views(…, { replay: true })` adds. */
export const replayToolName = "replay";

/** The type of {@link replayToolName}. */
export type ReplayToolName = typeof replayToolName;

/** The name of that tool in messages. */
export const replayOrigin: string = `tool "${replayToolName}" of views()`;
