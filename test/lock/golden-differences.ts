import { z } from "zod";
import type { MountedOperation, MountSource } from "../../src/catalog/mounts/mount.ts";
import type { MaybeSchema } from "../../src/surface/member.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import type { CollectionResourceOptions, ToolOptions } from "../../src/tags/tool-options.ts";
import { goldenPages } from "./golden-pages.ts";
import type { Sample } from "./support.ts";

/** Two versions of an app, and the lines of their difference. */
export type Golden = readonly [what: string, before: Sample, after: Sample, ...lines: string[]];

const untyped = procedure({});

/** An app with one tool, `act`. */
const tool = (options: ToolOptions = {}, io: { input?: MaybeSchema; output?: MaybeSchema } = {}): Sample => ({
  members: { act: mcpTool(procedure(io), options) },
});
const input = (schema: z.ZodType): Sample => tool({}, { input: schema });
const output = (schema: z.ZodType | undefined): Sample => tool({}, { output: schema });

const rows = (options: CollectionResourceOptions): Sample => ({
  members: {
    rows: mcpResource(collection({ key: z.string(), schema: z.object({ a: z.string() }) }), options as object),
  },
});

const source = (operations: readonly MountedOperation[], more: Partial<MountSource> = {}): MountSource => ({
  ...{ list: () => operations, subscribe: () => () => {}, invoke: () => undefined },
  ...more,
});

const two = { act: mcpTool(untyped), look: mcpTool(procedure({}), { mutates: false }) };
const viewed = (views: Sample["views"]): Sample => ({ members: two, ...(views === undefined ? {} : { views }) });

const widens = "widens, compatible: ";
const breaks = "narrows, breaking: ";
const narrows = "narrows, compatible: ";
const replaces = "widens, breaking: ";
const differs = "same, breaking: ";
const neutral = "same, compatible: ";

const { a, ab, abRequired } = {
  a: z.object({ a: z.string() }),
  ab: z.object({ a: z.string(), b: z.string().optional() }),
  abRequired: z.object({ a: z.string(), b: z.string() }),
};
const of = (schema: z.ZodType): z.ZodType => z.object({ a: schema });

/** Entries that come and go. */
const entries: readonly Golden[] = [
  ["an entry is tagged", { members: { act: untyped } }, tool(), `${widens}tools act added`],
  ["an entry loses its tag", tool(), { members: { act: untyped } }, `${breaks}tools act removed`],
  [
    "a tag becomes an expose map",
    tool(),
    { members: { act: untyped }, expose: { act: "tool" } },
    `${neutral}tools act changed from`,
  ],
  ["an entry is renamed", tool(), { members: { do: mcpTool(untyped) } }, `${differs}tools do renamed`],
  [
    "an id gets a dot",
    { members: { a_b: mcpTool(untyped) } },
    { members: { "a.b": mcpTool(untyped) } },
    `${differs}tools a_b changed id`,
  ],
  [
    "a kind changes",
    { tools: { act: { mutates: true, handler: () => ({}) } } },
    tool(),
    `${neutral}tools act changed from`,
    `${differs}tools act changed kind`,
  ],
  [
    "a resource is tagged",
    {},
    { members: { v: mcpResource(cell({ schema: z.string() })) } },
    `${widens}resources surface://s/v added`,
  ],
  ["a prompt is added", {}, { prompts: { greet: { handler: () => "hi" } } }, `${widens}prompts greet added`],
  [
    "pull() is called",
    {},
    { pull: true },
    `${widens}tools read_resource added`,
    `${widens}tools wait_for_change added`,
  ],
  [
    "the prefix of URIs changes",
    { members: { v: mcpResource(cell({ schema: z.string() })) } },
    { members: { v: mcpResource(cell({ schema: z.string() })) }, options: { uriPrefix: "v://" } },
    `${replaces}server s changed uriPrefix`,
    `${differs}resources v://v renamed`,
  ],
  [
    "the surface gets another name",
    tool(),
    { ...tool(), surface: "t" },
    `${differs}server t renamed`,
    `${replaces}server t changed defaultScopes`,
    `${replaces}server t changed uriPrefix`,
  ],
];

