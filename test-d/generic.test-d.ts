import { expectError, expectType } from "tsd";
import {
  composeSurfaces,
  defineSurface,
  mcp,
  mcpTool,
  procedure,
  type AppNames,
  type Exactly,
  type Link,
  type LinkedApp,
  type LiteralKeys,
  type MutatingToolNames,
  type PromptNames,
  type ResourceNames,
  type Spec,
  type Surface,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const openSpec: Record<string, typeof tool>;

const tool = mcpTool(procedure({}));
const plain = procedure({});

// A helper that is generic over the members keeps the demand for literal keys, and the names.
const define = <const TSpec extends Spec & LiteralKeys<TSpec>>(spec: TSpec) => defineSurface("made", spec);
const app = mcp(define({ tool, plain })).bridge(link);
expectType<true>(check<Exactly<ToolNames<typeof app>, "tool">>());
expectError(define(openSpec));

// A plugin adds to any app, and the result has the names of both.
const withPing = <TSpec, TNames extends AppNames>(extended: LinkedApp<TNames, TSpec>) =>
  extended.generic.tools({
    ping: {
      mutates: false,
      input: z.object({ text: z.string() }),
      handler: ({ text }) => {
        expectType<string>(text);
        return text;
      },
    },
    "cache.clear": { handler: () => 1 },
  });
const withNotes = <TSpec, TNames extends AppNames>(extended: LinkedApp<TNames, TSpec>) =>
  extended.generic
    .prompts({ review: { handler: () => "Review" } })
    .generic.resources({ about: { read: () => "About" } });
const pinged = withPing(app);
const extended = withNotes(pinged);
expectType<true>(check<Exactly<ToolNames<typeof extended>, "tool" | "ping" | "cache_clear">>());
expectType<true>(check<Exactly<MutatingToolNames<typeof extended>, "tool" | "cache_clear">>());
expectType<true>(check<Exactly<PromptNames<typeof extended>, "review">>());
expectType<true>(check<Exactly<ResourceNames<typeof extended>, "about">>());
// What comes after it knows the names that it added.
expectError(pinged.tools({ ping: { handler: () => 1 } }));
expectError(pinged.tools({ cache_clear: { handler: () => 1 } }));
// It checks its own tools, and takes no app without a link.
expectError(app.generic.tools({ ping: { handler: 1 } }));
expectError(app.generic.tools({ ping: { nope: 1, handler: () => 1 } }));
expectError(withPing(mcp(define({ tool }))));

// Two keys of one object that have one name on the wire.
const handler = (): string => "a";
expectError(app.tools({ "a.b": { handler }, a_b: { handler } }));
expectError(app.prompts({ "a.b": { handler }, a_b: { handler } }));
expectError(mcp(define({ "a.b": plain, a_b: plain })).expose({ "a.b": "tool", a_b: "tool" }));
expectError(mcp(define({ "a.b_c": plain, "a_b.c": plain })).expose({ "a.b_c": "tool", "a_b.c": "tool" }));
app.tools({ "a.b": { handler }, a_c: { handler } });
mcp(define({ "a.b": plain, a_b: plain })).expose({ "a.b": "tool" });

// Two tagged members with one name on the wire, of one surface or of siblings.
const outer = define({ b_c: tool, plain_b: tool });
const inner = define({ c: tool });
expectError(mcp(define({ "a.b": tool, a_b: tool })).bridge(link));
expectError(mcp(define({ "a.b_c": tool, "a_b.c": tool, other: plain })).bridge(link));
expectError(mcp(composeSurfaces("all", { a: outer, a_b: inner })).bridge(link));
mcp(composeSurfaces("all", { a: outer, b_b: inner })).bridge(link);
mcp(define({ "a.b": tool, a_b: plain })).bridge(link);
mcp(define({ "a.b": tool, a_c: tool }), { name: "made" }).bridge(link);
// Keys of a pattern, of any surface, and of a function that is generic over the surface may differ.
declare const patterned: Surface<{ readonly [_: `a.${string}`]: typeof tool; readonly a_b: typeof tool }>;
declare const unknownKeys: Surface<Spec>;
declare const unchecked: any;
mcp(patterned).bridge(link);
mcp(unknownKeys).bridge(link);
mcp(unchecked).bridge(link);
const anyApp = <TSpec extends Spec>(surface: Surface<TSpec>) => mcp(surface, { name: "any" }).bridge(link);
anyApp(define({ "a.b": tool, a_b: tool }));

declare function check<TResult>(): TResult;
