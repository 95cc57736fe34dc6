import { expectError, expectType } from "tsd";
import {
  cell,
  collection,
  composeSurfaces,
  defineSurface,
  event,
  mcp,
  mcpTool,
  procedure,
  stream,
  type CellName,
  type CollectionName,
  type EventName,
  type Link,
  type Member,
  type Procedure,
  type ProcedureName,
  type Spec,
  type StreamName,
  type Surface,
  type SurfaceClient,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;

const tool = mcpTool(procedure({}));
const plain = procedure({});

// Keys that the compiler does not know one by one are no surface: it could not say what is exposed.
const open: Record<string, Member> = { tool };
expectError(defineSurface("s", { tool } as Spec));
expectError(defineSurface("s", open));
expectError(defineSurface("s", { ...open }));
expectError(defineSurface("s", Object.fromEntries([["tool", tool]])));
expectError(
  defineSurface(
    "s",
    [tool].reduce<Record<string, Member>>((all, member) => ({ ...all, tool: member }), {}),
  ),
);
expectError(defineSurface("s", [tool]));
expectError(defineSurface("s", new Map([["tool", tool]])));
// Nor are branded keys, and patterns whose names on the wire are not patterns: `${number}` may hold a dot.
declare const brand: string & { readonly brand: "key" };
declare const branded: Record<typeof brand, typeof tool>;
declare const numbered: Record<`run${number}`, typeof tool>;
declare const alike: Record<Uppercase<string>, typeof tool>;
expectError(defineSurface("s", branded));
expectError(defineSurface("s", { [brand]: tool }));
expectError(defineSurface("s", numbered));
expectError(defineSurface("s", alike));
expectError(composeSurfaces("s", { ...({} as Record<`run${number}`, Surface<{ tool: typeof tool }>>) }));
defineSurface("s", {});
defineSurface("s", { tool, plain } satisfies Spec);
defineSurface("s", { tool, plain } as const);

// A type argument without keys hides the keys of the value.
expectError(defineSurface<{}>("s", { tool }));
expectError(defineSurface<Record<never, never>>("s", { tool }));
expectError(defineSurface<{ plain: typeof plain }>("s", { plain, tool }));
expectError(composeSurfaces<{}>("s", { one: defineSurface("one", { tool }) }));
expectError(mcp(defineSurface("s", { plain })).expose<{}>({ plain: "tool" }));
const linked = mcp(defineSurface("s", { plain })).bridge(link);
expectError(linked.expose<{}>({ plain: "tool" }));
expectError(linked.tools<{}, {}, {}>({ ping: { handler: () => 1 } }));
expectError(linked.prompts<never, {}>({ ping: { handler: () => "Ping" } }));
expectError(linked.resources<never, {}>({ ping: { read: () => "Ping" } }));
linked.expose({}).tools({}).prompts({}).resources({});

// What is no member.
expectError(defineSurface("s", { tool: { kind: "procedure" } }));
expectError(defineSurface("s", { tool: z.string() }));
expectError(defineSurface("s", { tool: undefined }));

// A surface is not one of fewer members, nor of untagged ones: what the type would hide would still be exposed.
const both = defineSurface("s", { tool, plain });
expectError<Surface<{ plain: typeof plain }>>(both);
expectError<Surface<{ plain: Procedure }>>(both);
expectError<Surface<{ tool: Procedure; plain: Procedure }>>(both);
expectError<Surface<Record<never, never>>>(both);
expectError(mcp<{ plain: typeof plain }>(both));
// Nor is what was made by hand, or seen through the type of its properties, a surface.
const byHand: { readonly name: string; readonly members: { readonly plain: typeof plain } } = both;
expectError(mcp(byHand));
expectError<Surface<{ plain: typeof plain }>>(byHand);
expectError(mcp({ name: "s", members: { plain } }));
expectError(mcp({ ...both, members: { plain } }));
const asAny: Surface<Spec> = both;
expectType<string>(asAny.name);

// What was left out of a member is nothing, also inside a surface.
const inline = defineSurface("s", { stop: procedure({}), ticks: event({ output: z.number() }) });
expectType<undefined>(inline.members.stop.input);
expectType<undefined>(inline.members.stop.output);
expectType<undefined>(inline.members.ticks.input);

// A collection's key is spelled in a URI.
const item = z.string();
collection({ key: z.string(), schema: item });
collection({ key: z.number(), schema: item });
collection({ key: z.enum(["a", "b"]), schema: item });
collection({ key: z.object({ area: z.string(), row: z.number().optional() }), schema: item });
expectError(collection({ key: z.object({ at: z.object({ row: z.number() }) }), schema: item }));
expectError(collection({ key: z.object({ rows: z.array(z.number()) }), schema: item }));
expectError(collection({ key: z.array(z.string()), schema: item }));
expectError(collection({ key: z.record(z.string(), z.string()), schema: item }));
expectError(collection({ key: z.date(), schema: item }));
expectError(collection({ key: z.null(), schema: item }));
expectError(collection({ key: z.unknown(), schema: item }));
expectError(collection({ key: z.any(), schema: item }));

// Schemas are asked for where there must be one, and a default is the schema's.
expectError(cell({}));
expectError(cell({ schema: "text" }));
expectError(cell({ schema: z.number(), default: "0" }));
expectError(stream({}));
expectError(event({ input: z.string() }));
expectError(collection({ schema: item }));
cell({ schema: z.number().default(3), default: undefined });

// The names of each kind.
const all = defineSurface("s", {
  state: cell({ schema: z.number() }),
  rows: collection({ key: z.string(), schema: z.object({ n: z.number() }) }),
  log: stream({ input: z.object({ node: z.string() }), output: z.string() }),
  done: event({ output: z.boolean() }),
  "node.run": procedure({
    input: z.object({ at: z.coerce.date(), deep: z.boolean().default(false) }),
    output: z.string().transform((text) => text.length),
    progress: z.number(),
  }),
  stop: procedure({}),
});
type All = (typeof all)["members"];
expectType<"state">(nameOf<CellName<All>>());
expectType<"rows">(nameOf<CollectionName<All>>());
expectType<"log">(nameOf<StreamName<All>>());
expectType<"done">(nameOf<EventName<All>>());
expectType<"node.run" | "stop">(nameOf<ProcedureName<All>>());

// A client says the input side and receives the output side.
declare const client: SurfaceClient<All>;
expectType<Promise<number>>(client.state.get());
expectType<AsyncIterable<number>>(client.state.watch());
expectType<Promise<readonly string[]>>(client.rows.keys());
expectType<Promise<{ n: number } | undefined>>(client.rows.get("a"));
expectType<AsyncIterable<string>>(client.log.open({ node: "a" }));
expectType<Promise<number>>(client["node.run"].call({ at: 0 }, { onProgress: (n) => expectType<number>(n) }));
expectType<Promise<unknown>>(client.stop.call());
expectError(client.rows.get(1));
expectError(client.log.open());
expectError(client.log.open({ node: 1 }));
expectError(client["node.run"].call());
expectError(client["node.run"].call({ at: 0, deep: "yes" }));
expectError(client.stop.call({ now: true }));
expectError(client.state.set(1));
expectError(client.missing);

declare function nameOf<TName>(): TName;