/** Rights and hints. */
const rights: readonly Golden[] = [
  ["read-only is lost", tool({ mutates: false }), tool(), `${widens}tools act changed hints`],
  [
    "read-only is lost, and no other hint",
    tool({ mutates: false }),
    tool({ destructive: false, idempotent: true }),
    `${widens}tools act changed hints`,
  ],
  ["read-only is gained", tool(), tool({ mutates: false }), `${narrows}tools act changed hints`],
  ["destructive is gained", tool({ destructive: false }), tool(), `${widens}tools act changed hints`],
  ["open world is gained", tool(), tool({ openWorld: true }), `${widens}tools act changed hints`],
  ["idempotent is lost", tool({ idempotent: true }), tool(), `${widens}tools act changed hints`],
  ["confirm is lost", tool({ confirm: true }), tool(), `${widens}tools act changed confirm`],
  [
    "confirm is loosened",
    tool({ confirm: true }),
    tool({ confirm: { otherwise: "allow" } }),
    `${widens}tools act changed confirm`,
  ],
  ["confirm is gained", tool(), tool({ confirm: true }), `${breaks}tools act changed confirm`],
  ["the rule of the app is gained", tool(), { ...tool(), confirm: {} }, `${breaks}tools act changed confirm`],
  [
    "the typed word is lost",
    tool({ confirm: { type: "YES" } }),
    tool({ confirm: true }),
    `${widens}tools act changed confirmWord`,
  ],
  [
    "the typed word is gained",
    tool({ confirm: true }),
    tool({ confirm: { type: "YES" } }),
    `${breaks}tools act changed confirmWord`,
  ],
  [
    "the typed word changes",
    tool({ confirm: { type: "NO" } }),
    tool({ confirm: { type: "YES" } }),
    `${neutral}tools act changed confirmWord`,
  ],
  ["a scope is dropped", tool({ scopes: ["x", "y"] }), tool({ scopes: ["x"] }), `${widens}tools act changed scopes`],
  ["a scope is added", tool(), tool({ scopes: ["x"] }), `${breaks}tools act changed scopes`],
  ["a scope is replaced", tool({ scopes: ["x"] }), tool({ scopes: ["y"] }), `${replaces}tools act changed scopes`],
  [
    "an alternative scope is added",
    tool({ scopesAny: ["x"] }),
    tool({ scopesAny: ["x", "y"] }),
    `${widens}tools act changed scopesAny`,
  ],
  [
    "an alternative scope goes",
    tool({ scopesAny: ["x", "y"] }),
    tool({ scopesAny: ["x"] }),
    `${breaks}tools act changed scopesAny`,
  ],
  ["alternatives are required", tool(), tool({ scopesAny: ["x"] }), `${breaks}tools act changed scopesAny`],
  [
    "a resource is required no more",
    tool({ resource: { type: "repo", action: "write" } }),
    tool(),
    `${widens}tools act changed resource`,
  ],
  [
    "another action is required",
    tool({ resource: { type: "repo", action: "write" } }),
    tool({ resource: { type: "repo", action: "read" } }),
    `${replaces}tools act changed resource`,
  ],
  [
    "a tool may call more",
    { tools: { act: { handler: () => 1 } } },
    { tools: { act: { canCall: ["act"], callScopes: ["s:read"], handler: () => 1 } } },
    `${widens}tools act changed callScopes`,
    `${widens}tools act changed canCall`,
  ],
  ["a deadline is shorter", tool(), tool({ timeoutMs: 1000 }), `${differs}tools act changed timeoutMs`],
  ["a deadline is longer", tool(), tool({ timeoutMs: 100_000 }), `${neutral}tools act changed timeoutMs`],
];

