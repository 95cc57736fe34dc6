import { expectError, expectType } from "tsd";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  event,
  implementSurface,
  inProcess,
  mcp,
  mcpTool,
  procedure,
  stream,
  type Implementation,
  type Link,
  type LiveSurface,
  type WritableSource,
} from "surface-mcp";
import { z } from "zod";

const surface = defineSurface("s", {
  state: cell({ schema: z.string().transform((text) => text.length) }),
  rows: collection({ key: z.string(), schema: z.object({ n: z.number() }) }),
  log: stream({ input: z.object({ node: z.string().default("a") }), output: z.string() }),
  done: event({ output: z.boolean() }),
  "node.run": mcpTool(
    procedure({
      input: z.object({ at: z.coerce.date() }),
      output: z.string().transform((text) => text.length),
      progress: z.string(),
    }),
  ),
  stop: procedure({}),
});
type Members = (typeof surface)["members"];
type Handlers = Implementation<Members>;
declare const handlers: Handlers;

// Handlers receive an input's output side and produce an output's input side; a cell's source holds its input side.
const live = implementSurface(surface, {
  state: cellSource("text"),
  rows: cellSource(new Map([["a", { n: 1 }]])),
  async *log(input, { signal }) {
    expectType<{ node: string }>(input);
    expectType<AbortSignal>(signal);
    yield input.node;
  },
  async *done(input) {
    expectType<undefined>(input);
    yield true;
  },
  "node.run": (input) => {
    expectType<{ at: Date }>(input);
    return "12";
  },
  stop: (input) => expectType<undefined>(input),
});
expectType<LiveSurface<Members>>(live);
expectType<Link>(inProcess(live));
expectType<WritableSource<number>>(cellSource(0));

// A large collection is read key by key; a procedure may report on its way.
const keyed = { keys: () => ["a"], get: () => ({ n: 1 }), subscribe: () => () => {} };
implementSurface(surface, { ...handlers, rows: keyed });
implementSurface(surface, {
  ...handlers,
  async *"node.run"() {
    yield "half";
    return "12";
  },
});

// A missing handler, a misspelt one, one too many.
const { stop, ...rest } = handlers;
expectError(implementSurface(surface, rest));
expectError(implementSurface(surface, {}));
expectError(implementSurface(surface, { ...rest, stpo: stop }));
expectError(implementSurface(surface, { ...rest, stop: undefined }));
expectError(implementSurface(surface, { ...handlers, extra: () => 1 }));
expectError(mcp(surface).implement(rest));
expectError(mcp(surface).implement({}));
expectError(mcp(surface).implement({ ...rest, stpo: stop }));
expectError(mcp(surface).implement({ ...handlers, extra: () => 1 }));
mcp(surface).implement(handlers);

// A handler of another kind, or of another type.
expectError(implementSurface(surface, { ...handlers, state: () => "text" }));
expectError(implementSurface(surface, { ...handlers, state: cellSource(1) }));
expectError(implementSurface(surface, { ...handlers, rows: cellSource({ a: { n: 1 } }) }));
expectError(implementSurface(surface, { ...handlers, rows: cellSource(new Map([["a", 1]])) }));
expectError(implementSurface(surface, { ...handlers, log: () => "text" }));
expectError(implementSurface(surface, { ...handlers, "node.run": () => true }));
expectError(implementSurface(surface, { ...handlers, "node.run": (input: { at: string }) => input.at }));
expectError(implementSurface(surface, { ...handlers, stop: cellSource(1) }));
