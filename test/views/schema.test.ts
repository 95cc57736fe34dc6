import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/schema/json.ts";
import { readViewRules } from "../../src/views/read-view-rules.ts";
import { viewDomain } from "../../src/views/view-rules.ts";
import { root } from "../architecture/source.ts";
import { malformedRules } from "./malformed-rules.ts";
import { rulesDocument } from "./rules-document.ts";

// Generated, and an object.
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

describe("the schema of view rules", () => {
  it("is made of the schemas that rules are read by: npm run write:view-schema", () => {
    expect(schema).toEqual(rulesDocument);
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

  it("most of what does not fit can be in a file when it is looked at", () => {
    expect(inFiles.length).toBeGreaterThan(25);
  });

  it.each(inFiles)("the schema refuses what the reader refuses when a file holds %s", (_what, input) => {
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