/** Texts, which models read. */
const texts: readonly Golden[] = [
  [
    "a description changes",
    tool({ description: "A" }),
    tool({ description: "B" }),
    `${widens}tools act changed description`,
  ],
  ["a title is added", tool(), tool({ title: "A" }), `${widens}tools act changed title`],
  ["icons change", tool(), tool({ icons: [{ src: "https://a.test/a.png" }] }), `${widens}tools act changed icons`],
  ["_meta changes", tool(), tool({ meta: { "a.test/b": 1 } }), `${widens}tools act changed meta`],
  [
    "instructions change",
    {},
    { options: { instructions: "Delete everything." } },
    `${widens}server s changed instructions`,
  ],
  [
    "a field of an input is described",
    input(of(z.string())),
    input(of(z.string().describe("B"))),
    `${widens}tools act changed input.a.description`,
  ],
  [
    "a default changes",
    input(of(z.string().default("x"))),
    input(of(z.string().default("y"))),
    `${widens}tools act changed input.a.default`,
  ],
  [
    "a text in a union changes",
    input(of(z.union([z.string(), z.number().describe("A")]))),
    input(of(z.union([z.string(), z.number()]))),
    `${widens}tools act changed input.a`,
  ],
];

/** Inputs and outputs. */
const schemas: readonly Golden[] = [
  ["an input gets an optional field", input(a), input(ab), `${widens}tools act changed input.b`],
  ["an input gets a required field", input(a), input(abRequired), `${replaces}tools act changed input.b`],
  ["an input loses a field", input(ab), input(a), `${breaks}tools act changed input.b`],
  [
    "an input that keeps other fields declares one no more",
    input(z.looseObject({ a: z.enum(["user"]).optional() })),
    input(z.looseObject({})),
    `${replaces}tools act changed input.a`,
  ],
  ["a field of an input becomes optional", input(abRequired), input(ab), `${widens}tools act changed input.b`],
  ["a field of an input becomes required", input(ab), input(abRequired), `${breaks}tools act changed input.b`],
  [
    "an input gets a value",
    input(of(z.enum(["x"]))),
    input(of(z.enum(["x", "y"]))),
    `${widens}tools act changed input.a`,
  ],
  [
    "an input loses a value",
    input(of(z.enum(["x", "y"]))),
    input(of(z.enum(["x"]))),
    `${breaks}tools act changed input.a`,
  ],
  [
    "a bound of an input is looser",
    input(of(z.string().max(1))),
    input(of(z.string().max(2))),
    `${widens}tools act changed input.a`,
  ],
  [
    "a bound of an input is tighter",
    input(of(z.number())),
    input(of(z.number().min(1))),
    `${breaks}tools act changed input.a`,
  ],
  [
    "an input opens",
    input(z.strictObject({ a: z.string() })),
    input(z.looseObject({ a: z.string() })),
    `${widens}tools act changed input.*`,
  ],
  [
    "an input closes",
    input(z.looseObject({ a: z.string() })),
    input(z.strictObject({ a: z.string() })),
    `${breaks}tools act changed input.*`,
  ],
  ["a type of an input changes", input(of(z.string())), input(of(z.number())), `${replaces}tools act changed input.a`],
  [
    "a pattern of an input changes",
    input(of(z.string().regex(/a/))),
    input(of(z.string().regex(/b/))),
    `${replaces}tools act changed input.a`,
  ],
  [
    "an input may be null",
    input(of(z.string())),
    input(of(z.string().nullable())),
    `${widens}tools act changed input.a`,
  ],
  [
    "a union gets an arm",
    input(of(z.union([z.string(), z.number()]))),
    input(of(z.union([z.string(), z.number(), z.boolean()]))),
    `${widens}tools act changed input.a`,
  ],
  [
    "an arm of a union gets a field",
    input(of(z.union([a, z.string()]))),
    input(of(z.union([ab, z.string()]))),
    `${widens}tools act changed input.a`,
  ],
  ["an item gets a field", input(of(z.array(a))), input(of(z.array(ab))), `${widens}tools act changed input.a.[].b`],
  [
    "the values of a record change",
    input(of(z.record(z.string(), z.string()))),
    input(of(z.record(z.string(), z.number()))),
    `${replaces}tools act changed input.a.*`,
  ],
  ["an output gets a field", output(a), output(ab), `${widens}tools act changed output.b`],
  ["an output loses a field", output(abRequired), output(a), `${breaks}tools act changed output.b`],
  ["a field of an output becomes optional", output(abRequired), output(ab), `${breaks}tools act changed output.b`],
  ["a field of an output becomes required", output(ab), output(abRequired), `${neutral}tools act changed output.b`],
  [
    "an output gets a value",
    output(of(z.enum(["x"]))),
    output(of(z.enum(["x", "y"]))),
    `${replaces}tools act changed output.a`,
  ],
  [
    "an output loses a value",
    output(of(z.enum(["x", "y"]))),
    output(of(z.enum(["x"]))),
    `${narrows}tools act changed output.a`,
  ],
  ["an output loses its schema", output(a), output(undefined), `${replaces}tools act changed output`],
  ["an output gets a schema", output(undefined), output(a), `${narrows}tools act changed output`],
  [
    "a cell gets a field",
    { members: { v: mcpResource(cell({ schema: a })) } },
    { members: { v: mcpResource(cell({ schema: ab })) } },
    `${widens}resources surface://s/v changed output.b`,
  ],
  [
    "a list shows its items",
    rows({}),
    rows({ list: "items" }),
    `${replaces}resources surface://s/rows changed list`,
    `${widens}templates surface://s/rows{?after,limit} added`,
  ],
];

