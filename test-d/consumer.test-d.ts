// A program as users write it, which `npm run matrix:types` compiles with every supported compiler, module resolution and
// strict flag. It imports nothing but the package and zod.
import {
  cell,
  collection,
  defineSurface,
  event,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  stream,
  withJsonSchema,
  type Exactly,
  type Link,
  type MutatingToolNames,
  type PromptNames,
  type ResourceNames,
  type ToolNames,
} from "surface-mcp";
import { http } from "surface-mcp/http";
import { createTestClient } from "surface-mcp/testing";
import { z } from "zod";

/** `true` when two types are the same. */
type Same<TActual, TExpected> =
  (<T>() => T extends TActual ? 1 : 2) extends <T>() => T extends TExpected ? 1 : 2 ? true : false;
declare const link: Link;
declare function same<TActual, TExpected>(proof: Same<TActual, TExpected>): void;

interface Job {
  readonly id: string;
  readonly done?: boolean;
}
declare const jobSchema: z.ZodType<Job>;
const loose = withJsonSchema(z.object({ text: z.string() }), {
  type: "object",
  properties: { text: { type: "string" } },
});

export const surface = defineSurface("jobs", {
  state: mcpResource(cell({ schema: z.enum(["idle", "busy"]), default: "idle" })),
  rows: mcpResource(collection({ key: z.string(), schema: jobSchema })),
  log: mcpResource(stream({ input: z.object({ id: z.string() }), output: z.string() })),
  done: mcpTool(event({ output: jobSchema })),
  "job.start": mcpTool(procedure({ input: jobSchema, output: jobSchema }), { confirm: true }),
  "job.show": readOnly(mcpTool(procedure({ input: z.object({ id: z.string() }), output: loose }))),
  internal: procedure({ input: z.object({ n: z.number() }), output: z.number() }),
  plain: procedure({}),
});

export const implemented = mcp(surface).implement({
  state: { get: () => "idle", subscribe: () => () => undefined },
  rows: { get: () => new Map([["a", { id: "a" }]]), subscribe: () => () => undefined },
  async *log({ id }) {
    same<typeof id, string>(true);
    yield id;
  },
  async *done() {
    yield { id: "a" };
  },
  "job.start": (job) => {
    same<typeof job, Job>(true);
    return job;
  },
  "job.show": ({ id }) => ({ text: id }),
  internal: ({ n }) => n,
  plain: () => undefined,
});

const constant = { mutates: false, handler: () => 1 } as const;

export const app = mcp(surface)
  .bridge(link)
  .expose({ internal: { tool: { mutates: false } } })
  .confirm("mutating")
  .tools({
    reads: { mutates: false, handler: () => 1 },
    readsInput: {
      mutates: false,
      input: z.object({ a: z.string().transform((text) => text.length) }),
      output: z.array(z.string()),
      handler: async ({ a }, { client }) => {
        same<typeof a, number>(true);
        const job = await client["job.start"].call({ id: "a" });
        same<typeof job, Job>(true);
        return [job.id];
      },
    },
    late: {
      handler: ({ b }) => {
        same<typeof b, boolean>(true);
        return { state: "idle" };
      },
      output: z.object({ state: z.enum(["idle", "busy"]) }),
      input: z.object({ b: z.boolean() }),
    },
    enumerated: { output: z.object({ state: z.enum(["idle", "busy"]) }), handler: () => ({ state: "idle" }) },
    method: {
      input: jobSchema,
      async handler(job) {
        same<typeof job, Job>(true);
        return job.id;
      },
    },
    constant,
  })
  .prompts({
    review: {
      input: z.object({ id: z.string(), depth: z.number().default(1) }),
      complete: { id: (begun) => [begun] },
      handler: ({ id, depth }) => {
        same<typeof depth, number>(true);
        return id;
      },
    },
  })
  .resources({
    page: {
      variables: z.object({ id: z.string() }),
      read: ({ id }) => {
        same<typeof id, string>(true);
        return id;
      },
    },
  });

export const tools: Exactly<
  ToolNames<typeof app>,
  | "done"
  | "job_start"
  | "job_show"
  | "internal"
  | "reads"
  | "readsInput"
  | "late"
  | "enumerated"
  | "method"
  | "constant"
> = true;
export const mutating: Exactly<MutatingToolNames<typeof app>, "job_start" | "late" | "enumerated" | "method"> = true;
export const resources: Exactly<ResourceNames<typeof app>, "state" | "rows" | "log" | "page"> = true;
export const prompts: Exactly<PromptNames<typeof app>, "review"> = true;

export async function use(): Promise<void> {
  const client = createTestClient(app);
  await client.toolNames();
  await app.serve(http({ port: 0 }));
}
