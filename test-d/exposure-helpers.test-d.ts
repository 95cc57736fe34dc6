import { expectError, expectType } from "tsd";
import {
  cell,
  collection,
  defineSurface,
  event,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  stream,
  type AppNames,
  type Link,
  type LinkedApp,
  type Member,
  type MutatingToolNames,
  type Procedure,
  type ResourceNames,
  type ServableApp,
  type Spec,
  type Surface,
  type ToolNames,
  type TypeProblem,
  type UnlinkedApp,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;
declare const unchecked: any;

const text = z.string();
const tool = mcpTool(procedure({}));
const plain = procedure({});

// Tagged is there, under the name on the wire; untagged is absent, and readOnly() alone exposes nothing.
const tagged = mcp(
  defineSurface("s", {
    state: mcpResource(cell({ schema: text })),
    rows: mcpResource(collection({ key: text, schema: text })),
    log: mcpResource(stream({ output: text })),
    pull: mcpTool(stream({ output: text })),
    done: mcpTool(event({ output: text })),
    past: mcpResource(event({ output: text })),
    "node.run": mcpTool(procedure({})),
    "node.show": readOnly(mcpTool(procedure({}))),
    "node.list.all": mcpTool(procedure({}), { mutates: false }),
    hidden: procedure({}),
    reader: readOnly(procedure({})),
    hiddenState: cell({ schema: text }),
    hiddenRows: collection({ key: text, schema: text }),
    hiddenLog: stream({ output: text }),
    hiddenEvent: event({ output: text }),
  }),
).bridge(link);
expectType<"pull" | "done" | "node_run" | "node_show" | "node_list_all">(nameOf<ToolNames<typeof tagged>>());
expectType<"state" | "rows" | "log" | "past">(nameOf<ResourceNames<typeof tagged>>());
expectType<"node_run">(nameOf<MutatingToolNames<typeof tagged>>());
expectError<ToolNames<typeof tagged>>("hidden");
expectError<ToolNames<typeof tagged>>("reader");
expectError<ToolNames<typeof tagged>>("node.run");
expectError<ToolNames<typeof tagged>>("toString");
expectError<ResourceNames<typeof tagged>>("hiddenState");
expectError<MutatingToolNames<typeof tagged>>("node_show");

// Nothing exposed is no name at all.
const silent = mcp(defineSurface("s", { plain, reader: readOnly(procedure({})) })).bridge(link);
expectType<never>(nameOf<ToolNames<typeof silent>>());
expectType<never>(nameOf<ResourceNames<typeof silent>>());
expectType<never>(nameOf<MutatingToolNames<typeof silent>>());
const empty = mcp(defineSurface("s", {})).bridge(link);
expectType<never>(nameOf<ToolNames<typeof empty>>());

// Keys that every object inherits are keys like any others.
const inherited = mcp(
  defineSurface("s", { toString: tool, constructor: plain, hasOwnProperty: mcpResource(cell({ schema: text })) }),
).bridge(link);
expectType<"toString">(nameOf<ToolNames<typeof inherited>>());
expectType<"hasOwnProperty">(nameOf<ResourceNames<typeof inherited>>());

// A member whose tag the compiler cannot see counts as exposed in every way that it may be.
const unseen = mcp(defineSurface("s", { member: ((member: Member) => member)(tool), plain })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof unseen>>());
expectType<"member">(nameOf<ResourceNames<typeof unseen>>());
expectType<"member">(nameOf<MutatingToolNames<typeof unseen>>());
const anyMember = mcp(defineSurface("s", { member: unchecked, plain })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof anyMember>>());
expectType<"member">(nameOf<ResourceNames<typeof anyMember>>());
expectType<"member">(nameOf<MutatingToolNames<typeof anyMember>>());
const neverMember = mcp(defineSurface("s", { member: mcpTool(tool as never), plain })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof neverMember>>());
expectType<"member">(nameOf<ResourceNames<typeof neverMember>>());
expectType<"member">(nameOf<MutatingToolNames<typeof neverMember>>());
const neverRead = mcp(defineSurface("s", { member: readOnly(tool as never), plain })).bridge(link);
expectType<"member">(nameOf<MutatingToolNames<typeof neverRead>>());
const anyTag: Procedure<any, any, any, any, any> = tool;
const anyTagged = mcp(defineSurface("s", { member: anyTag, plain })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof anyTagged>>());
expectType<"member">(nameOf<ResourceNames<typeof anyTagged>>());
expectType<"member">(nameOf<MutatingToolNames<typeof anyTagged>>());
const neverTag = tool as unknown as Procedure<undefined, undefined, undefined, never, never>;
const neverTagged = mcp(defineSurface("s", { member: neverTag, plain })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof neverTagged>>());
expectType<"member">(nameOf<MutatingToolNames<typeof neverTagged>>());
const anyEffect: Procedure<undefined, undefined, undefined, "none", any> = plain;
const exposedAny = mcp(defineSurface("s", { member: anyEffect }))
  .bridge(link)
  .expose({ member: "tool" });
expectType<"member">(nameOf<MutatingToolNames<typeof exposedAny>>());
const chosen = mcp(defineSurface("s", { member: either ? tool : plain, plain })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof chosen>>());
expectType<"member">(nameOf<MutatingToolNames<typeof chosen>>());
const annotated: Record<"a" | "b", Member> = { a: tool, b: plain };
const wide = mcp(defineSurface("s", annotated)).bridge(link);
expectType<"a" | "b">(nameOf<ToolNames<typeof wide>>());
const halfSeen: Procedure<undefined, undefined, undefined, "none" | "tool"> = tool;
const half = mcp(defineSurface("s", { member: halfSeen })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof half>>());
expectType<never>(nameOf<ResourceNames<typeof half>>());
const optional: { member?: typeof tool; plain?: typeof plain } = { member: tool };
const sometimes = mcp(defineSurface("s", optional)).bridge(link);
expectType<"member" | "plain">(nameOf<ToolNames<typeof sometimes>>());
const spread = mcp(defineSurface("s", { plain, ...(either ? { member: tool } : {}) })).bridge(link);
expectType<"member">(nameOf<ToolNames<typeof spread>>());
const patterned: Record<`node.${string}`, Member> = { "node.run": tool };
const pattern = mcp(defineSurface("s", patterned)).bridge(link);
expectType<`node_${string}`>(nameOf<ToolNames<typeof pattern>>());

// One record or the other: the names of both.
const one = { first: tool, shared: plain };
const other = { second: mcpResource(cell({ schema: text })), shared: plain };
const union = mcp(defineSurface("s", either ? one : other)).bridge(link);
expectType<"first">(nameOf<ToolNames<typeof union>>());
expectType<"second">(nameOf<ResourceNames<typeof union>>());
expectType<"first">(nameOf<MutatingToolNames<typeof union>>());

// What is asserted to be no record at all may be any record.
const neverSpec = mcp(defineSurface("s", { tool } as never)).bridge(link);
expectType<string>(nameOf<ToolNames<typeof neverSpec>>());
expectType<string>(nameOf<ResourceNames<typeof neverSpec>>());
expectType<string>(nameOf<MutatingToolNames<typeof neverSpec>>());

// A surface of any members at all: any name at all.
const surfaceOfAny: Surface<Spec> = defineSurface("s", { tool });
const anyNames = mcp(surfaceOfAny).bridge(link);
expectType<string>(nameOf<ToolNames<typeof anyNames>>());
expectType<string>(nameOf<ResourceNames<typeof anyNames>>());
expectType<string>(nameOf<MutatingToolNames<typeof anyNames>>());

// An app of two, or one inside a function that is generic over the surface, keeps the names.
const eitherApp = either ? tagged : silent;
expectType<"pull" | "done" | "node_run" | "node_show" | "node_list_all">(nameOf<ToolNames<typeof eitherApp>>());
function serveAny<const TSpec extends Spec>(surface: Surface<TSpec>) {
  return mcp(surface).bridge(link);
}
const made = serveAny(defineSurface("s", { tool, plain }));
expectType<"tool">(nameOf<ToolNames<typeof made>>());

// Asked of what proves nothing, the helpers answer with a sentence: never `never`, and never `any`.
type NotAnApp = TypeProblem<"this is not an app: pass typeof app">;
type NotLinked = TypeProblem<"this app has no link yet: ask once it can be served">;
const unlinked = mcp(defineSurface("s", { tool }));
expectType<NotLinked>(nameOf<ToolNames<typeof unlinked>>());
expectType<NotLinked>(nameOf<ResourceNames<typeof unlinked>>());
expectType<NotLinked>(nameOf<MutatingToolNames<typeof unlinked>>());
expectType<NotLinked>(nameOf<ToolNames<UnlinkedApp<AppNames, Spec>>>());
expectType<NotAnApp>(nameOf<ToolNames<any>>());
expectType<NotAnApp>(nameOf<ToolNames<never>>());
expectType<NotAnApp>(nameOf<ToolNames<unknown>>());
expectType<NotAnApp>(nameOf<ToolNames<object>>());
expectType<NotAnApp>(nameOf<ToolNames<ServableApp>>());
expectType<NotAnApp>(nameOf<ToolNames<LinkedApp<any, any>>>());
expectType<NotAnApp>(nameOf<ToolNames<LinkedApp<never, Spec>>>());
expectType<NotAnApp>(nameOf<ResourceNames<any>>());
expectType<NotAnApp>(nameOf<ResourceNames<never>>());
expectType<NotAnApp>(nameOf<ResourceNames<unknown>>());
expectType<NotAnApp>(nameOf<MutatingToolNames<any>>());
expectType<NotAnApp>(nameOf<MutatingToolNames<never>>());
expectType<NotAnApp>(nameOf<MutatingToolNames<unknown>>());
expectType<string>(nameOf<ToolNames<LinkedApp<AppNames, Spec>>>());

// And no name passes for such a sentence.
expectError<ToolNames<typeof unlinked>>("tool");
expectError<ToolNames<any>>("tool");

declare function nameOf<TName>(): TName;
