import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  collection,
  event,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  stream,
  type Cell,
  type Collection,
  type CollectionResourceOptions,
  type Event,
  type Exposure,
  type MaybeSchema,
  type Member,
  type Procedure,
  type ResourceOptions,
  type Stream,
  type ToolOptions,
  type TypeProblem,
} from "surface-mcp";
import { z } from "zod";

const text = z.string();
const aCell = cell({ schema: text });
const aCollection = collection({ key: text, schema: text });
const aStream = stream({ output: text });
const anEvent = event({ output: text });
const aProcedure = procedure({ output: text });

// Each kind takes the tags that fit it.
mcpResource(aCell);
mcpResource(aCollection);
mcpResource(aStream);
mcpResource(anEvent);
mcpTool(aStream);
mcpTool(anEvent);
mcpTool(aProcedure);
readOnly(aProcedure);
readOnly(mcpTool(aProcedure));
mcpTool(readOnly(aProcedure));

// And no other.
expectError(mcpTool(aCell));
expectError(mcpTool(aCollection));
expectError(mcpResource(aProcedure));
expectError(readOnly(aCell));
expectError(readOnly(aCollection));
expectError(readOnly(aStream));
expectError(readOnly(anEvent));

// One tag a member.
expectError(mcpTool(mcpTool(aProcedure)));
expectError(mcpResource(mcpResource(aCell)));
expectError(mcpResource(mcpTool(aStream)));
expectError(mcpTool(mcpResource(aStream)));
expectError(mcpTool(mcpResource(anEvent)));
expectError(mcpTool(readOnly(mcpTool(aProcedure))));

// A tagged member is no untagged one, under any annotation or assertion.
const tool = mcpTool(aProcedure);
expectError<Procedure>(tool);
expectError<Cell>(mcpResource(aCell));
expectError<Collection>(mcpResource(aCollection));
expectError<Stream>(mcpResource(aStream));
expectError<Stream>(mcpTool(aStream));
expectError<Event>(mcpTool(anEvent));
expectError((): Procedure => tool);
expectError(((member: Procedure) => member)(tool));
expectError<Procedure[]>([tool]);
expectError<Record<string, Procedure>>({ tool });

// An untagged one is, and readOnly() changes nothing about it.
expectAssignable<Procedure>(aProcedure);
expectAssignable<Procedure>(readOnly(aProcedure));
// Member says nothing about exposure, so anything is one.
expectAssignable<Member>(tool);

// readOnly() says "read" and nothing else does, but a literal false.
expectType<"none">(exposureOf(readOnly(aProcedure)));
expectType<"tool">(exposureOf(readOnly(tool)));
expectType<"read">(effectOf(readOnly(tool)));
expectType<"unstated">(effectOf(tool));
expectType<"read">(effectOf(mcpTool(aProcedure, { mutates: false })));
expectType<"read">(effectOf(mcpTool(readOnly(aProcedure), { title: "Show" })));
expectType<"mutates">(effectOf(mcpTool(aProcedure, { mutates: true })));
expectType<"mutates">(effectOf(mcpTool(aProcedure, { destructive: true })));
expectType<"mutates">(effectOf(mcpTool(aProcedure, { mutates: maybe })));
expectType<"mutates">(effectOf(mcpTool(aProcedure, { mutates: unchecked })));
expectType<"unstated">(effectOf(mcpTool(aProcedure, widened)));

// Options of type never say nothing, and so may say anything.
expectType<"mutates">(effectOf(mcpTool<typeof aProcedure, never>(aProcedure as never, {} as never)));

// Options that contradict the member, or themselves.
expectError(readOnly(mcpTool(aProcedure, { mutates: true })));
expectError(readOnly(mcpTool(aProcedure, { destructive: true })));
expectError(mcpTool(readOnly(aProcedure), { mutates: true }));
expectError(mcpTool(readOnly(aProcedure), { destructive: true }));
expectError(mcpTool(aProcedure, { mutates: false, destructive: true }));
expectError(mcpTool(anEvent, { mutates: true }));
expectError(mcpTool(aStream, { destructive: true }));

// Options that do not exist, inline and from a variable.
const misspelt = { titel: "Show" };
expectError(mcpTool(aProcedure, { titel: "Show" }));
expectError(mcpTool(aProcedure, misspelt));
expectError(mcpTool(aProcedure, { ...misspelt, title: "Show" }));
expectError(mcpTool(aProcedure, { timeoutMs: "1" }));
expectError(mcpResource(aCell, { mutates: false }));
expectError(mcpTool(aProcedure, misspelt as never));

