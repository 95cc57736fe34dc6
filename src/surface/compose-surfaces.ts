import { SurfaceError } from "../errors.ts";
import { defineSurface, isSurface, type LiteralKeys, type Surface } from "./define-surface.ts";
import type { Member, Spec } from "./member.ts";

/** The property with the siblings of a composed surface. Registered, so that copies of this package accept each other's surfaces. */
export const kSiblings: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.siblings");

/** Siblings by their segment: the part of a key before the first dot. */
export type Siblings<TSibling> = ReadonlyMap<string, TSibling>;

// All of these types distribute over unions: every key of every arm counts, because the names of an app are a superset. For the
// same reason an `any` has every key, each with a member that may be tagged.
/** Members -> their keys. */
type KeysOf<TMembers> = TMembers extends unknown ? keyof TMembers & string : never;

/** Surface -> its keys. */
type KeysIn<TSurface> = 0 extends 1 & TSurface
  ? string
  : TSurface extends { readonly members: infer Members }
    ? KeysOf<Members>
    : never;

/** Surfaces by segment -> the keys of all, each after its segment. */
type ComposedKeys<TSiblings> = TSiblings extends unknown
  ? { [Segment in keyof TSiblings & string]-?: `${Segment}.${KeysIn<TSiblings[Segment]>}` }[keyof TSiblings & string]
  : never;

/** Object, key -> the value at the key; `never` if the object lacks it. */
type ValueAt<TObject, TKey> = TObject extends unknown ? (TKey extends keyof TObject ? TObject[TKey] : never) : never;

/** Surface, key -> the member at the key. */
type MemberIn<TSurface, TKey> = 0 extends 1 & TSurface
  ? Member
  : TSurface extends { readonly members: infer Members }
    ? Exclude<ValueAt<Members, TKey>, undefined>
    : never;

// A segment holds no dot, so the first dot of a key ends it.
/** The members of a composed surface: the members of its siblings with their tags, each under `<segment>.<key>`. */
export type Composed<TSiblings> = {
  readonly [Key in ComposedKeys<TSiblings>]: Key extends `${infer Segment}.${infer Rest}`
    ? MemberIn<ValueAt<TSiblings, Segment>, Rest>
    : never;
};

const segmentPattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Refuses a segment that cannot stand before a dot of a key. @throws SurfaceError `INVALID_NAME`. */
export function assertSegment(segment: string, doing: string): void {
  if (segmentPattern.test(segment)) return;
  throw new SurfaceError(
    "INVALID_NAME",
    `${doing}: the segment "${segment}" must be letters, digits and "_", starting with a letter`,
  );
}

/**
 * Creates one surface from several: every member of every sibling, with its tags, under `<segment>.<key>`. To serve the siblings together,
 * use `implementSurfaces()`; to reach each by another link, `siblingLinks()`.
 *
 * Pass the record as a literal: the compiler does not see the tagged members of an object with more keys than its type, but they are
 * exposed all the same.
 *
 * @param name - as in `defineSurface()`.
 * @param siblings - surfaces by segment: letters, digits and `_`, starting with a letter. A sibling may be composed itself.
 * @throws SurfaceError `INVALID_NAME` also for a segment or too long a key, `INVALID_MEMBER`, or `INVALID_OPTION` for an empty record.
 * @example
 * ```ts
 * const ci = composeSurfaces("ci", { pipeline, notes });
 * const app = mcp(ci).bridge(unixSocket(path)); // pipeline_node_rerun, surface://ci/notes.list
 * ```
 */
export function composeSurfaces<const $Siblings extends Readonly<Record<string, Surface<Spec>>>>(
  name: string,
  siblings: $Siblings & LiteralKeys<$Siblings>,
): Surface<Composed<$Siblings>> {
  const doing = `Cannot compose surface "${name}"`;
  const bySegment = new Map<string, Surface<Spec>>(Object.entries(siblings));
  if (bySegment.size === 0) throw new SurfaceError("INVALID_OPTION", `${doing}: it needs at least one surface`);
  const members = [...bySegment].flatMap(([segment, sibling]) => {
    assertSegment(segment, doing);
    if (!isSurface(sibling)) {
      const problem = `"${segment}" is not a surface; create it with defineSurface()`;
      throw new SurfaceError("INVALID_MEMBER", `${doing}: ${problem}`);
    }
    return Object.entries(sibling.members).map(([key, member]) => [`${segment}.${key}`, member] as const);
  });
  // The return type has the keys; defineSurface() checks them.
  const plain = defineSurface(name, Object.fromEntries(members) as Record<never, never>);
  const surface = Object.freeze({ ...plain, [kSiblings]: bySegment });
  // Its members were composed as the type says.
  return surface as unknown as Surface<Composed<$Siblings>>;
}

/** Returns the siblings of a composed surface; `undefined` for any other surface. */
export function siblingsOf(surface: object): Siblings<Surface<Spec>> | undefined {
  if (!Object.hasOwn(surface, kSiblings)) return undefined;
  // Only composeSurfaces() sets it.
  return Reflect.get(surface, kSiblings) as Siblings<Surface<Spec>>;
}

/** Returns the names of the innermost siblings of a composed surface, by the prefix of their keys; `undefined` for another surface. */
export function siblingNamesOf(surface: object): ReadonlyMap<string, string> | undefined {
  const siblings = siblingsOf(surface);
  if (siblings === undefined) return undefined;
  const names = new Map<string, string>();
  for (const [segment, sibling] of siblings) {
    const inner = siblingNamesOf(sibling);
    if (inner === undefined) names.set(segment, sibling.name);
    else for (const [path, name] of inner) names.set(`${segment}.${path}`, name);
  }
  return names;
}
