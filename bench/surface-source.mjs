/** The source text of an app over a surface of a given size, in the proportions of real ones. */

// Ten members as they come in an application: half of them verbs, a third state, the rest what happens.
const kinds = [
  { schema: "z.object({ id: z.string(), done: z.boolean() })", member: (s) => `mcpResource(cell({ schema: ${s} }))` },
  { schema: "z.array(z.string())", member: (s) => `cell({ schema: ${s}, default: [], description: "Internal" })` },
  {
    schema: "z.object({ title: z.string(), n: z.number() })",
    member: (s) => `mcpResource(collection({ key: z.string(), schema: ${s} }))`,
  },
  {
    schema: "z.object({ node: z.string() })",
    member: (s) => `stream({ input: ${s}, output: z.string() })`,
    expose: '"resource"',
  },
  { schema: "z.object({ ok: z.boolean() })", member: (s) => `mcpTool(event({ output: ${s} }))` },
  { schema: "z.object({ node: z.string() })", member: (s) => `mcpTool(procedure({ input: ${s} }))` },
  {
    schema: "z.object({ node: z.string(), deep: z.boolean().optional() })",
    member: (s) => `readOnly(mcpTool(procedure({ input: ${s}, output: z.string() })))`,
  },
  {
    schema: "z.object({ a: z.number(), b: z.enum(['x', 'y']) })",
    member: (s) => `mcpTool(procedure({ input: ${s} }), { title: "A title", idempotent: true })`,
  },
  { schema: "z.object({ x: z.number() })", member: (s) => `procedure({ input: ${s} })` },
  {
    schema: "z.object({ path: z.string() })",
    member: (s) => `procedure({ input: ${s}, output: z.array(z.string()) })`,
    expose: "{ tool: { mutates: false } }",
  },
];

const imports = `import { z } from "zod";
import {
  cell, collection, defineSurface, event, mcp, mcpResource, mcpTool, procedure, readOnly, stream,
  type Link, type MutatingToolNames, type ResourceNames, type ToolNames,
} from "surface-mcp";
`;

// The handler reads the client, and the proof is asserted: what an application's own checks compile.
const app = (exposed) => `
declare const link: Link;
const app = mcp(surface)
  .bridge(link)
  .expose({
${exposed.join("\n")}
  })
  .tools({
    start: {
      input: z.object({ strict: z.boolean().default(true) }),
      handler: async (args, { client }) => [args.strict, await client["fixed"].call({ node: "x" })],
    },
    ping: { mutates: false, handler: () => "pong" },
  });
const tools: readonly ToolNames<typeof app>[] = ["start", "ping", "fixed"];
const mutating: readonly MutatingToolNames<typeof app>[] = ["start", "fixed"];
const resources: readonly ResourceNames<typeof app>[] = [];
`;

const keyOf = (index) => `area${index % 20}.member${index}`;
const kindOf = (index) => kinds[index % kinds.length];
const indexes = (members) => Array.from({ length: members }, (_, index) => index);

/** An app over a surface of so many members; one more is always there, for the app to use. */
export function surfaceSource(members) {
  const lines = indexes(members).map((index) => `  "${keyOf(index)}": ${kindOf(index).member(kindOf(index).schema)},`);
  const exposed = indexes(members).flatMap((index) => {
    const { expose } = kindOf(index);
    return expose === undefined ? [] : [`    "${keyOf(index)}": ${expose},`];
  });
  return `${imports}
const surface = defineSurface("bench", {
  fixed: mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.string() })),
${lines.join("\n")}
});
${app(exposed)}`;
}

// Ten members of a projection, each from one of the members above.
const derivations = [
  {
    member: "cell({ schema: S })",
    schema: "z.object({ id: z.string() })",
    from: 0,
    made: (c) => `derive.cell(${c}, ({ id }) => ({ id }))`,
  },
  {
    member: "cell({ schema: S })",
    schema: "z.number()",
    from: 1,
    made: (c) => `derive.cell(${c}, (all) => all.length, { filter: (all) => all.length > 0 })`,
  },
  {
    member: "collection({ key: z.string(), schema: S })",
    schema: "z.object({ n: z.number() })",
    from: 2,
    made: (c) => `derive.collection(${c}, ({ n }) => ({ n }), { filter: ({ n }) => n > 0 })`,
  },
  {
    member: "stream({ input: z.object({ node: z.string() }), output: S })",
    schema: "z.string()",
    from: 3,
    made: (c) => `derive.stream(${c}, (text) => text.trim())`,
  },
  {
    member: "event({ output: S })",
    schema: "z.object({ ok: z.boolean() })",
    from: 4,
    made: (c) => `derive.event(${c}, ({ ok }) => ({ ok }))`,
  },
  {
    member: "procedure({ input: S })",
    schema: "z.object({ node: z.string() })",
    from: 5,
    made: (c) => `derive.procedure(${c})`,
  },
  {
    member: "procedure({ input: S, output: z.string() })",
    schema: "z.object({ node: z.string() })",
    from: 6,
    made: (c) => `derive.procedure(${c})`,
  },
  {
    member: "procedure({ input: S })",
    schema: "z.object({ a: z.number() })",
    from: 7,
    made: (c) => `derive.procedure(${c}, { input: ({ a }: { a: number }) => ({ a, b: "x" as const }) })`,
  },
  {
    member: "event({ output: S })",
    schema: "z.number()",
    from: 1,
    made: (c) => `derive.event(${c}, (all, before) => (before === undefined ? undefined : all.length))`,
  },
  {
    member: "procedure({ input: S, output: z.number() })",
    schema: "z.object({ path: z.string() })",
    from: 9,
    made: (c) => `derive.procedure(${c}, { output: (all) => all.length })`,
  },
];

