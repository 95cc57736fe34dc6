import * as fc from "fast-check";
import type { Caller } from "../../src/surface/caller.ts";
import type { ViewRule } from "../../src/index.ts";
import { randomWorld, rule, type RandomWorld } from "./views-world.ts";

/** The kinds of request that a script makes. */
const kinds = [
  ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"],
  ...["use", "use", "use", "near call", "read_resource"],
  ...["gateway list", "gateway search", "gateway search", "gateway schema", "gateway call", "near schema"],
  ...["part", "part", "part", "part"],
] as const;

/** One kind of request. */
export type RequestKind = (typeof kinds)[number];

/** One request; numbers choose among what there is, modulo its count. */
export interface RequestStep {
  readonly kind: RequestKind;
  readonly caller: number;
  readonly surface: string;
  readonly project: string | undefined;
  readonly thing: number;
  /** Chooses a spelling of the name, or a query. */
  readonly spelling: number;
}

/** One step: other rules from the next request on, or a request. */
export type Step = { readonly rules: readonly ViewRule[] } | RequestStep;

/** An app, its callers, and what happens to it. */
export interface LiveScript {
  readonly world: RandomWorld;
  /** All have one id; no two have the same key and grants. */
  readonly callers: readonly Caller[];
  readonly isHttp: boolean;
  readonly steps: readonly Step[];
}

const lastRule: fc.Arbitrary<readonly ViewRule[]> = fc.constantFrom<readonly ViewRule[]>(
  [{ verdict: { kind: "tool_surface", face: "gateway" } }],
  [
    { when: { surface: "a" }, verdict: { kind: "tool_surface", face: "gateway" } },
    { verdict: { kind: "tool_surface" } },
  ],
  [{ verdict: { kind: "tool_surface", face: "gateway", disallow: ["*_1"] } }],
  [{ verdict: { kind: "tool_surface" } }],
);

const rules = fc
  .tuple(fc.array(rule, { maxLength: 1 }), fc.oneof({ weight: 7, arbitrary: lastRule }, fc.constant([])))
  .map(([first, last]) => [...first, ...last]);

const request: fc.Arbitrary<RequestStep> = fc.record({
  kind: fc.constantFrom(...kinds),
  caller: fc.nat(),
  surface: fc.constantFrom("default", "default", "a", "b"),
  project: fc.constantFrom(undefined, undefined, "p"),
  thing: fc.nat(),
  spelling: fc.nat(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: request },
  { weight: 1, arbitrary: fc.record({ rules }) },
);

const identities: readonly Partial<Caller>[] = [
  {},
  { issuer: "https://a.example" },
  { issuer: "https://b.example" },
  { clientId: "one" },
  { clientId: "two" },
  { claims: { tenant: "a" } },
  { claims: { tenant: "b" } },
];

const actions = fc.subarray(["read", "write"]);
const granted = fc.record({
  scopes: fc.subarray(["x", "y"]).map((more) => ["world:read", "world:write", ...more]),
  resources: fc.record({ "repo:web": actions }),
});

/** Several identities with equal grants, and one of them once more with fewer. */
const callers: fc.Arbitrary<readonly Caller[]> = fc
  .tuple(
    fc.shuffledSubarray([...identities], { minLength: 2, maxLength: 4 }),
    granted,
    fc.constantFrom([], ["world:read"]),
  )
  .map(([some, grants, fewer]) => {
    const equal = some.map((identity) => ({ id: "ann", isAnonymous: false, ...grants, ...identity }));
    return [...equal, { id: "ann", isAnonymous: false, ...some[0], scopes: fewer }];
  });

/** How many steps one script has. */
const length = { minLength: 120, maxLength: 120, size: "max" } as const;

/** Any script. */
export const liveScript: fc.Arbitrary<LiveScript> = fc.record({
  world: fc.tuple(randomWorld, lastRule).map(([world, first]) => ({ ...world, rules: first })),
  callers,
  isHttp: fc.boolean(),
  steps: fc.array(step, length),
});
