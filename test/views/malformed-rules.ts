import { viewDomain } from "../../src/views/view-rules.ts";

const pass = { verdict: { kind: "tool_surface" } };

function packet(more: object): object {
  return { id: "reviewers", domain: viewDomain, rules: [pass], ...more };
}

function hidesIn(field: string): object {
  return Object.defineProperty({ verdict: { kind: "tool_surface" } }, field, { get: () => "other", enumerable: true });
}

function holdsItself(): object {
  const when: Record<string, unknown> = {};
  when["client"] = when;
  return { when, ...pass };
}

/** What is wrong with some rules, the rules, and how that is told behind `Reading view rules: `. */
export const malformedRules: readonly (readonly [what: string, input: unknown, message: string])[] = [
  [
    "another domain",
    packet({ domain: "webhooks" }),
    `"domain" of packet "reviewers" is "webhooks" and must be "${viewDomain}"`,
  ],
  [
    "no rules",
    packet({ rules: [] }),
    `"rules" of packet "reviewers" is an empty list and must be a list of 1 to 10000 rules`,
  ],
  ["no packet at all", [], `the input is an empty list and must be a list of 1 to 10000 rules or packets`],
  ["no view at all", {}, "there are 0 views and must be 1 to 10000"],
  [
    "a packet without a name",
    { domain: viewDomain, rules: [pass] },
    `"id" of packet 1 is left out and must be a text of 1 to 256 characters`,
  ],
  [
    "an unknown verdict",
    packet({ rules: [pass, { verdict: { kind: "allow" } }] }),
    `"verdict.kind" of rule "2" of packet "reviewers" is "allow" and must be "tool_surface" or "deny"`,
  ],
  ["no verdict", [{ id: "first" }], `"verdict" of rule "first" of packet "views" is left out and must be an object`],
  [
    "an unknown field of a rule",
    [{ ...pass, otherwise: 1 }],
    `rule "1" of packet "views" has a field "otherwise" and may have "id", "when", "verdict"`,
  ],
  [
    "an unknown field of a packet",
    packet({ rulez: 1 }),
    `packet "reviewers" has a field "rulez" and may have "$schema", "id", "domain", "description", "project", "rules"`,
  ],
  [
    "an unknown field of an entity",
    [{ when: { suface: "x" }, ...pass }],
    `"when" of rule "1" of packet "views" has a field "suface" and may have "surface", "user_agent", "project", "principal", "client"`,
  ],
  [
    "a condition of a number",
    [{ when: { surface: 3 }, ...pass }],
    `"when.surface" of rule "1" of packet "views" is 3 and must be a text of 1 to 1024 characters`,
  ],
  [
    "a condition that nothing fits",
    [{ when: { surface: [] }, ...pass }],
    `"when.surface" of rule "1" of packet "views" is an empty list and must be a list of 1 to 1024 texts`,
  ],
  [
    "a client without a field",
    [{ when: { client: {} }, ...pass }],
    `"when.client" of rule "1" of packet "views" is an object and must be an object with "name" or "version"`,
  ],
  [
    "a pattern that is none",
    [{ verdict: { kind: "tool_surface", allow: ["a", 1] } }],
    `"verdict.allow.1" of rule "1" of packet "views" is 1 and must be a text of 1 to 256 characters`,
  ],
  [
    "a pattern of 10 kB",
    { a: { allow: ["*".repeat(10_240)] } },
    `"allow.0" of view "a" is "${"*".repeat(61)}…" and must be a text of 1 to 256 characters`,
  ],
  [
    "too many patterns",
    { a: { disallow: Array.from({ length: 1025 }, () => "x") } },
    `"disallow" of view "a" is a list of 1025 and must be a list of at most 1024 patterns`,
  ],
  ["a flag that is a text", { a: { readOnly: "yes" } }, `"readOnly" of view "a" is "yes" and must be true or false`],
  ["another face", { a: { face: "two" } }, `"face" of view "a" is "two" and must be "direct" or "gateway"`],
  [
    "a view that denies and shows",
    { a: { deny: "no", allow: ["x"] } },
    `view "a" has a field "allow" and may have "deny"`,
  ],
  [
    "a denial without a reason",
    { a: { deny: "" } },
    `"deny" of view "a" is "" and must be a text of 1 to 8192 characters`,
  ],
  ["a view that is a list", { a: [] }, `view "a" is an empty list and must be an object`],
  ["a view without a name", { "": {} }, `the name of a view is "" and must be a text of 1 to 256 characters`],
  [
    "a prototype from a file",
    JSON.parse(`[{"__proto__":{"verdict":{}},"verdict":{"kind":"deny","reason":"x"}}]`),
    `rule "1" of packet "views" has a field "__proto__" and may have "id", "when", "verdict"`,
  ],
  [
    "an inherited verdict",
    [Object.create(pass)],
    `rule "1" of packet "views" is an object and must be an object of plain data`,
  ],
  ["an accessor", [hidesIn("id")], `"id" of rule "1" of packet "views" is an accessor and must be plain data`],
  [
    "what holds itself",
    [holdsItself()],
    `"when.client" of rule "1" of packet "views" has a field "client" and may have "name", "version"`,
  ],
  ["a hole", Array.from({ length: 2 }), `rule "1" of packet "views" is left out and must be an object`],
  [
    "too many rules",
    Array.from({ length: 10_001 }, () => pass),
    "the input is a list of 10001 and must be a list of 1 to 10000 rules or packets",
  ],
  [
    "too many rules in all",
    [1, 2].map(() => packet({ rules: Array.from({ length: 6000 }, () => pass) })),
    "there are 12000 rules and may be at most 10000",
  ],
  ["nothing", null, "the input is null and must be an object"],
  ["a text", "readonly", `the input is "readonly" and must be an object`],
  ["a map", new Map([["a", {}]]), "the input is an object and must be an object of plain data"],
];
