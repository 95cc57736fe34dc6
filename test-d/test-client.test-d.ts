import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  event,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  stream,
  richContent,
  type JsonObject,
  type JsonValue,
  type Link,
} from "surface-mcp";
import { createTestClient, type TestForm, type ToolAnswer } from "surface-mcp/testing";
import { z } from "zod";

declare const link: Link;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  rows: mcpResource(stream({ input: z.string(), output: z.string() })),
  "node.run": mcpTool(procedure({ input: z.object({ node: z.string(), deep: z.boolean().default(false) }) })),
  count: mcpTool(procedure({ input: z.number() })),
  stop: mcpTool(procedure({})),
  done: mcpTool(event({ output: z.boolean() })),
  pull: mcpTool(stream({ input: z.object({ node: z.string() }), output: z.string() })),
  show: mcpTool(procedure({ input: z.object({ id: z.number() }), output: z.object({ id: z.number(), at: z.date() }) })),
  "count.now": mcpTool(procedure({ output: z.number() })),
  chart: mcpTool(procedure({ output: richContent })),
  plain: procedure({}),
});
const app = mcp(surface)
  .bridge(link)
  .tools({
    extra: { input: z.object({ strict: z.boolean().optional() }), handler: () => 1 },
    bare: { handler: () => 1 },
    told: { input: z.object({ id: z.string() }), output: z.array(z.string()), handler: ({ id }) => [id] },
  });
const client = createTestClient(app);
createTestClient(app, { era: "legacy" });

// Tools by their names on the wire, each with its own arguments; what can be left out may be.
expectType<Promise<ToolAnswer>>(client.tools.node_run({ node: "a" }));
client.tools.node_run({ node: "a", deep: true }, { onProgress: (report) => expectType<number>(report.progress) });
client.tools.count({ value: 1 });
client.tools.stop();
client.tools.stop({}, { signal: new AbortController().signal });
client.tools.done();
client.tools.done({ since: "c", timeout_ms: 10 });
client.tools.pull({ node: "a", max_items: 1, wait_ms: 0 });
client.tools.extra();
client.tools.extra({ strict: true });
client.tools.bare();
expectError(client.tools.node_run());
expectError(client.tools.node_run({}));
expectError(client.tools.node_run({ node: 1 }));
expectError(client.tools.node_run({ node: "a", nope: 1 }));
expectError(client.tools.count(1));
expectError(client.tools.count({ value: "1" }));
expectError(client.tools.done({ since: 1 }));
expectError(client.tools.pull({ max_items: 1 }));
expectError(client.tools.extra({ strict: "yes" }));
expectError(client.tools.stop({}, { nope: 1 }));

// Answers are typed from the output; without one they are the JSON object of the answer.
declare const shown: Awaited<ReturnType<typeof client.tools.show>>;
expectType<{ id: number; at: Date }>(shown.value);
expectError(shown.value.nope);
if (shown.isError) expectType<never>(shown.value);
else expectType<JsonObject>(shown.structured);
expectType<number>((await client.tools.count_now()).value);
expectType<string[]>((await client.tools.told({ id: "a" })).value);
expectType<JsonObject>((await client.tools.bare()).value);
expectType<JsonObject>((await client.tools.extra()).value);
expectType<JsonObject>((await client.tools.stop()).value);
expectType<JsonObject>((await client.tools.chart()).value);
expectType<"fired" | "timed_out" | "interrupted">((await client.tools.done()).value.status);
expectType<boolean | undefined>((await client.tools.done()).value.occurrence);
expectType<readonly string[]>((await client.tools.pull({ node: "a" })).value.items);
expectAssignable<ToolAnswer>(await client.tools.bare());

// A user, a model, and places.
createTestClient(app, { elicit: () => true, sample: () => "text", roots: () => [{ uri: "file:///a" }], view: "hub" });
createTestClient(app, { elicit: async (form: TestForm) => form.message === "Sure?" });
createTestClient(app, { elicit: () => ({ action: "accept", content: { title: "a" } }) });
createTestClient(app, { elicit: () => ({ action: "decline" }), sample: async ({ messages }) => `${messages.length}` });
expectError(createTestClient(app, { elicit: () => "accept" }));
expectError(createTestClient(app, { elicit: () => ({ action: "accept" }) }));
expectError(createTestClient(app, { roots: () => ["file:///a"] }));
expectError(createTestClient(app, { sample: () => 1 }));
expectError(createTestClient(app, { surface: "hub" }));

// What is not exposed is not there.
expectError(client.tools.plain());
expectError(client.tools["node.run"]({ node: "a" }));
expectError(client.tools.state());
expectError(client.tools.toString2());

// Resources by their keys.
expectType<Promise<JsonValue>>(client.read("state"));
client.read("rows", { value: "a" });
expectError(client.read("plain"));
expectError(client.read("stop"));
expectError(client.read("rows", { value: { a: 1 } }));
expectType<Promise<readonly string[]>>(client.toolNames());
client.request("tools/list", {});
expectError(client.request("tools/nope", {}));

// An app without a link has no client.
expectError(createTestClient(mcp(surface)));
expectError(createTestClient(app, { era: "ancient" }));
