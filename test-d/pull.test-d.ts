import { expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  type Link,
  type MutatingToolNames,
  type ResourceNames,
  type ToolNames,
} from "surface-mcp";
import { createTestClient, type ToolAnswer } from "surface-mcp/testing";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  run: mcpTool(procedure({})),
  plain: procedure({}),
  read_resource: procedure({}),
});
const app = mcp(surface);

// The names count, whenever pull() is called; neither tool changes anything.
const early = app.pull().bridge(link);
const late = app
  .bridge(link)
  .tools({ extra: { handler: () => 1 } })
  .pull()
  .expose({ plain: "tool" });
declare const earlyTools: ToolNames<typeof early>;
declare const lateTools: ToolNames<typeof late>;
declare const mutating: MutatingToolNames<typeof late>;
declare const resources: ResourceNames<typeof late>;
expectType<"run" | "read_resource" | "wait_for_change">(earlyTools);
expectType<"run" | "extra" | "plain" | "read_resource" | "wait_for_change">(lateTools);
expectType<"run" | "extra" | "plain">(mutating);
expectType<"state">(resources);

// Once an app.
expectError(app.pull().pull());
expectError(app.bridge(link).pull().pull());
expectError(app.pull().bridge(link).pull());

// Their names collide in every order.
expectError(app.pull().expose({ read_resource: "tool" }));
expectError(app.expose({ read_resource: "tool" }).pull());
expectError(
  app
    .bridge(link)
    .pull()
    .tools({ wait_for_change: { handler: () => 1 } }),
);
expectError(
  app
    .bridge(link)
    .tools({ wait_for_change: { handler: () => 1 } })
    .pull(),
);
expectError(mcp(defineSurface("s", { "read.resource": mcpTool(procedure({})) })).pull());
expectError(mcp(defineSurface("s", { wait_for_change: mcpTool(procedure({})) })).pull());
// A resource has no name on the wire.
mcp(defineSurface("s", { read_resource: mcpResource(cell({ schema: z.number() })) })).pull();

// A test client knows their arguments.
const client = createTestClient(late);
expectType<Promise<ToolAnswer>>(client.tools.read_resource({ uri: "surface://s/state" }));
expectType<Promise<ToolAnswer>>(client.tools.wait_for_change({ uris: ["a"], since: "c", timeout_ms: 0 }));
expectError(client.tools.read_resource());
expectError(client.tools.read_resource({ uri: 1 }));
expectError(client.tools.wait_for_change({ uris: "a" }));
expectError(createTestClient(app.bridge(link)).tools.read_resource);
createTestClient(app.expose({ read_resource: "tool" }).bridge(link)).tools.read_resource();

// And which resources can be watched.
expectType<Promise<() => void>>(client.watch("state", () => {}));
client.watch("state", () => {}, { key: 1 });
expectError(client.watch("plain", () => {}));
expectError(client.watch("state"));
