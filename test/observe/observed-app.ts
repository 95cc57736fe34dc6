import { once } from "node:events";
import { z } from "zod";
import {
  cell,
  cellSource,
  content,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  Refusal,
  type McpOptions,
  type Observation,
} from "../../src/index.ts";
import { procedure } from "../../src/surface/define-members.ts";

const surface = defineSurface("observed", {
  level: mcpResource(cell({ schema: z.int() })),
  echo: mcpTool(procedure({ input: z.object({ text: z.string() }), output: z.object({ text: z.string() }) })),
});

/** Creates an app whose requests have every outcome, and the list of its records. */
export function createObservedApp(options: McpOptions = {}) {
  const records: Observation[] = [];
  const faults: unknown[] = [];
  const app = mcp(surface, {
    onFault: ({ cause }) => faults.push(cause),
    observe: (record) => void records.push(record),
    ...options,
  })
    .implement({ level: cellSource(3), echo: (input) => input })
    .tools({
      outer: {
        canCall: ["inner", "no"],
        handler: async (_args, { call }) => ({ seen: [await call("inner", { deep: 1 })] }),
      },
      inner: { input: z.object({ deep: z.number() }), mutates: false, handler: ({ deep }) => ({ deep }) },
      no: {
        handler: () => {
          throw new Refusal("NOT_NOW", "no");
        },
      },
      limited: {
        handler: () => {
          throw new Refusal("RATE_LIMITED", "by the author, after the handler has started");
        },
      },
      fault: {
        handler: () => {
          throw new Error("secret-cause");
        },
      },
      flawed: { handler: () => content(["bad"], { isError: true }) },
      guarded: { scopes: ["admin"], handler: () => 1 },
      slow: {
        handler: (_args, { signal }) => once(signal, "abort"),
      },
      login: {
        input: z.object({
          user: z.string(),
          password: z.string(),
          pin: z.string().meta({ writeOnly: true }),
          list: z.array(z.object({ apiKey: z.string() })),
        }),
        output: z.object({ user: z.string(), session_token: z.string() }),
        handler: ({ user }) => ({ user, session_token: "sentinel-out" }),
      },
    })
    .prompts({ greet: { input: z.object({ who: z.string() }), handler: ({ who }) => `Hello ${who}` } });
  return { app, records, faults };
}
