import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/schema/json.ts";
import { readViewRules } from "../../src/views/read-view-rules.ts";
import { viewDomain } from "../../src/views/view-rules.ts";
import { root } from "../architecture/source.ts";
import { thrownBy } from "../catalog/support.ts";
import { malformedRules } from "./malformed-rules.ts";

// An object.
const schema = JSON.parse(readFileSync(join(root, "docs/schemas/view-rules.schema.json"), "utf8")) as JsonObject;
const fits = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

function isRead(input: unknown): boolean {
  try {
    return readViewRules(input).length > 0;
  } catch {
    return false;
  }
}

/** As a file would hold it; `undefined` where none could. */
function toFile(input: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(input));
  } catch {
    return undefined;
  }
}

/** Whether a file can hold what does not fit. How many rules there are in all packets together no schema can say. */
function isInFiles(what: string, input: unknown): boolean {
  const held = toFile(input);
  return held !== undefined && what !== "too many rules in all" && !isRead(held);
}

const pass = { verdict: { kind: "tool_surface" } };
const whole = {
  $schema: "./view-rules.schema.json",
  id: "reviewers",
  domain: viewDomain,
  description: "who looks",
  project: "site",
  rules: [
    {
      id: "look",
      when: {
        surface: ["a", "b"],
        user_agent: "x",
        project: "y",
        principal: "z",
        client: { name: "c", version: ["1"] },
      },
      verdict: {
        kind: "tool_surface",
        allow: ["a*"],
        disallow: [],
        readOnly: true,
        instructions: "Look.",
        face: "gateway",
      },
    },
    { when: {}, verdict: { kind: "deny", reason: "no" } },
  ],
};

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

type Defs = Readonly<Record<"packet" | "rules" | "namedView", Schema>>;

function partOf({ properties }: Schema, field: string): Schema {
  return properties?.[field] ?? {};
}

function ruleOf({ rules }: Defs): Schema {
  return rules.items ?? {};
}

function verdictOf(defs: Defs, arm: number): Schema {
  return partOf(ruleOf(defs), "verdict").anyOf?.[arm] ?? {};
}

describe("the schema of view rules", () => {
  it.each<[what: string, read: (fields: object) => unknown, owner: (defs: Defs) => Schema]>([
    ["a packet", (fields) => ({ ...whole, ...fields }), ({ packet }) => packet],
    ["a rule", (fields) => [{ ...pass, ...fields }], ruleOf],
    ["a condition", (when) => [{ ...pass, when }], (defs) => partOf(ruleOf(defs), "when")],
    ["a client", (client) => [{ ...pass, when: { client } }], (defs) => partOf(partOf(ruleOf(defs), "when"), "client")],
    ["a verdict that shows", (more) => [{ verdict: { kind: "tool_surface", ...more } }], (defs) => verdictOf(defs, 0)],
    [
      "a verdict that denies",
      (more) => [{ verdict: { kind: "deny", reason: "x", ...more } }],
      (defs) => verdictOf(defs, 1),
    ],
    ["a view that shows", (one) => ({ one }), ({ namedView }) => namedView.anyOf?.[0] ?? {}],
    ["a view that denies", (more) => ({ one: { deny: "x", ...more } }), ({ namedView }) => namedView.anyOf?.[1] ?? {}],
  ])("the schema has the fields that the reader knows of %s", (_what, read, owner) => {
    // Nothing is near to it, so that the error names every field.
    const { message } = thrownBy(() => readViewRules(read({ qqqqqqqqqq: 1 }))) as Error;
    const known = message.slice(message.indexOf("known options: ") + "known options: ".length);
    // Generated from the definitions of the file.
    const fields = Object.keys(owner(schema["$defs"] as unknown as Defs).properties ?? {});
    expect(known.split(", ").toSorted()).toEqual(fields.map((field) => `"${field}"`).toSorted());
  });

  it.each<[what: string, most: number, read: (length: number) => unknown]>([
    ["the id of a rule", 256, (length) => [{ id: "x".repeat(length), ...pass }]],
    ["the name of a view", 256, (length) => ({ ["x".repeat(length)]: {} })],
    ["the id of a packet", 256, (length) => ({ ...whole, id: "x".repeat(length) })],
    ["a project", 256, (length) => ({ ...whole, project: "x".repeat(length) })],
    ["a description", 4096, (length) => ({ ...whole, description: "x".repeat(length) })],
    ["a wanted value", 1024, (length) => [{ when: { surface: ["x".repeat(length)] }, ...pass }]],
    ["a list of wanted values", 1024, (length) => [{ when: { surface: Array(length).fill("x") }, ...pass }]],
    ["a pattern", 256, (length) => ({ one: { allow: ["x".repeat(length)] } })],
    ["a list of patterns", 1024, (length) => ({ one: { allow: Array(length).fill("x") } })],
    ["instructions", 8192, (length) => ({ one: { instructions: "x".repeat(length) } })],
    ["a reason", 8192, (length) => ({ one: { deny: "x".repeat(length) } })],
    ["a list of packets", 1024, (length) => Array.from({ length }, () => ({ ...whole, rules: [pass] }))],
    ["a list of rules", 10_000, (length) => Array.from({ length }, () => pass)],
  ])("the schema and the reader take %s up to its limit", (_what, most, read) => {
    const longer = read(most + 1);
    expect([fits(read(most)), isRead(read(most)), fits(longer), isRead(longer)]).toEqual([true, true, false, false]);
  });

  it.each<[string, unknown]>([
    ["a packet with every field", whole],
    ["packets", [whole, whole]],
    ["rules", [pass]],
    ["views by name", { $schema: "./x.json", readonly: { readOnly: true }, locked: { deny: "no" } }],
    ["one view", { hub: { face: "gateway" } }],
    ["views called as fields of a packet", { id: {}, domain: {}, rules: {} }],
  ])("the schema and the reader take %s when a file holds it", (_what, input) => {
    expect([fits(input), isRead(input)]).toEqual([true, true]);
  });

  const inFiles = malformedRules.filter(([what, input]) => isInFiles(what, input));

  it("covers most malformed rules", () => {
    expect(inFiles.length).toBeGreaterThan(25);
  });

  it.each(inFiles)("refuses, as the reader does, a file with %s", (_what, input) => {
    expect(fits(toFile(input))).toBe(false);
  });

  it.each<[string, unknown]>([
    ["a file's schema alone", { $schema: "./x.json" }],
    ["a packet whose rules are no list", { ...whole, rules: {} }],
    ["a rule among packets", [whole, pass]],
  ])("the schema and the reader refuse %s when a file holds it", (_what, input) => {
    expect([fits(input), isRead(input)]).toEqual([false, false]);
  });
});
