import { expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  type Link,
  type MountSource,
  type MutatingToolNames,
  type ResourceNames,
  type ToolNames,
} from "surface-mcp";
import { createTestClient, type ToolAnswer } from "surface-mcp/testing";
import { z } from "zod";

declare const link: Link;
declare const source: MountSource;
declare const either: boolean;
declare const none: never;
declare const anyText: string;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  "git.status": procedure({}),
  run: mcpTool(procedure({})),
});
const app = mcp(surface).bridge(link);

// Whatever begins with the prefix may be there, and may change something: the proof stays a superset.
const mounted = app.mount("git", source);
expectType<"run" | `git_${string}`>(nameOf<ToolNames<typeof mounted>>());
expectType<"run" | `git_${string}`>(nameOf<MutatingToolNames<typeof mounted>>());
expectType<"state" | `git/${string}`>(nameOf<ResourceNames<typeof mounted>>());

// What other steps add takes nothing away.
const more = mounted
  .mount("hub", source)
  .pull()
  .tools({ gitx: { mutates: false, handler: () => 1 } })
  .expose({})
  .prompts({ ask: { handler: () => "a" } })
  .resources({ page: { read: () => 1 } });
expectType<"run" | `git_${string}` | `hub_${string}` | "gitx" | "read_resource" | "wait_for_change">(
  nameOf<ToolNames<typeof more>>(),
);
expectType<"run" | `git_${string}` | `hub_${string}`>(nameOf<MutatingToolNames<typeof more>>());

// Either prefix counts.
const chosen = app.mount(either ? "a" : "b", source);
expectType<"run" | `a_${string}` | `b_${string}`>(nameOf<ToolNames<typeof chosen>>());

// A prefix that the compiler does not know proves nothing.
expectError(app.mount(anyText, source));
expectError(app.mount(`a_${anyText}`, source));
expectError(app.mount(anyText as `a_${string}`, source));
const hidden = app.mount(none, source);
expectType<string>(nameOf<ToolNames<typeof hidden>>());
expectType<string>(nameOf<MutatingToolNames<typeof hidden>>());
expectType<string>(nameOf<ResourceNames<typeof hidden>>());

// Names collide in every order: with tools, members, pull() and other mounts.
expectError(app.mount("git", source).mount("git", source));
expectError(app.mount("git", source).mount("git_hub", source));
expectError(app.mount("git_hub", source).mount("git", source));
expectError(app.mount("git", source).tools({ git_x: { handler: () => 1 } }));
expectError(app.mount("git", source).tools({ "git.x": { handler: () => 1 } }));
expectError(app.tools({ git_x: { handler: () => 1 } }).mount("git", source));
expectError(app.tools({ "git.x": { handler: () => 1 } }).mount("git", source));
expectError(app.mount("git", source).expose({ "git.status": "tool" }));
expectError(app.expose({ "git.status": "tool" }).mount("git", source));
expectError(
  mcp(defineSurface("s", { "git.run": mcpTool(procedure({})) }))
    .bridge(link)
    .mount("git", source),
);
expectError(app.pull().mount("read", source));
expectError(app.mount("read", source).pull());
// What only begins like it does not.
app.mount("git", source).mount("gith", source);
app.mount("git", source).tools({ git: { handler: () => 1 }, gi: { handler: () => 1 } });
mcp(defineSurface("s", { "git.run": procedure({}) }))
  .bridge(link)
  .mount("git", source);

// It comes behind the link, and takes a source.
expectError(mcp(surface).mount("git", source));
expectError(app.mount("git"));
expectError(app.mount("git", {}));
expectError(app.mount("git", { list: () => [] }));
expectError(app.mount("git", { ...source, list: () => [{ nope: 1 }] }));

// A test client calls what may be there.
const client = createTestClient(mounted);
expectType<Promise<ToolAnswer> | undefined>(client.tools["git_status"]?.({ anything: 1 }));
expectType<Promise<ToolAnswer> | undefined>(client.tools["git_status"]?.());
expectError(client.tools.nope());

declare function nameOf<TName>(): TName;
