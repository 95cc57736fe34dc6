import { boolean, constantFrom, oneof, option, record, subarray, tuple, uniqueArray, type Arbitrary } from "fast-check";
import type { Kind } from "../../src/surface/member.ts";

/** How a member is exposed, if it is. */
export type Shown = "none" | "tool" | "resource";

/** One member of a surface, and how an agent may come to it. */
export interface RandomMember {
  readonly key: string;
  readonly kind: Kind;
  readonly hasInput: boolean;
  readonly shown: Shown;
  /** Where it is named: beside its definition, or in a map. */
  readonly by: "tag" | "map";
  readonly reads: boolean;
  /** Whether its items are listed, where it is a collection. */
  readonly lists: boolean;
  readonly scopes: readonly string[];
}

/** Something that is written by hand, and is no member. */
export interface RandomWritten {
  readonly sort: "tool" | "prompt" | "resource";
  readonly name: string;
  readonly hasInput: boolean;
  readonly reads: boolean;
  readonly scopes: readonly string[];
}

/** A surface, what of it is exposed, and who asks. */
export interface RandomSurface {
  readonly members: readonly RandomMember[];
  readonly written: readonly RandomWritten[];
  readonly pull: boolean;
  /** What the caller was granted; `undefined`: nobody is known to ask. */
  readonly granted: readonly string[] | undefined;
}

/** The surface's name. */
export const surfaceName = "s";

export const readScope = `${surfaceName}:read`;
export const writeScope = `${surfaceName}:write`;

/** What authors ask for besides what everything of a surface asks for. */
const extraScopes = ["audit", "pay"];

/** Everything that somebody may be granted. */
const allScopes = [readScope, writeScope, ...extraScopes];

/** Names that differ in little, or mean something elsewhere. */
const names = ["a", "a.b", "a_b", "a.b.c", "A", "state", "toString", "constructor", "read.resource", "wait_for", "x1"];

const scopes = option(subarray(extraScopes, { minLength: 1 }), { nil: [], freq: 2 });

/** Somebody who reads, mostly: who does not comes to very little. */
const someGranted = oneof(
  { weight: 4, arbitrary: subarray(allScopes.slice(1)).map((more) => [readScope, ...more]) },
  { weight: 1, arbitrary: subarray(allScopes) },
);
const kinds: readonly Kind[] = ["cell", "collection", "stream", "event", "procedure"];

const legal: Readonly<Record<Kind, readonly Shown[]>> = {
  cell: ["none", "resource"],
  collection: ["none", "resource"],
  stream: ["none", "resource", "tool"],
  event: ["none", "resource", "tool"],
  procedure: ["none", "tool"],
};

const member: Arbitrary<RandomMember> = constantFrom(...kinds).chain((kind) =>
  record({
    key: constantFrom(...names),
    kind: constantFrom(kind),
    hasInput: kind === "cell" || kind === "collection" ? constantFrom(false) : boolean(),
    shown: constantFrom(...legal[kind]),
    by: constantFrom<"tag" | "map">("tag", "map"),
    reads: boolean(),
    lists: kind === "collection" ? boolean() : constantFrom(false),
    scopes,
  }),
);

const written: Arbitrary<RandomWritten> = record({
  sort: constantFrom<RandomWritten["sort"]>("tool", "prompt", "resource"),
  name: constantFrom(...names),
  hasInput: boolean(),
  reads: boolean(),
  scopes,
});

/** A tool's name on the wire. */
export function wireNameOf(name: string): string {
  return name.replaceAll(".", "_");
}

/** What two things must not share to be in one app. */
function claimsOf(sort: Shown | "prompt", name: string): readonly string[] {
  if (sort === "none") return [];
  return [`${sort} ${sort === "resource" ? name : wireNameOf(name)}`];
}

/** Leaves out what the app would refuse to boot with: what is right is what is looked at here. */
function withoutCollisions({ members, written: more, ...rest }: RandomSurface): RandomSurface {
  const taken = new Set(["tool read_resource", "tool wait_for_change"]);
  const claim = (claims: readonly string[]): boolean => {
    if (claims.some((each) => taken.has(each))) return false;
    for (const each of claims) taken.add(each);
    return true;
  };
  return {
    ...rest,
    // What an expose map names as a resource says nothing besides; its options are those of its tags.
    members: members.map((each) => {
      const shown = claim(claimsOf(each.shown, each.key)) ? each.shown : "none";
      const isPlain = shown === "none" || (shown === "resource" && each.by === "map");
      return { ...each, shown, ...(isPlain ? { scopes: [], lists: false } : {}) };
    }),
    written: more.filter(({ sort, name }) => claim(claimsOf(sort, name))),
  };
}

/** Any surface, some of it exposed in one way or another, and some that was written by hand. */
export const randomSurface: Arbitrary<RandomSurface> = tuple(
  uniqueArray(member, { minLength: 1, maxLength: 6, size: "max", selector: ({ key }) => key }),
  uniqueArray(written, { maxLength: 4, size: "max", selector: ({ sort, name }) => `${sort} ${name}` }),
  boolean(),
  option(someGranted, { nil: undefined, freq: 3 }),
).map(([members, more, pull, granted]) => withoutCollisions({ members, written: more, pull, granted }));
