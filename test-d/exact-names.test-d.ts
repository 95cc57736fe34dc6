import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  type Link,
  type MountSource,
  type Spec,
  type Surface,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const source: MountSource;
declare const someNames: Record<string, true>;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  run: mcpTool(procedure({})),
  show: readOnly(mcpTool(procedure({}))),
  hidden: procedure({}),
});
const app = mcp(surface).bridge(link);
const all = { tools: { run: true, show: true }, resources: { state: true }, mutating: { run: true } } as const;

// The app stays what it was, and can be served.
const sealed = app.exactly({ tools: { run: true, show: true }, resources: { state: true }, mutating: { run: true } });
expectType<"run" | "show">(nameOf<ToolNames<typeof sealed>>());
expectAssignable<typeof app>(sealed);
app.exactly(all);
app.exactly({ ...all, prompts: {} });

// A name too few, in each kind.
expectError(app.exactly({ ...all, tools: { run: true } }));
expectError(app.exactly({ ...all, resources: {} }));
expectError(app.exactly({ ...all, mutating: {} }));
expectError(app.exactly({ tools: { run: true, show: true }, mutating: { run: true } }));
expectError(app.exactly({}));

// A name too many, in each kind, and an unknown kind.
expectError(app.exactly({ ...all, tools: { run: true, show: true, hidden: true } }));
expectError(app.exactly({ ...all, resources: { state: true, hidden: true } }));
expectError(app.exactly({ ...all, mutating: { run: true, show: true } }));
expectError(app.exactly({ ...all, prompts: { hello: true } }));
expectError(app.exactly({ ...all, toools: { run: true } }));

// Each name has `true`; open records name nothing.
expectError(app.exactly({ ...all, tools: { run: true, show: false } }));
expectError(app.exactly({ ...all, tools: someNames }));

// Entries of a mount: any of its names, a pattern, or none.
const mounted = app.mount("git", source);
mounted.exactly(all);
mounted.exactly({ ...all, tools: { run: true, show: true, git_status: true } });
mounted.exactly({
  tools: { run: true, show: true, "git_*": true },
  resources: { state: true, "git/*": true },
  mutating: { run: true, "git_*": true },
});
expectError(mounted.exactly({ ...all, tools: { run: true, show: true, svn_status: true } }));

// A widened surface may have any name: the catalog decides when it is opened.
const widened = mcp(surface as unknown as Surface<Spec>).bridge(link);
widened.exactly({ tools: { run: true }, resources: { state: true }, mutating: { run: true } });

// Prompts, hand-written entries and generic additions count.
const more = app.tools({ more: { mutates: false, handler: () => 1 } }).prompts({ hello: { handler: () => "hello" } });
more.exactly({ ...all, tools: { run: true, show: true, more: true }, prompts: { hello: true } });
expectError(more.exactly(all));

// Only a linked app is complete.
expectError(mcp(surface).exactly(all));

declare function nameOf<TName>(): TName;
