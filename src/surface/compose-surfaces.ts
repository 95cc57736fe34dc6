import { SurfaceError } from "../errors.ts";
import { defineSurface, isSurface, type LiteralKeys, type Surface } from "./define-surface.ts";
import type { Member, Spec } from "./member.ts";

/**
 * Where a composed surface keeps its siblings. Registered globally, so that two copies of this package in one process
 * take each other's.
 */
export const kSiblings: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.siblings");

/** Siblings by their segment: what stands before the first dot of their keys. */
export type Siblings<TSibling> = ReadonlyMap<string, TSibling>;

// All of these distribute: of a choice of records, of surfaces or of what defines one, every key counts, since the names of an
// app are a superset. For the same reason an `any` has all keys there are, and under each a member that may be tagged.
/** members -> their keys. */
type KeysOf<TMembers> = TMembers extends unknown ? keyof TMembers & string : never;

/** surface -> its keys. */
type KeysIn<TSurface> = 0 extends 1 & TSurface
  ? string
  : TSurface extends { readonly members: infer Members }
    ? KeysOf<Members>
    : never;

/** surfaces by segment -> the keys of all, each behind its segment. */
type ComposedKeys<TSiblings> = TSiblings extends unknown
  ? { [Segment in keyof TSiblings & string]-?: `${Segment}.${KeysIn<TSiblings[Segment]>}` }[keyof TSiblings & string]
  : never;

/** object, key -> what it has under that, if it does. */
type ValueAt<TObject, TKey> = TObject extends unknown ? (TKey extends keyof TObject ? TObject[TKey] : never) : never;

/** surface, key -> the member under it. */
type MemberIn<TSurface, TKey> = 0 extends 1 & TSurface
  ? Member
  : TSurface extends { readonly members: infer Members }
    ? Exclude<ValueAt<Members, TKey>, undefined>
    : never;

// A segment holds no dot, so that the first one of a key ends it.
/** The members of a composed surface: those of its siblings, each under `<segment>.<key>`, with the tags that they have. */
export type Composed<TSiblings> = {
  readonly [Key in ComposedKeys<TSiblings>]: Key extends `${infer Segment}.${infer Rest}`
    ? MemberIn<ValueAt<TSiblings, Segment>, Rest>
    : never;
};

const segmentPattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/**
 * Refuses what cannot stand before a dot of a key.
 *
 * @throws SurfaceError `INVALID_NAME`.
 */
export function assertSegment(segment: string, doing: string): void {
  if (segmentPattern.test(segment)) return;
  throw new SurfaceError(
    "INVALID_NAME",
    `${doing}: the segment "${segment}" must be letters, digits and "_", starting with a letter`,
  );
}

function assertSibling(name: string, segment: string, sibling: unknown): void {
  assertSegment(segment, `Composing surface "${name}"`);
  if (isSurface(sibling)) return;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Composing surface "${name}": "${segment}" is not a surface; make it with defineSurface()`,
  );
}

/**
 * Makes one surface of several: every member of a sibling is a member of it, under `<segment>.<key>`, tagged as it was. So
 * everything that takes a surface takes siblings, and a name tells whose it is. What it composes may be composed itself.
 *
 * It has no behaviour of its own: `implementSurfaces()` serves siblings together, `siblingLinks()` reaches each by a link
 * of its own.
 *
 * The compiler counts what it can see of the record: where that is a choice of several, the siblings of all. TypeScript
 * lets an object have more keys than its type says: one that was assigned to a narrower type first, or that was spread from
 * a record with open keys, beside keys of its own. What is tagged in such a sibling is exposed all the same, so pass the
 * record as a literal.
 *
 * @param name - as that of `defineSurface()`.
 * @param siblings - surfaces by segment: letters, digits and `_`, starting with a letter.
 * @throws SurfaceError `INVALID_NAME`, also for a segment or where a key becomes longer than 128 characters;
 * `INVALID_MEMBER` for what is not a surface; `INVALID_OPTION` for an empty record.
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
  const bySegment = new Map<string, Surface<Spec>>(Object.entries(siblings));
  if (bySegment.size === 0) {
    throw new SurfaceError("INVALID_OPTION", `Cannot compose surface "${name}": it needs at least one surface`);
  }
  const members = [...bySegment].flatMap(([segment, sibling]) => {
    assertSibling(name, segment, sibling);
    return Object.entries(sibling.members).map(([key, member]) => [`${segment}.${key}`, member] as const);
  });
  // The compiler knows the keys by the type below; what it does not see here is checked as that of any surface.
  const plain = defineSurface(name, Object.fromEntries(members) as Record<never, never>);
  const surface = Object.freeze({ ...plain, [kSiblings]: bySegment });
  // Its members were put together as the type says.
  return surface as unknown as Surface<Composed<$Siblings>>;
}

/** The siblings that a surface was composed of; `undefined` for one that was not. */
export function siblingsOf(surface: object): Siblings<Surface<Spec>> | undefined {
  if (!Object.hasOwn(surface, kSiblings)) return undefined;
  // Only composeSurfaces() puts it there.
  return Reflect.get(surface, kSiblings) as Siblings<Surface<Spec>>;
}

/**
 * The names of the surfaces that one was composed of, down to those that were not: each by what stands before its keys,
 * `"a"` or `"outer.a"`. `undefined` for a surface that was not composed.
 */
export function segmentsOf(surface: object): ReadonlyMap<string, string> | undefined {
  const siblings = siblingsOf(surface);
  if (siblings === undefined) return undefined;
  const names = new Map<string, string>();
  for (const [segment, sibling] of siblings) {
    const inner = segmentsOf(sibling);
    if (inner === undefined) names.set(segment, sibling.name);
    else for (const [path, name] of inner) names.set(`${segment}.${path}`, name);
  }
  return names;
}
