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

// Behind an `any` may be every name.
const blind = mcp(composeSurfaces("blind", { a: unchecked, b: other })).bridge(link);
declare const blindTools: ToolNames<typeof blind>;
expectType<`a_${string}` | "b_bump">(blindTools);

// What the compiler cannot see, it does not take.
expectError(composeSurfaces("x", unchecked as Record<string, typeof one>));
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