// A field that every tool of the kind already takes.
expectError(mcpTool(event({ input: z.object({ since: text }), output: text })));
expectError(mcpTool(event({ input: z.object({ timeout_ms: z.number() }), output: text })));
expectError(mcpTool(stream({ input: z.object({ max_items: z.number() }), output: text })));
expectError(mcpTool(stream({ input: z.object({ wait_ms: z.number() }), output: text })));
expectError(mcpTool(event({ input: z.object({ since: text.optional() }), output: text })));
expectError(
  mcpTool(event({ input: z.union([z.object({ since: text, a: text }), z.object({ a: text })]), output: text })),
);
mcpTool(event({ input: z.object({ wait_ms: z.number() }), output: text }));
mcpTool(stream({ input: z.object({ since: text }), output: text }));
mcpTool(procedure({ input: z.object({ since: text, max_items: z.number() }) }));

// The input of a resource is spelled in a URI.
mcpResource(stream({ input: text, output: text }));
mcpResource(stream({ input: z.enum(["a", "b"]), output: text }));
mcpResource(stream({ input: z.object({ node: text, line: z.number().optional(), all: z.boolean() }), output: text }));
expectError(mcpResource(stream({ input: z.object({ at: z.object({ line: z.number() }) }), output: text })));
expectError(mcpResource(stream({ input: z.object({ nodes: z.array(text) }), output: text })));
expectError(mcpResource(stream({ input: z.object({ at: z.date() }), output: text })));
expectError(mcpResource(stream({ input: z.object({ node: z.any() }), output: text })));
expectError(mcpResource(stream({ input: z.array(text), output: text })));
expectError(mcpResource(stream({ input: z.record(text, text), output: text })));
expectError(mcpResource(stream({ input: z.null(), output: text })));
expectError(mcpResource(stream({ input: z.unknown(), output: text })));
expectError(mcpResource(stream({ input: z.any(), output: text })));
expectError(mcpResource(event({ input: z.object({ at: z.object({ line: z.number() }) }), output: text })));

// Items that could be listed: a collection has them, and nothing else.
mcpResource(aCollection, { listItems: true, windowMs: 5, title: "All" });
mcpResource(aCollection, { listItems: maybe });
expectError(mcpResource(aCollection, { listItems: "yes" }));
expectError(mcpResource(aCell, { listItems: true }));
expectError(mcpResource(aCell, { listItems: false }));
expectError(mcpResource(aStream, { listItems: true }));
expectError(mcpResource(anEvent, { listItems: true }));
expectError(mcpResource(aCell, listing));
mcpResource(aCell, words);
mcpResource(aCollection, words);
expectType<TypeProblem<"only a collection has items that could be listed: leave listItems out"> | undefined>(
  cellOptions.listItems,
);

// The list of a collection: its keys, its items, or what a function makes of each.
const rows = collection({ key: z.number(), schema: z.object({ title: text, at: z.string().transform(Number) }) });
mcpResource(rows, { list: "keys" });
mcpResource(rows, { list: "items", listDescription: "All rows" });
mcpResource(rows, {
  list: (item, key) => {
    expectType<{ title: string; at: number }>(item);
    expectType<number>(key);
    return item.title;
  },
});
expectError(mcpResource(rows, { list: "values" }));
expectError(mcpResource(rows, { list: (item: string) => item }));
expectError(mcpResource(rows, { list: "items", listDescription: 5 }));
expectError(mcpResource(aCell, { list: "items" }));
expectError(mcpResource(aStream, { listDescription: "All" }));

// A helper that is generic over the member cannot tag it; one over a kind can, and the tag shows.
expectError(<TMember extends Procedure>(member: TMember) => mcpTool(member));
const tagged = ((member: Procedure) => mcpTool(member))(aProcedure);
expectType<"tool">(exposureOf(tagged));
expectError<Procedure>(tagged);

declare const maybe: boolean;
declare const unchecked: any;
declare const widened: ToolOptions;
declare const words: ResourceOptions;
declare const listing: CollectionResourceOptions;
declare const cellOptions: NonNullable<Parameters<typeof mcpResource<typeof aCell>>[1]>;
type ExposureOf<TMember> =
  TMember extends Procedure<MaybeSchema, MaybeSchema, MaybeSchema, infer Exposed> ? Exposed : unknown;
type EffectOf<TMember> =
  TMember extends Procedure<MaybeSchema, MaybeSchema, MaybeSchema, Exposure, infer Known> ? Known : unknown;
declare function exposureOf<TMember>(member: TMember): ExposureOf<TMember>;
declare function effectOf<TMember>(member: TMember): EffectOf<TMember>;
