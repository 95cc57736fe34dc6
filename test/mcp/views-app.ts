import * as z from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  type McpOptions,
  type OperationRegistry,
  type ViewRule,
  type WritableSource,
} from "../../src/index.ts";

const ci = defineSurface("ci", {
  status: mcpResource(cell({ schema: z.string() })),
  secrets: mcpResource(cell({ schema: z.string() })),
  "node.rerun": mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.string() })),
  "node.peek": mcpTool(readOnly(procedure({ input: z.object({ node: z.string() }), output: z.string() }))),
});

/** Views of every sort. */
export const rules: readonly ViewRule[] = [
  {
    id: "readonly",
    when: { surface: "readonly" },
    verdict: {
      kind: "tool_surface",
      readOnly: true,
      disallow: ["secrets", "plan", "vault"],
      instructions: "Only look.",
    },
  },
  { id: "hub", when: { surface: "hub" }, verdict: { kind: "tool_surface", face: "gateway" } },
  { id: "locked", when: { surface: "locked" }, verdict: { kind: "deny", reason: "not for you" } },
  { id: "nosy", when: { client: { name: "nosy" } }, verdict: { kind: "deny", reason: "no nosy clients" } },
];

/** An app of every sort of thing, and what it is made of. */
export interface ViewsApp {
  readonly open: () => ReturnType<ReturnType<typeof build>["open"]>;
  readonly rules: WritableSource<readonly ViewRule[]>;
  readonly registry: OperationRegistry;
  readonly status: WritableSource<string>;
  readonly secrets: WritableSource<string>;
  readonly app: ReturnType<typeof build>;
}

interface Parts extends Omit<ViewsApp, "open" | "app"> {
  readonly options: McpOptions;
}

function build({ options, rules: source, registry, status, secrets }: Parts) {
  return mcp(ci, { instructions: "Use it.", changeWindowMs: 1, onFault: () => {}, maxResultBytes: 4096, ...options })
    .implement({ status, secrets, "node.rerun": ({ node }) => `ran ${node}`, "node.peek": ({ node }) => `saw ${node}` })
    .tools({
      note: { input: z.object({ text: z.string() }), handler: ({ text }) => text },
      big: { mutates: false, handler: () => "x".repeat(10_000) },
      granted: { mutates: false, scopes: ["extra"], handler: () => "yes" },
    })
    .prompts({
      review: { input: z.object({ tone: z.enum(["kind", "strict"]) }), handler: ({ tone }) => `Review it, ${tone}` },
      plan: { input: z.object({ tone: z.enum(["kind", "strict"]) }), handler: ({ tone }) => `Plan it, ${tone}` },
    })
    .resources({
      vault: {
        uriTemplate: "app://vault/{box}",
        variables: z.object({ box: z.enum(["a", "b"]) }),
        read: ({ box }) => box,
      },
    })
    .pull()
    .mount("ops", registry)
    .views(source, { replay: true });
}

/** Makes one. Its rules may be replaced. */
export function createViewsApp(options: McpOptions = {}): ViewsApp {
  const parts: Parts = {
    options,
    rules: cellSource(rules),
    registry: operationRegistry(),
    status: cellSource("green"),
    secrets: cellSource("hush"),
  };
  parts.registry.register(
    { name: "git.branch", type: "query", inputSchema: z.object({ name: z.string() }), outputSchema: z.string() },
    ({ name }) => `on ${name}`,
  );
  parts.registry.register({ name: "git.push", description: "Push it" }, () => "pushed");
  const app = build(parts);
  return { ...parts, app, open: () => app.open() };
}
