import * as fc from "fast-check";
import * as z from "zod";
import type { Caller } from "../../src/surface/caller.ts";
import {
  cellSource,
  defineSurface,
  mcp,
  operationRegistry,
  type ReplayOptions,
  type ScopeOptions,
  type ServableApp,
  type ViewReplay,
  type ViewRule,
  type WritableSource,
} from "../../src/index.ts";

/** Something that is exposed, and what its author asks for it. */
export interface RandomThing extends ScopeOptions {
  readonly sort: "tool" | "prompt" | "resource" | "template" | "operation";
  readonly nr: number;
  readonly reads: boolean;
  readonly isInternal: boolean;
}

/** What an app has, by which rules it is shown, and who comes by which view. */
export interface RandomWorld {
  readonly things: readonly RandomThing[];
  readonly pull: boolean;
  readonly rules: readonly ViewRule[];
  readonly surface: string;
  readonly project: string | undefined;
  /** What the caller was granted; `undefined`: nobody is known to ask. */
  readonly granted: Pick<Caller, "scopes" | "resources"> | undefined;
}

/** How a sort is spelled where it is asked for. Each has names of its own, so that a replay says which one it means. */
const ids: Readonly<Record<RandomThing["sort"], (nr: number) => string>> = {
  tool: (nr) => `tool_${nr}`,
  prompt: (nr) => `prompt_${nr}`,
  resource: (nr) => `resource_${nr}`,
  template: (nr) => `template_${nr}`,
  operation: (nr) => `ops.some.op_${nr}`,
};

/** The id of one; of the number 9 there is none. */
export function idOf({ sort, nr }: Pick<RandomThing, "sort" | "nr">): string {
  return ids[sort](nr);
}

const surfaces = ["default", "a", "b"];
const scopeNames = ["x", "y"];

/** Mostly nothing: of things of which everything is asked nobody sees any. */
function seldom<TValue>(value: fc.Arbitrary<TValue>): fc.Arbitrary<TValue | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}

const scopes = seldom(fc.subarray(scopeNames, { minLength: 1 }));

const thing: fc.Arbitrary<RandomThing> = fc
  .record({
    sort: fc.constantFrom<RandomThing["sort"]>("tool", "prompt", "resource", "template", "operation"),
    nr: fc.nat({ max: 5 }),
    reads: fc.boolean(),
    isInternal: fc.boolean(),
    scopes,
    scopesAny: scopes,
    resource: seldom(fc.constantFrom({ type: "repo", action: "read" }, { type: "repo", action: "write" })),
  })
  .map(({ scopes: all, scopesAny, resource, ...rest }) => ({
    ...rest,
    ...(all === undefined ? {} : { scopes: all }),
    ...(scopesAny === undefined ? {} : { scopesAny }),
    ...(resource === undefined ? {} : { resource }),
  }));

/** A pattern of a rule: whole names, runs and single characters, and the ways in which hosts spell tools. */
export const pattern = fc.constantFrom(
  "*",
  "tool_*",
  "tool_0",
  "tool_?",
  "prompt_*",
  "prompt_1",
  "resource_*",
  "resource_[0]",
  "template_?",
  "ops.some.*",
  "ops_some_op_1",
  "*_1",
  "*op_2",
  "mcp__world__tool_1",
  "world(tool_2)",
  "read_resource",
  "TOOL_*",
);
const patterns = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(pattern, { minLength: 1, maxLength: 3 }) },
);

const verdict = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("tool_surface" as const),
      allow: patterns,
      disallow: patterns,
      readOnly: fc.boolean(),
      face: fc.constantFrom("direct" as const, "gateway" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deny" as const), reason: fc.constant("no") }) },
);

/** Any rule. */
export const rule: fc.Arbitrary<ViewRule> = fc.record({
  when: fc.oneof(
    fc.constant({}),
    fc.record({ surface: fc.constantFrom(...surfaces) }),
    fc.record({ surface: fc.subarray(surfaces, { minLength: 1 }), project: fc.constant("p") }),
    fc.record({ principal: fc.constant("ann") }),
    fc.record({ client: fc.constant({ name: "scenario" }) }),
  ),
  verdict,
});