/**
 * A projection of so many members over a surface of as many. With \`derived\` left out the same two surfaces without it: what
 * it costs besides is the cost of projecting.
 */
export function projectionSource(members, { derived = true } = {}) {
  const sources = indexes(members).map(
    (index) => `  "${keyOf(index)}": ${kindOf(index).member(kindOf(index).schema)},`,
  );
  const derivationOf = (index) => derivations[index % derivations.length];
  const shown = indexes(members).map((index) => {
    const { member, schema } = derivationOf(index);
    return `  "${keyOf(index)}": ${member.replace("S", schema)},`;
  });
  const made = indexes(members).map((index) => {
    const { from, made: make } = derivationOf(index);
    return `  "${keyOf(index)}": ${make(`client["${keyOf(index - (index % derivations.length) + from)}"]`)},`;
  });
  const projecting = `export const projection = projectSurface(surface, shown, (client) => ({\n${made.join("\n")}\n}));\n`;
  return `${imports}import { derive, projectSurface } from "surface-mcp";
const surface = defineSurface("bench", {\n${sources.join("\n")}\n});
const shown = defineSurface("shown", {\n${shown.join("\n")}\n});
${derived ? projecting : "export { surface, shown };"}`;
}

const schemaOf = (index) => `z.object({ a${index}: z.string(), n: z.number().optional() })`;

/** By kind of entry, one entry with a schema and a handler that reads its arguments, as an object's property. */
const writtenByHand = {
  tools: (i) =>
    `tool${i}: { title: "T", input: ${schemaOf(i)}, handler: async ({ a${i} }, { client }) => [a${i}, client] },`,
  prompts: (i) => `prompt${i}: { title: "T", input: ${schemaOf(i)}, handler: async ({ a${i} }) => a${i} },`,
  resources: (i) => `resource${i}: { title: "T", variables: ${schemaOf(i)}, read: async ({ a${i} }) => a${i} },`,
};

/** Kinds of entries that are no members: each has a schema and a handler. */
export const handWrittenKinds = [...Object.keys(writtenByHand), "operations"];

/** An app with so many entries of one kind that are no members. */
export function handWrittenSource(kind, entries) {
  const head = `${imports}import { operationRegistry } from "surface-mcp";
declare const link: Link;
const surface = defineSurface("bench", { fixed: mcpTool(procedure({ output: z.string() })) });
const app = mcp(surface).bridge(link);
`;
  if (kind !== "operations") {
    const lines = indexes(entries).map((index) => `  ${writtenByHand[kind](index)}`);
    return `${head}export const done = app.${kind}({\n${lines.join("\n")}\n});\n`;
  }
  const lines = indexes(entries).map(
    (index) =>
      `registry.register({ name: "op${index}", inputSchema: ${schemaOf(index)} }, ({ a${index} }) => a${index});`,
  );
  return `${head}const registry = operationRegistry();\n${lines.join("\n")}\nexport { app, registry };\n`;
}

/** An app over so many procedures, each implemented by a handler that reads its input. */
export function handledSource(members) {
  const lines = indexes(members).map(
    (index) => `  verb${index}: mcpTool(procedure({ input: ${schemaOf(index)}, output: z.string() })),`,
  );
  const handlers = indexes(members).map((index) => `  verb${index}: ({ a${index} }) => a${index},`);
  return `${imports}
const surface = defineSurface("bench", {\n${lines.join("\n")}\n});
export const app = mcp(surface).implement({\n${handlers.join("\n")}\n});
`;
}

/** The schemas of the same members, and nothing of this package. */
export function schemasSource(members) {
  const lines = indexes(members).map((index) => `  "${keyOf(index)}": ${kindOf(index).schema},`);
  return `import { z } from "zod";\nexport const schemas = {\n${lines.join("\n")}\n};\n`;
}
