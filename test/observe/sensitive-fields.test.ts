import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { auditLog } from "../../src/audit/index.ts";
import {
  defineSurface,
  mcp,
  mcpTool,
  procedure,
  redactSecrets,
  type JsonValue,
  type Observation,
} from "../../src/index.ts";
import { doors as transports } from "../properties/tested-transports.ts";

const marks: readonly Readonly<Record<string, unknown>>[] = [
  { sensitive: true },
  { format: "password" },
  { writeOnly: true },
  { "x-sensitive": true },
];

const word = "sentinel";

/** Fields whose schema has a secret, each with a value that has the word where the secret is. */
function createFields(mark: Readonly<Record<string, unknown>>) {
  const secret = z.string().meta(mark);
  const tree: z.ZodType = z.object({
    leaf: secret,
    get kids() {
      return z.array(tree).optional();
    },
  });
  const named = z.object({ inner: secret });
  const shape = {
    plain: secret,
    optional: secret.optional(),
    nullable: secret.nullable(),
    withDefault: secret.default(""),
    piped: secret.pipe(z.string()),
    transformed: secret.transform((text) => text),
    lazy: z.lazy(() => secret),
    list: z.array(secret),
    tuple: z.tuple([z.number(), secret], secret),
    set: z.set(secret),
    map: z.map(z.string(), secret),
    record: z.record(z.string(), z.object({ inner: secret })),
    names: z.record(secret, z.number()),
    rest: z.object({ shown: z.string() }).catchall(secret),
    union: z.union([z.number(), z.object({ inner: secret })]),
    scalars: z.union([z.number(), secret]),
    choice: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), inner: secret }),
      z.object({ kind: z.literal("b") }),
    ]),
    both: z.intersection(z.object({ inner: secret }), z.object({ shown: z.string() })),
    whole: z.object({ any: z.string() }).meta(mark),
    first: named,
    second: z.array(named),
    tree,
  };
  const deep = { leaf: word, kids: [{ leaf: word, kids: [{ leaf: word, kids: [{ leaf: word }] }] }] };
  const value = {
    ...{ plain: word, optional: word, nullable: word, withDefault: word, piped: word, transformed: word, lazy: word },
    ...{ list: [word, word], tuple: [1, word, word], set: [word], map: [["shown", word]] },
    ...{ record: { shown: { inner: word } }, names: { [word]: 1 }, rest: { shown: "shown", more: word } },
    ...{
      union: { inner: word },
      scalars: word,
      choice: { kind: "a", inner: word },
      both: { inner: word, shown: "shown" },
    },
    ...{ whole: { any: word }, first: { inner: word }, second: [{ inner: word }], tree: deep },
  };
  return { shape, value };
}

/** Calls tools whose arguments and results have secrets. Returns records with values, and the lines of an audit log. */
async function record(mark: Readonly<Record<string, unknown>>, transport: (typeof transports)[number]) {
  const { shape, value } = createFields(mark);
  const input = z.object({ ...shape, shown: z.string() });
  const { transformed: _, ...outputShape } = shape;
  const output = z.object({ tree: outputShape.tree, list: outputShape.list, union: outputShape.union });
  const surface = defineSurface("hidden", {
    member: mcpTool(procedure({ input, output })),
    text: mcpTool(procedure({ output: z.string().meta(mark) })),
  });
  const records: Observation[] = [];
  const stream = new PassThrough().setEncoding("utf8");
  const audit = auditLog({ stream, values: redactSecrets() });
  const app = mcp(surface, { observe: { values: redactSecrets(), record: (one) => void records.push(one) } })
    .implement({ member: ({ tree, list, union }) => ({ tree, list, union }), text: () => word })
    .tools({ outer: { canCall: ["member"], handler: async (_args, { call }) => void (await call("member", sent)) } })
    .prompts({ ask: { input: z.object({ phrase: z.string().meta(mark) }), handler: () => "shown" } });
  const sent = { ...value, shown: "shown" } as never;
  app.observe(audit);
  const open = await transport.open(app, undefined);
  const { text } = await open.ask("tools/call", { name: "member", arguments: sent });
  expect(text).toContain(word);
  await open.ask("tools/call", { name: "text" });
  await open.ask("tools/call", { name: "outer" });
  await open.ask("prompts/get", { name: "ask", arguments: { phrase: word } });
  await open.close();
  await audit.close();
  return { records: JSON.stringify(records), lines: String(stream.read()) };
}

describe.each(transports.filter(({ name }) => name.endsWith("modern") && !name.startsWith("the test client")))(
  "records and audit lines over $name",
  (transport) => {
    it.each(marks)("have no field that its schema marks by %j, in any kind of schema", async (mark) => {
      const { records, lines } = await record(mark, transport);
      for (const text of [records, lines]) {
        expect(text).toContain("[redacted]");
        expect(text).toContain("shown");
        expect(text).not.toContain(word);
      }
    });
  },
);

describe("redactSecrets()", () => {
  it.each<readonly [what: string, schema: object, value: JsonValue]>([
    ["dependentSchemas", { dependentSchemas: { a: { properties: { b: { sensitive: true } } } } }, { a: 1, b: word }],
    ["unevaluatedProperties", { unevaluatedProperties: { sensitive: true } }, { b: word }],
    ["unevaluatedItems", { unevaluatedItems: { format: "password" } }, [word]],
    ["contains", { contains: { sensitive: true } }, [word]],
    ["propertyNames", { propertyNames: { sensitive: true } }, { [word]: 1 }],
    ["if and else", { if: {}, else: { properties: { b: { sensitive: true } } } }, { b: word }],
    ["contentSchema", { contentSchema: { properties: { b: { sensitive: true } } } }, JSON.stringify({ b: word })],
  ])("finds marks below %s", (_what, schema, value) => {
    expect(JSON.stringify(redactSecrets()({ at: value }, { properties: { at: schema } } as never))).not.toContain(word);
  });
});
