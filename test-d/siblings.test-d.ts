import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  composeSurfaces,
  defineSurface,
  implementSurface,
  implementSurfaces,
  inProcess,
  listenUnixSocket,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  siblingLinks,
  surfaceClients,
  type Link,
  type LiveSurfaces,
  type MutatingToolNames,
  type ResourceNames,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;
declare const unchecked: any;
const plain = procedure({});

const one = defineSurface("one", {
  state: mcpResource(cell({ schema: z.number() })),
  bump: mcpTool(procedure({ input: z.object({ by: z.number() }), output: z.number() })),
  reset: procedure({}),
});
const other = defineSurface("other", {
  state: cell({ schema: z.string() }),
  bump: readOnly(mcpTool(procedure({}))),
});

const both = composeSurfaces("both", { a: one, b: other });
expectType<"a.state" | "a.bump" | "a.reset" | "b.state" | "b.bump">(undefined as unknown as keyof typeof both.members);
expectType<typeof one.members.bump>(both.members["a.bump"]);
expectType<typeof other.members.state>(both.members["b.state"]);

// Names are exact, and so are the objections to an expose map.
const app = mcp(both).bridge(link);
declare const tools: ToolNames<typeof app>;
declare const resources: ResourceNames<typeof app>;
declare const mutating: MutatingToolNames<typeof app>;
expectType<"a_bump" | "b_bump">(tools);
expectType<"a.state">(resources);
expectType<"a_bump">(mutating);
const more = mcp(both).expose({ "a.reset": "tool", "b.state": "resource" }).bridge(link);
declare const moreTools: ToolNames<typeof more>;
expectType<"a_bump" | "a_reset" | "b_bump">(moreTools);
expectError(mcp(both).expose({ reset: "tool" }));
expectError(mcp(both).expose({ "b.reset": "tool" }));
expectError(mcp(both).expose({ "a.bump": "tool" }));
expectError(mcp(both).expose({ "b.state": "tool" }));

// What is composed may be composed, and a choice of surfaces counts as all of them.
const outer = composeSurfaces("outer", { x: both, c: other });
expectType<typeof one.members.bump>(outer.members["x.a.bump"]);
const choice = mcp(composeSurfaces("choice", { a: either ? one : other })).bridge(link);
declare const choiceTools: ToolNames<typeof choice>;
expectAssignable<typeof choiceTools>("a_bump");
declare const choiceResources: ResourceNames<typeof choice>;
expectAssignable<typeof choiceResources>("a.state");

// So does a choice of records, however it is written, and of what defines a sibling; also when it is composed again.
declare const aOrB: { a: typeof one } | { b: typeof other };
const records = composeSurfaces("records", aOrB);
const recordsApp = mcp(records).bridge(link);
expectType<"a_bump" | "b_bump">(undefined as unknown as ToolNames<typeof recordsApp>);
expectType<"a_bump">(undefined as unknown as MutatingToolNames<typeof recordsApp>);
expectType<"a.state">(undefined as unknown as ResourceNames<typeof recordsApp>);
const again = mcp(composeSurfaces("again", { x: records, y: either ? both : other })).bridge(link);
expectType<"x_a_bump" | "x_b_bump" | "y_a_bump" | "y_b_bump" | "y_bump">(
  undefined as unknown as ToolNames<typeof again>,
);
const spread = mcp(composeSurfaces("spread", { a: one, ...(either ? { b: other } : {}) })).bridge(link);
expectType<"a_bump" | "b_bump">(undefined as unknown as ToolNames<typeof spread>);
const tool = { tool: one.members.bump };
const otherTool = { other: other.members.bump, plain };
const specs = defineSurface("specs", either ? tool : otherTool);
const specsApp = mcp(composeSurfaces("s", { a: specs })).bridge(link);
expectType<"a_tool" | "a_other">(undefined as unknown as ToolNames<typeof specsApp>);
const tags = defineSurface("tags", { it: either ? plain : one.members.bump });
const tagsApp = mcp(composeSurfaces("s", { a: tags })).bridge(link);
expectType<"a_it">(undefined as unknown as ToolNames<typeof tagsApp>);

// A record that was assigned to a narrower type first has siblings that no type knows, as ToolNames says of all objects.
const narrow: { a: typeof one } = Object.assign({ a: one }, { hidden: other });
const narrowApp = mcp(composeSurfaces("narrow", narrow)).bridge(link);
expectType<"a_bump">(undefined as unknown as ToolNames<typeof narrowApp>);

// Behind an `any` may be every name.
const blind = mcp(composeSurfaces("blind", { a: unchecked, b: other })).bridge(link);
declare const blindTools: ToolNames<typeof blind>;
expectType<`a_${string}` | "b_bump">(blindTools);
const blinder = mcp(composeSurfaces("blinder", unchecked)).bridge(link);
expectType<`${string}_${string}`>(undefined as unknown as ToolNames<typeof blinder>);
declare const patterns: { readonly [Segment in `a${string}`]: typeof one };
const patternsApp = mcp(composeSurfaces("patterns", patterns)).bridge(link);
expectType<`a${string}_bump`>(undefined as unknown as ToolNames<typeof patternsApp>);

// What the compiler cannot see, it does not take.
expectError(composeSurfaces("x", unchecked as Record<string, typeof one>));
expectError(composeSurfaces("x", unchecked as { a: typeof one } | Record<string, typeof other>));
expectError(composeSurfaces("x", { [String(either)]: one }));
expectError(defineSurface("x", unchecked as { a: typeof plain } | Record<string, typeof plain>));
expectError(composeSurfaces("x", { a: { name: "a", members: {} } }));
expectError(composeSurfaces("x", one));

// Live surfaces of any members; a single one is no group, and a group is no live surface.
const live = implementSurface(other, { state: { get: () => "", subscribe: () => () => {} }, bump: () => undefined });
const group = implementSurfaces({ b: live });
expectType<LiveSurfaces>(group);
expectAssignable<Link>(inProcess(group));
expectAssignable<Link>(inProcess(live));
expectAssignable<Promise<unknown>>(listenUnixSocket(group, "/run/a.sock"));
expectError(implementSurfaces({ b: other }));
expectError(inProcess(other));
expectError(implementSurfaces({ b: group }));

// Clients have the types of their own surfaces.
const { clients } = await surfaceClients(link, { a: one, b: other });
expectType<number>(await clients.a.bump.call({ by: 1 }));
expectType<string>(await clients.b.state.get());
expectError(clients.a.bump.call({ by: "1" }));
expectError(clients.c);
expectAssignable<Link>(siblingLinks({ a: link, b: inProcess(live) }));
expectError(siblingLinks({ a: live }));
