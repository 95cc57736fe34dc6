import { expectError, expectType } from "tsd";
import {
  cell,
  collection,
  defineSurface,
  derive,
  event,
  implementProjection,
  implementSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  projectSurface,
  projected,
  stream,
  surfaceClientRef,
  type ClientRef,
  type Implementation,
  type Link,
  type LiveSurface,
  type Projection,
  type ResourceNames,
  type Surface,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

const source = defineSurface("source", {
  nodes: cell({ schema: z.array(z.string()) }),
  current: cell({ schema: z.object({ run: z.number() }) }),
  rows: collection({ key: z.string(), schema: z.object({ n: z.number() }) }),
  log: stream({ input: z.object({ node: z.string() }), output: z.string() }),
  ticks: stream({ output: z.number() }),
  settled: event({ output: z.object({ ok: z.boolean() }) }),
  rerun: procedure({ input: z.object({ node: z.string() }), output: z.number(), progress: z.string() }),
  secret: procedure({}),
});
type Source = (typeof source)["members"];

const shown = defineSurface("shown", {
  nodes: mcpResource(cell({ schema: z.object({ count: z.number() }) })),
  both: cell({ schema: z.object({ run: z.number(), count: z.number() }) }),
  tick: cell({ schema: z.number() }),
  rows: collection({ key: z.string(), schema: z.number() }),
  log: mcpResource(stream({ input: z.object({ node: z.string() }), output: z.string() })),
  numbered: stream({ input: z.number(), output: z.string() }),
  settled: mcpTool(event({ output: z.boolean() })),
  grown: event({ output: z.number() }),
  rerun: mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.number() })),
  again: procedure({ input: z.number(), output: z.string() }),
});
type Shown = (typeof shown)["members"];

// Each of the kinds, from what it may come from; what a function receives is upstream's.
const projection = projectSurface(source, shown, (client) => ({
  nodes: derive.cell(
    client.nodes,
    (nodes) => {
      expectType<string[]>(nodes);
      return { count: nodes.length };
    },
    { filter: (nodes) => nodes.length > 0 },
  ),
  both: derive.cell([client.nodes, client.current], ([nodes, current]) => {
    expectType<string[]>(nodes);
    expectType<{ run: number }>(current);
    return { run: current.run, count: nodes.length };
  }),
  tick: derive.cell(client.ticks, (tick) => tick + 1),
  rows: derive.collection(
    client.rows,
    (row, key) => {
      expectType<string>(key);
      return row.n;
    },
    { filter: ({ n }) => n > 0 },
  ),
  log: derive.stream(client.log, (text) => text.slice(1), {
    async *otherwise(input, { cause, told }) {
      expectType<number>(told);
      yield `${input.node} ${cause.code}`;
    },
  }),
  numbered: derive.stream(client.log, (text, input: number) => `${input} ${text}`, {
    input: (given) => ({ node: String(given) }),
  }),
  settled: derive.event(client.settled, ({ ok }) => ok, { filter: ({ ok }) => !ok }),
  grown: derive.event(client.nodes, (nodes, before) => {
    expectType<string[] | undefined>(before);
    return before === undefined ? undefined : nodes.length;
  }),
  rerun: derive.procedure(client.rerun),
  again: derive.procedure(client.rerun, { input: (n: number) => ({ node: `${n}` }), output: String }),
}));
expectType<Projection<Source, Shown>>(projection);

// It is a surface as any other, and names what an agent may touch.
const surface: Surface<Shown> = projection;
declare const link: Link;
const app = mcp(projection).bridge(projected(projection, link));
declare const tools: ToolNames<typeof app>;
declare const resources: ResourceNames<typeof app>;
expectType<"settled" | "rerun">(tools);
expectType<"nodes" | "log">(resources);
expectError(mcp(projection).expose({ secret: "tool" }));

declare const upstream: LiveSurface<Source>;
const ref = surfaceClientRef(upstream);
expectType<ClientRef<Source>>(ref);
expectType<LiveSurface<Shown>>(implementProjection(projection, ref));
// A client of another surface.
declare const other: ClientRef<Shown>;
expectError(implementProjection(projection, other));
// What is no projection.
expectError(projected(source, link));

// A missing handler, one too many, one of a member that upstream has not.
declare const handlers: Implementation<Shown>;
const { again, ...rest } = handlers;
expectError(projectSurface(source, shown, () => rest));
projectSurface(source, shown, () => ({ ...rest, again }));
expectError(projectSurface(source, shown, (client) => ({ ...handlers, tick: derive.cell(client.nothing, () => 1) })));

const oneCell = defineSurface("one", { shown: cell({ schema: z.number() }) });
const oneEvent = defineSurface("one", { told: event({ output: z.number() }) });
const oneRow = defineSurface("one", { rows: collection({ key: z.number(), schema: z.number() }) });
const oneVerb = defineSurface("one", { run: procedure({ input: z.object({ id: z.string() }), output: z.number() }) });

// What is made does not fit the schema.
expectError(projectSurface(source, oneCell, (client) => ({ shown: derive.cell(client.nodes, () => "three") })));
expectError(projectSurface(source, oneEvent, (client) => ({ told: derive.event(client.settled, ({ ok }) => ok) })));
// Upstream is of another kind, or takes an input.
expectError(projectSurface(source, oneCell, (client) => ({ shown: derive.cell(client.rerun, () => 1) })));
expectError(projectSurface(source, oneCell, (client) => ({ shown: derive.cell(client.log, () => 1) })));
expectError(projectSurface(source, oneCell, () => ({ shown: derive.cell([], () => 1) })));
expectError(projectSurface(source, oneEvent, (client) => ({ told: derive.event(client.log, () => 1) })));
expectError(derive.procedure({} as LiveSurface<Source>));
// Of a cell there are changes to filter, and no input to turn into another.
projectSurface(source, oneEvent, ({ nodes }) => ({
  told: derive.event(nodes, ({ length }) => length, {
    filter(now, before) {
      expectType<string[]>(now);
      expectType<string[] | undefined>(before);
      return before !== undefined;
    },
  }),
}));
expectError(
  projectSurface(source, oneEvent, ({ nodes }) => ({
    told: derive.event(nodes, ({ length }) => length, { input: () => undefined }),
  })),
);
// A derived member of one kind does not implement one of another.
expectError(projectSurface(source, oneEvent, (client) => ({ told: derive.cell(client.ticks, (tick) => tick) })));
// The keys are others.
expectError(projectSurface(source, oneRow, (client) => ({ rows: derive.collection(client.rows, ({ n }) => n) })));
// The input is another, and nothing makes upstream's of it.
expectError(projectSurface(source, oneVerb, (client) => ({ run: derive.procedure(client.rerun) })));
// As is the answer.
const oneText = defineSurface("one", { run: procedure({ input: z.object({ node: z.string() }), output: z.string() }) });
expectError(projectSurface(source, oneText, (client) => ({ run: derive.procedure(client.rerun) })));
const oneLog = defineSurface("one", { log: stream({ input: z.number(), output: z.string() }) });
expectError(projectSurface(source, oneLog, (client) => ({ log: derive.stream(client.log, (text) => text) })));

// A live surface is not implemented by what is to be projected from another.
expectError(implementSurface(oneCell, { shown: derive }));
export { surface };
