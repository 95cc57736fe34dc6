import type { JsonSchema, MountedOperation, MountSource } from "surface-mcp";

/** A schema whose references double with each level: small as text, 2^depth as a tree. */
function doubling(depth: number): JsonSchema {
  const levels = Array.from({ length: depth }, (_, level) => [
    `l${level}`,
    level + 1 === depth
      ? { type: "string" }
      : {
          type: "object",
          properties: { a: { $ref: `#/$defs/l${level + 1}` }, b: { $ref: `#/$defs/l${level + 1}` } },
        },
  ]);
  return { type: "object", properties: { root: { $ref: "#/$defs/l0" } }, $defs: Object.fromEntries(levels) };
}

/** An alternative of two equal branches at each level: a naive check of one value tries 2^depth ways. */
function branching(depth: number): JsonSchema {
  const levels = Array.from({ length: depth }, (_, level) => [
    `l${level}`,
    level + 1 === depth
      ? { type: "string" }
      : {
          anyOf: [
            { type: "object", required: ["x"], properties: { x: { $ref: `#/$defs/l${level + 1}` } } },
            { type: "object", required: ["x"], properties: { x: { $ref: `#/$defs/l${level + 1}` } } },
          ],
        },
  ]);
  return { type: "object", properties: { v: { $ref: "#/$defs/l0" } }, $defs: Object.fromEntries(levels) };
}

function nested(depth: number): unknown {
  return depth === 0 ? 0 : { x: nested(depth - 1) };
}

const text = (pattern: string): JsonSchema => ({ type: "object", properties: { v: { type: "string", pattern } } });

/** Schemas that a hostile source chooses, each with the argument that keeps a naive check busy for minutes. */
export const hostileSchemas: readonly {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  readonly args: object;
}[] = [
  { name: "nested-quantifiers", inputSchema: text("^(a+)+$"), args: { v: `${"a".repeat(34)}!` } },
  { name: "overlapping-alternatives", inputSchema: text("^(a|aa)+$"), args: { v: `${"a".repeat(50)}!` } },
  { name: "trailing-blanks", inputSchema: text("\\s+$"), args: { v: `${" ".repeat(200_000)}x` } },
  { name: "branching", inputSchema: branching(26), args: { v: nested(26) } },
  { name: "doubling", inputSchema: doubling(22), args: { root: {} } },
  {
    name: "wide-references",
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`p${at}`, { $ref: "#/$defs/big" }])),
      $defs: {
        big: {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 2000 }, (_, at) => [`q${at}`, { type: "string", description: "x".repeat(100) }]),
          ),
        },
      },
    },
    args: {},
  },
];

const operations: readonly MountedOperation[] = [
  ...hostileSchemas.map(({ name, inputSchema }) => ({ name, type: "query" as const, inputSchema })),
  { name: "honest", type: "query" },
];

/** A source whose schemas are meant to stop the server that mounts it. */
export const foreignOperations: MountSource = {
  list: () => operations,
  subscribe: () => () => {},
  invoke: () => "ran",
};
