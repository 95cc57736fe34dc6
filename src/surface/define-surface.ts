import { isObject } from "../options/is-object.ts";
import { SurfaceError } from "../errors.ts";
import { kExposure, tagOf, type Taggable } from "../tags/tag-of.ts";
import type { KeysOfUnion, TypeProblem } from "../tags/type-problem.ts";
import type { Kind, Spec } from "./member.ts";

/** The property with the keys of a surface, which marks it. Registered, so that copies of this package accept each other's surfaces. */
export const kKeys: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.keys");

/** A named, typed set of members, created by {@link defineSurface}. Its keys are a type parameter, so that no member can be hidden. */
export interface Surface<TSpec, TKeys extends string = Extract<keyof TSpec, string>> {
  readonly name: string;
  readonly members: TSpec;
  /** The keys of the members, for the compiler. */
  readonly [kKeys]: readonly TKeys[];
}

/** A pattern that no key matches. Its intersection with literal keys is `never`, which the compiler finds for all keys at once. */
type Unmatched = `${string}\u0000`;

/** `unknown` if every key is a literal or a pattern of `${string}`, else a problem: the compiler cannot check unknown names. */
export type LiteralKeys<TRecord> = [KeysOfUnion<TRecord>] extends [infer Keys]
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

/** The keys whose wire names the compiler cannot describe. */
type OpenKeys<TKey> = TKey extends string ? (string extends TKey ? TKey : OpenSegments<TKey>) : never;

// `${number}` may hold a dot, which a wire name cannot have. A branded string has no parts.
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

// The compiler checks excess keys against every object type except `{}`.
/** An object without keys. Refuses the members that a type argument of `{}` would hide. */
interface NoKeys {
  readonly [key: string]: TypeProblem<"the type argument does not name this key: leave the type arguments out">;
}

/** The sentence for a record whose keys are not all literal. */
type NotLiteral =
  "the keys of this object must be literal: write it inline, or add `as const` or `satisfies` instead of an annotation";

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const keyPattern = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;
const maxKeyLength = 128;
const kinds: ReadonlySet<unknown> = new Set<Kind>(["cell", "collection", "stream", "event", "procedure"]);

function undefinable(code: "INVALID_NAME" | "INVALID_MEMBER", surface: string, problem: string): SurfaceError {
  return new SurfaceError(code, `Cannot define surface "${surface}": ${problem}`);
}

/** The form of the key of a member, for messages. */
export const keyRule: string = `letters, digits, "_" and single dots, starting with a letter, at most ${maxKeyLength} characters`;

/** Tells whether a text has the form of a key. */
export function isKey(key: string): boolean {
  return keyPattern.test(key) && key.length <= maxKeyLength;
}

function assertKey(surface: string, key: string): void {
  if (!isKey(key)) throw undefinable("INVALID_NAME", surface, `the key "${key}" must be ${keyRule}`);
}

function assertMember(surface: string, key: string, member: unknown): void {
  if (isObject(member) && kExposure in member && "kind" in member && kinds.has(member.kind)) {
    // The properties are there; tagOf() checks their values.
    tagOf(member as Taggable);
    return;
  }
  const problem = `"${key}" is not a member; create it with cell(), collection(), stream(), event() or procedure()`;
  throw undefinable("INVALID_MEMBER", surface, problem);
}

/**
 * Defines a surface: the members of an application that clients can use. An agent reaches only members that are tagged or exposed.
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
    const problem = typeof name === "string" ? `"${name}" must match ${namePattern.source}` : "must be text";
    throw new SurfaceError("INVALID_NAME", `Cannot define a surface: its name, the first argument, ${problem}`);
  }
  for (const key of Object.keys(members)) {
    assertKey(name, key);
    assertMember(name, key, members[key]);
  }
  // An object may have more keys than its type says.
  const keys = Object.freeze(Object.keys(members)) as readonly Extract<keyof $Spec, string>[];
  return Object.freeze({ name, members: Object.freeze({ ...members }), [kKeys]: keys });
}

/** Returns true for a surface of {@link defineSurface}, whose names were checked; false for an object that resembles one. */
export function isSurface(value: unknown): value is Surface<Spec> {
  return isObject(value) && Object.hasOwn(value, kKeys);
}

/** Returns the member with a key; `undefined` for an inherited name such as `toString` or `__proto__`. */
export function memberOf<TSpec extends object, TKey extends keyof TSpec & string>(
  surface: Surface<TSpec>,
  key: TKey,
): TSpec[TKey] | undefined {
  return Object.hasOwn(surface.members, key) ? surface.members[key] : undefined;
}