/** Changes whose direction is unknown. */
const unknown: readonly Golden[] = [
  [
    "an arm of a union opens",
    input(of(z.union([z.strictObject({ a: z.string() }), z.string()]))),
    input(of(z.union([a, z.string()]))),
    `${replaces}tools act changed input.a`,
  ],
];

/** Views and mounts. */
const narrowing: readonly Golden[] = [
  ["a view is added", viewed(undefined), viewed({ look: { readOnly: true } }), `${widens}views look added`],
  [
    "a view goes",
    viewed({ look: { readOnly: true } }),
    viewed({ other: { deny: "x" } }),
    `${breaks}views look removed`,
    `${breaks}views other added`,
  ],
  [
    "a view shows more",
    viewed({ v: { readOnly: true } }),
    viewed({ v: {} }),
    `${widens}views v changed readOnly`,
    `${widens}tools act changed views`,
  ],
  [
    "a view hides a tool",
    viewed({ v: {} }),
    viewed({ v: { disallow: ["act"] } }),
    `${narrows}views v changed disallow`,
    `${breaks}tools act changed views`,
  ],
  [
    "the default view hides a tool",
    viewed(undefined),
    viewed({ default: { allow: ["look"] } }),
    `${narrows}views default changed allow`,
    `${breaks}tools act changed views`,
  ],
  ["a view is denied", viewed({ v: {} }), viewed({ v: { deny: "no" } }), `${breaks}views v changed deny`],
  ["a view is a gateway", viewed({ v: {} }), viewed({ v: { face: "gateway" } }), `${differs}views v changed face`],
  [
    "the instructions of a view change",
    viewed({ v: {} }),
    viewed({ v: { instructions: "B" } }),
    `${widens}views v changed instructions`,
  ],
  [
    "rules change places",
    viewed([
      { id: "x", when: { principal: "p" }, verdict: { kind: "tool_surface" } },
      { id: "y", verdict: { kind: "deny", reason: "r" } },
    ]),
    viewed([
      { id: "y", verdict: { kind: "deny", reason: "r" } },
      { id: "x", when: { principal: "p" }, verdict: { kind: "tool_surface" } },
    ]),
    `${replaces}server s changed viewOrder`,
  ],
  [
    "a rule goes whose callers another rule shows more",
    viewed([
      { id: "x", when: { principal: "p" }, verdict: { kind: "tool_surface", readOnly: true } },
      { id: "y", verdict: { kind: "tool_surface" } },
    ]),
    viewed([{ id: "y", verdict: { kind: "tool_surface" } }]),
    `${replaces}views x removed`,
  ],
  [
    "a rule goes whose callers the default view shows more",
    viewed([{ id: "x", when: { principal: "p" }, verdict: { kind: "tool_surface", readOnly: true } }]),
    viewed([{ id: "z", when: { surface: "z" }, verdict: { kind: "deny", reason: "r" } }]),
    `${replaces}server s changed viewOrder`,
    `${replaces}views x removed`,
    `${breaks}views z added`,
  ],
  [
    "a view is for every request now",
    viewed([
      { id: "default", when: { surface: "default" }, verdict: { kind: "deny", reason: "r" } },
      { id: "x", when: { surface: "x" }, verdict: { kind: "tool_surface" } },
    ]),
    viewed([
      { id: "default", when: { surface: "default" }, verdict: { kind: "deny", reason: "r" } },
      { id: "x", verdict: { kind: "tool_surface" } },
    ]),
    `${replaces}server s changed viewOrder`,
  ],
  [
    "the condition of a rule changes",
    viewed([{ id: "x", when: { principal: "p" }, verdict: { kind: "tool_surface" } }]),
    viewed([{ id: "x", when: { principal: "q" }, verdict: { kind: "tool_surface" } }]),
    `${replaces}views x changed when`,
  ],
  [
    "a mount is added",
    {},
    { mounts: { hub: source([{ name: "a", type: "query" }]) } },
    `${widens}mounts hub added`,
    `${widens}tools hub_a added`,
  ],
  [
    "a mounted operation comes",
    { mounts: { hub: source([]) } },
    { mounts: { hub: source([{ name: "a" }]) } },
    `${widens}tools hub_a added`,
  ],
  [
    "a mount may have resources",
    { mounts: { hub: source([]) } },
    { mounts: { hub: source([], { resources: () => [], read: () => undefined }) } },
    `${widens}mounts hub changed resources`,
  ],
  [
    "an internal operation is opened",
    { mounts: { hub: source([{ name: "a", visibility: "internal" }]) } },
    { mounts: { hub: source([{ name: "a" }]) } },
    `${widens}tools hub_a added`,
  ],
];

