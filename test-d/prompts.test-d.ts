import { expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  imageBlock,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  type Link,
  type LogLevel,
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
  run: mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.boolean() })),
});
const app = mcp(surface).bridge(link);
type Client = ToolContext<(typeof surface)["members"]>["client"];

// A handler receives its input's output side and a whole context; it answers with a text, or with messages.
const told = app.prompts({
  review: {
    title: "Review",
    icons: [{ src: "https://example.test/review.png" }],
    meta: { "host/pinned": true },
    input: z.object({ node: z.string(), depth: z.number().default(1), loud: z.boolean().optional() }),
    complete: { node: async (begun, { client }) => [begun, String(await client.state.get())] },
    handler: async ({ node, depth, loud }, context) => {
      expectType<string>(node);
      expectType<number>(depth);
      expectType<boolean | undefined>(loud);
      expectType<Client>(context.client);
      expectType<AbortSignal>(context.signal);
      expectType<(level: LogLevel, data: unknown, logger?: string) => void>(context.log);
      context.progress({ progress: 1 });
      expectError(context.log("loud", 1));
      return `Review ${node}`;
    },
  },
  "many.parts": {
    handler(args) {
      expectType<undefined>(args);
      return [
        { role: "user", content: "Look" },
        { role: "assistant", content: imageBlock({ data: "", mimeType: "image/png" }) },
      ];
    },
  },
});
expectType<"review" | "many_parts">(nameOf<PromptNames<typeof told>>());
// Tools and resources keep their names.
expectType<"run">(nameOf<ToolNames<typeof told>>());
expectType<"state">(nameOf<ResourceNames<typeof told>>());
expectType<never>(nameOf<PromptNames<typeof app>>());

// What later stages add takes nothing away.
const later = told
  .pull()
  .tools({ more: { handler: () => 1 } })
  .resources({ text: { read: () => "a" } })
  .expose({});
expectType<"review" | "many_parts">(nameOf<PromptNames<typeof later>>());

// A tool, a member and a prompt may share a name: they are never in one list.
app.prompts({ run: { handler: () => "a" }, state: { handler: () => "a" } });

// A name that is taken, in any spelling.
expectError(told.prompts({ review: { handler: () => "a" } }));
expectError(told.prompts({ many_parts: { handler: () => "a" } }));
expectError(told.prompts({ "many.parts": { handler: () => "a" } }));

// What is no prompt.
expectError(app.prompts({ a: {} }));
expectError(app.prompts({ a: { handler: 1 } }));
expectError(app.prompts({ a: { handler: () => 1 } }));
expectError(app.prompts({ a: { handler: () => [{ role: "system", content: "a" }] } }));
expectError(app.prompts({ a: { handler: () => [{ role: "user", content: { type: "text", text: "a" } }] } }));
expectError(app.prompts({ a: { nope: 1, handler: () => "a" } }));
expectError(app.prompts({ a: { mutates: false, handler: () => "a" } }));
expectError(app.prompts({ a: { input: "text", handler: () => "a" } }));
expectError(app.prompts({ a: { input: z.object({ b: z.string() }), handler: (args: { c: string }) => args.c } }));

// Arguments are texts: what is none, and what is no object of them, is refused.
expectError(app.prompts({ a: { input: z.string(), handler: () => "a" } }));
expectError(app.prompts({ a: { input: z.object({ b: z.array(z.string()) }), handler: () => "a" } }));
expectError(app.prompts({ a: { input: z.object({ b: z.object({}) }), handler: () => "a" } }));
expectError(app.prompts({ a: { input: z.any(), handler: () => "a" } }));
app.prompts({ a: { input: z.object({}), handler: () => "a" } });

// Completers are of fields that there are.
expectError(app.prompts({ a: { complete: { b: () => [] }, handler: () => "a" } }));
expectError(app.prompts({ a: { input: z.object({ b: z.string() }), complete: { c: () => [] }, handler: () => "a" } }));
expectError(app.prompts({ a: { input: z.object({ b: z.string() }), complete: { b: () => [1] }, handler: () => "a" } }));

// Names are counted whatever shape they come in, and refused where they are not known.
const extra = { extra: { handler: () => "a" } };
const sometimes = app.prompts({ always: { handler: () => "a" }, ...(either ? extra : {}) });
expectType<"always" | "extra">(nameOf<PromptNames<typeof sometimes>>());
const none = app.prompts({ a: { handler: () => "a" } } as never);
expectType<string>(nameOf<PromptNames<typeof none>>());
expectError(app.prompts(openPrompts()));

// They need a link.
expectError(mcp(surface).prompts({ a: { handler: () => "a" } }));

declare function nameOf<TName>(): TName;
declare function openPrompts(): Record<string, { handler(): string }>;
