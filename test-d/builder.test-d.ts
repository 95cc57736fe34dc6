import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  Refusal,
  stdio,
  type AppNames,
  type Link,
  type LinkedApp,
  type ServableApp,
  type ServeTarget,
  type Serving,
  type TypeProblem,
  type UnlinkedApp,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const target: ServeTarget;
declare const either: boolean;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  "node.run": mcpTool(procedure({})),
  plain: procedure({}),
});
const app = mcp(surface);
const linked = app.bridge(link);

// Every legal order.
expectType<Promise<Serving>>(linked.serve());
expectType<Promise<Serving>>(linked.serve(target));
expectType<Promise<Serving>>(linked.serve(stdio()));
app.expose({ plain: "tool" }).bridge(link).serve();
app.bridge(link).expose({ plain: "tool" }).serve();
app
  .bridge(link)
  .tools({ extra: { handler: () => 1 } })
  .expose({ plain: "tool" })
  .serve();
app
  .bridge(link)
  .tools({ extra: { handler: () => 1 } })
  .tools({ more: { handler: () => 1 } });
expectAssignable<ServableApp>(linked);

// Nothing is served, and no tool added, before there is a link; the type of the missing method is the sentence.
expectError(app.serve());
expectError(app.serve(target));
expectError(app.tools({ extra: { handler: () => 1 } }));
expectError(app.expose({ plain: "tool" }).serve());
expectError(app.open());
expectError<ServableApp>(app);
expectError(target.serve(app));
expectType<TypeProblem<"serve() needs a link: call .bridge(link) or .implement(handlers) first">>(app.serve);
expectType<TypeProblem<"tools() needs a link: call .bridge(link) or .implement(handlers) first">>(app.tools);

// One link an app.
expectError(linked.bridge(link));
expectError(linked.implement({}));
expectError(app.bridge(link).expose({ plain: "tool" }).bridge(link));
expectError(linked.tools({ extra: { handler: () => 1 } }).bridge(link));
expectType<TypeProblem<"this app is linked already: one bridge() or implement() an app">>(linked.bridge);
expectType<TypeProblem<"this app is linked already: one bridge() or implement() an app">>(linked.implement);
expectError(app.bridge());
expectError(app.bridge({}));
expectError(app.bridge("unix:///tmp/s"));

// What is no surface, and options that do not exist.
expectError(mcp());
expectError(mcp({}));
expectError(mcp(surface.members));
expectError(mcp(either ? surface : defineSurface("other", { other: mcpTool(procedure({})) })));
mcp(surface, { name: "server", version: "1.0.0", title: "Server", instructions: "Use it", uriPrefix: "app://" });
mcp(surface, { pageSize: 10, onFault: () => {} });
expectError(mcp(surface, { nme: "server" }));
expectError(mcp(surface, { pageSize: "10" }));
expectError(mcp(surface, { onFault: true }));
mcp(surface, { toRefusal: (error) => (error instanceof RangeError ? new Refusal("RANGE", error.message) : undefined) });
expectError(mcp(surface, { toRefusal: () => "RANGE" }));
expectError(mcp(surface, { toRefusal: async () => undefined }));

// An app is not one with fewer names, nor one over fewer members.
type None = {
  readonly tools: never;
  readonly resources: never;
  readonly mutating: never;
  readonly exposed: never;
  readonly inputs: Record<never, never>;
};
type Members = (typeof surface)["members"];
expectError<LinkedApp<None, Members>>(linked);
expectError<LinkedApp<None, unknown>>(linked);
expectError<UnlinkedApp<None, Members>>(app);
// It is one with any names at all.
expectAssignable<LinkedApp<AppNames, Members>>(linked);
expectError<typeof linked>(linked.expose({ plain: "tool" }));
expectError<typeof linked>(linked.tools({ extra: { handler: () => 1 } }));
expectError<typeof app>(app.expose({ plain: "tool" }));
expectError<typeof app>(linked);
expectError<typeof linked>(app);
