import { isObject } from "../options/is-object.ts";
import { SurfaceError } from "../errors.ts";
import { kExposure, tagOf, type Taggable } from "../tags/tag-of.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import type { Kind, Spec } from "./member.ts";

/**
 * Where a surface keeps its keys, for the compiler to compare, and by which it is known. Registered globally, so that
 * two copies of this package in one process take each other's surfaces.
 */
export const kKeys: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.keys");

/**
 * A named, typed set of members: plain data, no behaviour, and made by {@link defineSurface} alone. A surface is not one
 * of fewer members: what the narrower type would hide would still be exposed. So its keys are a type parameter of their
 * own, which follows from the first.
 */
export interface Surface<TSpec, TKeys extends string = Extract<keyof TSpec, string>> {
  readonly name: string;
  readonly members: TSpec;
  /** The keys of the members: what the compiler knows this surface by. */
  readonly [kKeys]: readonly TKeys[];
}

/** record -> its keys; of a choice of records, those of all, where `keyof` has what they share. */
export type KeysOfAny<TRecord> = TRecord extends unknown ? keyof TRecord : never;

/**
 * A pattern that no key of a surface matches. An intersection with it is `never` for literal keys, and not for patterns and
 * branded strings. The compiler computes it for all keys at once, without an instantiation for each.
 */
type Unmatched = `${string}\u0000`;

/**
 * `unknown` when every key is a literal or a pattern of `${string}`, else a problem: the compiler cannot guard names that it
 * does not know.
 */
export type LiteralKeys<TRecord> = [KeysOfAny<TRecord>] extends [infer Keys]
  ? [Keys] extends [never]
    ? unknown extends TRecord
      ? unknown
      : NoKeys
    : number extends Keys
      ? TypeProblem<NotLiteral>
      : [Keys & Unmatched] extends [never]
        ? unknown
        : [OpenKeys<Keys>] extends [never]
          ? unknown
          : TypeProblem<NotLiteral>
  : never;

/** The keys whose names on the wire the compiler cannot describe. */
type OpenKeys<TKey> = TKey extends string ? (string extends TKey ? TKey : OpenSegments<TKey>) : never;

// `${number}` may hold a dot, which the name on the wire has not. A branded string has no parts.
/** The placeholders of a pattern that are not `${string}`; `never` for a literal. */
type OpenSegments<TKey extends string> = TKey extends `${infer Head}${infer Tail}`
  ? string extends Head
    ? OpenSegments<Tail>
    : Record<never, never> extends Record<Head, 1>
      ? Head
      : OpenSegments<Tail>
  : string extends TKey
    ? never
    : Exclude<TKey, "">;

// The compiler checks excess keys against every object type but `{}`.
/** An object without keys. Refuses the members that a type argument of `{}` would hide. */
interface NoKeys {
  readonly [key: string]: TypeProblem<"the type argument does not name this key: leave the type arguments out">;
}

/** The sentence for a record with keys that the compiler does not know one by one. */
type NotLiteral =
  "the keys of this object must be literal: write it inline, or add `as const` or `satisfies` instead of an annotation";

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const keyPattern = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;
const maxKeyLength = 128;
const kinds: ReadonlySet<unknown> = new Set<Kind>(["cell", "collection", "stream", "event", "procedure"]);

function assertKey(surface: string, key: string): void {
  if (keyPattern.test(key) && key.length <= maxKeyLength) return;
  throw new SurfaceError(
    "INVALID_NAME",
    `Defining surface "${surface}": the key "${key}" must be letters, digits, "_" and single dots, starting with a letter, at most ${maxKeyLength} characters`,
  );
}

function assertMember(surface: string, key: string, member: unknown): void {
  if (isObject(member) && kExposure in member && "kind" in member) {
    if (kinds.has(member.kind)) {
      // Its kind and the symbol are there, which is what reading the tags needs; their values are what is checked.
      tagOf(member as Taggable);
      return;
    }
  }
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Defining surface "${surface}": "${key}" is not a member; build it with cell(), collection(), stream(), event() or procedure()`,
  );
}

/**
 * Names the members of an application's state and verbs. Nothing in it is reachable by an agent until it is tagged or
 * exposed.
 *
 * @param name - letters, digits, `_` and `-`, starting with a letter, at most 64 characters.
 * @param members - a flat record; a dot in a key is a namespace (`"node.rerun"`).
 * @throws SurfaceError `INVALID_NAME` or `INVALID_MEMBER`.
 * @example
 * ```ts
 * const counter = defineSurface("counter", {
 *   value: mcpResource(cell({ schema: z.number(), default: 0 })),
 *   bump: mcpTool(procedure({ output: z.number() })),
 * });
 * ```
 */
export function defineSurface<const $Spec extends Spec>(
  name: string,
  members: $Spec & LiteralKeys<$Spec>,
): Surface<$Spec> {
  if (typeof name !== "string" || !namePattern.test(name)) {
    const problem = typeof name === "string" ? `"${name}" must match ${namePattern.source}` : "it must be text";
    throw new SurfaceError("INVALID_NAME", `Defining a surface: its name comes first, and ${problem}`);
  }
  for (const key of Object.keys(members)) {
    assertKey(name, key);
    assertMember(name, key, members[key]);
  }
  // The compiler calls any key a string: an object may have more of them than its type says.
  const keys = Object.freeze(Object.keys(members)) as readonly Extract<keyof $Spec, string>[];
  return Object.freeze({ name, members: Object.freeze({ ...members }), [kKeys]: keys });
}

/** Whether a value is a surface, and not an object that resembles one: nothing has checked the names in that. */
export function isSurface(value: unknown): value is Surface<Spec> {
  return isObject(value) && Object.hasOwn(value, kKeys);
}

/** Looks a member up by its own key; inherited names (`toString`, `__proto__`) are nobody's members. */
export function memberOf<TSpec extends object, TKey extends keyof TSpec & string>(
  surface: Surface<TSpec>,
  key: TKey,
): TSpec[TKey] | undefined {
  return Object.hasOwn(surface.members, key) ? surface.members[key] : undefined;
}