const actions = fc.subarray(["read", "write"]);

/** Any world. */
export const randomWorld: fc.Arbitrary<RandomWorld> = fc.record({
  things: fc.uniqueArray(thing, { minLength: 3, maxLength: 14, size: "max", selector: idOf }),
  pull: fc.boolean(),
  rules: fc.array(rule, { maxLength: 4 }),
  surface: fc.constantFrom(...surfaces),
  project: fc.option(fc.constantFrom("p", "q"), { nil: undefined }),
  granted: fc.option(
    fc.record({
      scopes: fc.subarray(["world:read", "world:write", ...scopeNames]),
      resources: fc.record({ "repo:web": actions }),
    }),
    { nil: undefined, freq: 1 },
  ),
});

/** An app as it was drawn. */
export interface World {
  readonly app: ServableApp & { readonly replay: (options: ReplayOptions) => ViewReplay };
  readonly rules: WritableSource<readonly ViewRule[]>;
}

const input = z.object({ tone: z.enum(["kind", "strict"]) });

function asksOf({ scopes: all, scopesAny, resource }: ScopeOptions): ScopeOptions {
  return {
    ...(all === undefined ? {} : { scopes: all }),
    ...(scopesAny === undefined ? {} : { scopesAny }),
    ...(resource === undefined ? {} : { resource }),
  };
}

type Make = (thing: RandomThing) => object;

function allOf({ things }: RandomWorld, sort: RandomThing["sort"], make: Make): object {
  const some = things.filter((each) => each.sort === sort);
  return Object.fromEntries(some.map((each) => [idOf(each), { ...asksOf(each), ...make(each) }]));
}

/** Returns the text that a handler gives, for the id of its thing and its caller. */
export type GiveText = (id: string, caller: Caller) => string;

type Handler = (input: unknown, context: { readonly caller: Caller }) => string;

/** Results and resources above this are cut into parts, where a world is given texts. */
const leastBytes = { maxResultBytes: 4096, maxResourceBytes: 4096 };

/** Creates the app of a world. @param give - by default each handler gives the same short text to every caller. */
export function createWorld(world: RandomWorld, give?: GiveText): World {
  const giving = (each: RandomThing): Handler => {
    const id = idOf(each);
    return (_input, { caller }) => give?.(id, caller) ?? "done";
  };
  const registry = operationRegistry();
  for (const each of world.things.filter(({ sort }) => sort === "operation")) {
    registry.register(
      {
        ...asksOf(each),
        name: idOf(each).replace("ops.", ""),
        type: each.reads ? "query" : "mutation",
        visibility: each.isInternal ? "internal" : "external",
      },
      (_input, { caller }) => ({ done: giving(each)(undefined, { caller }) }),
    );
  }
  const rules = cellSource(world.rules);
  const linked = mcp(defineSurface("world", {}), {
    instructions: "A world.",
    onFault: () => {},
    changeWindowMs: 1,
    ...(give === undefined ? {} : leastBytes),
  })
    .implement({})
    // What was drawn is not literal: the names are those of any app. The same holds below.
    .tools(allOf(world, "tool", (each) => ({ mutates: !each.reads, handler: giving(each) })) as never)
    .prompts(allOf(world, "prompt", (each) => ({ input, handler: giving(each) })) as never)
    .resources({
      ...allOf(world, "resource", (each) => ({ read: giving(each) })),
      ...allOf(world, "template", (each) => ({ variables: input, read: giving(each) })),
    } as never) as unknown as { pull(): { mount: unknown } };
  const pulled = (world.pull ? linked.pull() : linked) as unknown as {
    mount(prefix: string, source: unknown): { views(source: unknown): World["app"] };
  };
  return { app: pulled.mount("ops", registry).views(rules), rules };
}
