import { expectError, expectType } from "tsd";
import {
  body,
  cell,
  collection,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  type Link,
  type MutatingToolNames,
  type PromptNames,
  type ResourceNames,
  type ToolContext,
  type ToolNames,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const either: boolean;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  rows: collection({ key: z.string(), schema: z.number() }),
  "node.run": mcpTool(procedure({})),
});
const app = mcp(surface).bridge(link);
type Client = ToolContext<(typeof surface)["members"]>["client"];

// One without variables, one with them, one with a URI of its own.
const told = app.resources({
  motd: {
    title: "Message",
    mimeType: "text/plain",
    windowMs: 10,
    read: async (variables, { client }) => {
      expectType<undefined>(variables);
      expectType<Client>(client);
      return String(await client.state.get());
    },
    async *watch(variables) {
      expectType<undefined>(variables);
      yield 1;
    },
  },
  "log.part": {
    variables: z.object({ node: z.string(), part: z.number().optional() }),
    complete: { node: (begun) => [begun] },
    read: ({ node, part }, context) => {
      expectType<string>(node);
      expectType<number | undefined>(part);
      expectType<AbortSignal>(context.signal);
      return body({ mimeType: "image/png", bytes: new Uint8Array() });
    },
  },
  logo: { uri: "site://logo", read: () => body({ mimeType: "text/plain", text: "a" }) },
  page: {
    uriTemplate: "site://page/{id}/text",
    variables: z.object({ id: z.int() }),
    read: ({ id }) => expectType<number>(id),
  },
});
expectType<"state" | "motd" | "log.part" | "logo" | "page">(nameOf<ResourceNames<typeof told>>());
// Nothing else grows.
expectType<"node_run">(nameOf<ToolNames<typeof told>>());
expectType<"node_run">(nameOf<MutatingToolNames<typeof told>>());
expectType<never>(nameOf<PromptNames<typeof told>>());

// What later stages add takes nothing away.
const later = told
  .pull()
  .prompts({ a: { handler: () => "a" } })
  .tools({ more: { handler: () => 1 } })
  .expose({ rows: "resource" });
expectType<"state" | "motd" | "log.part" | "logo" | "page" | "rows">(nameOf<ResourceNames<typeof later>>());

// A key that is taken: by a tag, by an expose map in either order, by another.
expectError(app.resources({ state: { read: () => 1 } }));
expectError(app.expose({ rows: "resource" }).resources({ rows: { read: () => 1 } }));
expectError(app.resources({ rows: { read: () => 1 } }).expose({ rows: "resource" }));
expectError(app.resources({ a: { read: () => 1 } }).resources({ a: { read: () => 1 } }));
expectError(
  mcp(surface)
    .expose({ rows: "resource" })
    .bridge(link)
    .resources({ rows: { read: () => 1 } }),
);
// One that is not: a tool's, a member's that nothing exposes.
app.resources({ "node.run": { read: () => 1 }, rows: { read: () => 1 }, a: { read: () => 1 } });
app.tools({ a: { handler: () => 1 } }).resources({ a: { read: () => 1 } });

// What is no resource.
expectError(app.resources({ a: {} }));
expectError(app.resources({ a: { read: 1 } }));
expectError(app.resources({ a: () => 1 }));
expectError(app.resources({ a: { nope: 1, read: () => 1 } }));
expectError(app.resources({ a: { listItems: true, read: () => 1 } }));
expectError(app.resources({ a: { read: () => 1, watch: () => [1] } }));
expectError(app.resources({ a: { variables: "text", read: () => 1 } }));
expectError(app.resources({ a: { variables: z.object({ b: z.string() }), read: (given: { c: string }) => given.c } }));

// Variables are spelled in a URI.
app.resources({ a: { variables: z.string(), read: (key) => expectType<string>(key) } });
expectError(app.resources({ a: { variables: z.object({ b: z.array(z.string()) }), read: () => 1 } }));
expectError(app.resources({ a: { variables: z.null(), read: () => 1 } }));
expectError(app.resources({ a: { variables: z.any(), read: () => 1 } }));
expectError(app.resources({ a: { variables: z.object({ b: z.string() }), complete: { c: () => [] }, read: () => 1 } }));

// A body has a text or bytes.
expectError(body({ mimeType: "text/plain" }));
expectError(body({ text: "a" }));
expectError(body({ mimeType: "text/plain", text: "a", bytes: "" }));

// Keys are counted whatever shape they come in, and refused where they are not known.
const extra = { extra: { read: () => 1 } };
const sometimes = app.resources({ always: { read: () => 1 }, ...(either ? extra : {}) });
expectType<"state" | "always" | "extra">(nameOf<ResourceNames<typeof sometimes>>());
const none = app.resources({ a: { read: () => 1 } } as never);
expectType<string>(nameOf<ResourceNames<typeof none>>());
expectError(app.resources(openResources()));

// They need a link.
expectError(mcp(surface).resources({ a: { read: () => 1 } }));

declare function nameOf<TName>(): TName;
declare function openResources(): Record<string, { read(): number }>;