/** Names that every object has by its prototype. */
const inherited: readonly Golden[] = [
  [
    "a tool has the name of a method of objects",
    {},
    { members: { toString: mcpTool(untyped) } },
    `${widens}tools toString added`,
  ],
  [
    "a field has the name of a method of objects",
    input(z.object({})),
    input(z.object({ constructor: z.string().optional() })),
    `${widens}tools act changed input.constructor`,
  ],
  [
    "a field is called __proto__",
    { tools: { act: { input: z.object({}), handler: () => 1 } } },
    { tools: { act: { input: z.object({ ["__proto__"]: z.string().optional() }), handler: () => 1 } } },
    `${widens}tools act changed input.__proto__`,
  ],
];

/** Changes without effect on agents. */
const silent: readonly Golden[] = [
  ["members are declared in another order", { members: two }, { members: { look: two.look, act: two.act } }],
  [
    "fields are declared in another order",
    input(z.object({ x: z.string(), y: z.number() })),
    input(z.object({ y: z.number(), x: z.string() })),
  ],
  ["values are declared in another order", input(of(z.enum(["x", "y"]))), input(of(z.enum(["y", "x"])))],
  [
    "a member without a tag comes",
    tool(),
    {
      members: {
        act: mcpTool(untyped),
        hidden: procedure({}),
        pulse: event({ output: z.string() }),
        feed: stream({ output: z.string() }),
      },
    },
  ],
  ["the version of the server changes", tool(), { ...tool(), options: { version: "9.9.9" } }],
  ["views are declared in another order", viewed({ v: {}, w: {} }), viewed({ w: {}, v: {} })],
];

export const goldenDifferences: readonly Golden[] = [
  ...goldenPages,
  ...entries,
  ...rights,
  ...texts,
  ...schemas,
  ...unknown,
  ...narrowing,
  ...inherited,
  ...silent,
];
