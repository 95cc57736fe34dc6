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

/** What is wrong with some rules, the rules, and how that is told behind `Cannot read view rules: `. */
export const malformedRules: readonly (readonly [what: string, input: unknown, message: string])[] = [
  [
    "another domain",
    packet({ domain: "webhooks" }),
    `packet "reviewers": "domain" must be "${viewDomain}", and is "webhooks"`,
  ],
  [
    "no rules",
    packet({ rules: [] }),
    `packet "reviewers": "rules" must be a list of 1 to 10000 rules, and is an empty list`,
  ],
  ["no packet at all", [], `the input: it must be a list of 1 to 10000 rules or packets, and is an empty list`],
  ["no view at all", {}, `the input: it must have 1 to 10000 views, and has 0`],
  [
    "a packet without a name",
    { domain: viewDomain, rules: [pass] },
    `packet 1: "id" must be a text of 1 to 256 characters, and is missing`,
  ],
  [
    "an unknown verdict",
    packet({ rules: [pass, { verdict: { kind: "allow" } }] }),
    `rule "2" of packet "reviewers": "verdict.kind" must be "tool_surface" or "deny", and is "allow"`,
  ],
  [
    "no verdict",
    [{ id: "first" }],
    `rule "first" of packet "views": "verdict" must be an object with "kind", "allow", "disallow", "readOnly", "instructions", "face", and is missing`,
  ],
  [
    "an unknown field of a rule",
    [{ ...pass, otherwise: 1 }],
    `rule "1" of packet "views": "otherwise" is not an option; known options: "id", "when", "verdict"`,
  ],
  [
    "an unknown field of a packet",
    packet({ rulez: 1 }),
    `packet "reviewers": "rulez" is not an option; did you mean "rules"?`,
  ],
  [
    "an unknown field of an entity",
    [{ when: { suface: "x" }, ...pass }],
    `rule "1" of packet "views": "when": "suface" is not an option; did you mean "surface"?`,
  ],
  [
    "a condition of a number",
    [{ when: { surface: 3 }, ...pass }],
    `rule "1" of packet "views": "when.surface" must be a text of 1 to 1024 characters, and is 3`,
  ],
  [
    "a condition that nothing fits",
    [{ when: { surface: [] }, ...pass }],
    `rule "1" of packet "views": "when.surface" must be a list of 1 to 1024 texts, and is an empty list`,
  ],
  [
    "a client without a field",
    [{ when: { client: {} }, ...pass }],
    `rule "1" of packet "views": "when.client" must have "name" or "version"`,
  ],
  [
    "a pattern that is none",
    [{ verdict: { kind: "tool_surface", allow: ["a", 1] } }],
    `rule "1" of packet "views": "verdict.allow.1" must be a text of 1 to 256 characters, and is 1`,
  ],
  [
    "a pattern of 10 kB",
    { a: { allow: ["*".repeat(10_240)] } },
    `view "a": "allow.0" must be a text of 1 to 256 characters, and is "${"*".repeat(61)}…"`,
  ],
  [
    "too many patterns",
    { a: { disallow: Array.from({ length: 1025 }, () => "x") } },
    `view "a": "disallow" must be a list of at most 1024 patterns, and is a list of 1025`,
  ],
  ["a flag that is a text", { a: { readOnly: "yes" } }, `view "a": "readOnly" must be true or false, and is "yes"`],
  ["another face", { a: { face: "two" } }, `view "a": "face" must be "direct" or "gateway", and is "two"`],
  [
    "a view that denies and shows",
    { a: { deny: "no", allow: ["x"] } },
    `view "a": "allow" is not an option; known options: "deny"`,
  ],
  [
    "a denial without a reason",
    { a: { deny: "" } },
    `view "a": "deny" must be a text of 1 to 8192 characters, and is ""`,
  ],
  ["a view that is a list", { a: [] }, `view "a": it must be an object, and is an empty list`],
  ["a view without a name", { "": {} }, `a view: "name" must be a text of 1 to 256 characters, and is ""`],
  [
    "a prototype from a file",
    JSON.parse(`[{"__proto__":{"verdict":{}},"verdict":{"kind":"deny","reason":"x"}}]`),
    `rule "1" of packet "views": "__proto__" is not an option; known options: "id", "when", "verdict"`,
  ],
  ["an inherited verdict", [Object.create(pass)], `rule "1" of packet "views": it must be plain data`],
  ["an accessor", [hidesIn("id")], `rule "1" of packet "views": "id" must be plain data, and is an accessor`],
  [
    "what holds itself",
    [holdsItself()],
    `rule "1" of packet "views": "when.client": "client" is not an option; known options: "name", "version"`,
  ],
  ["a hole", Array.from({ length: 2 }), `rule "1" of packet "views": it must be an object, and is missing`],
  [
    "too many rules",
    Array.from({ length: 10_001 }, () => pass),
    `the input: it must be a list of 1 to 10000 rules or packets, and is a list of 10001`,
  ],
  [
    "too many rules in all",
    [1, 2].map(() => packet({ rules: Array.from({ length: 6000 }, () => pass) })),
    `the input: it must have at most 10000 rules, and has 12000`,
  ],
  ["nothing", null, `the input: it must be an object, and is null`],
  ["a text", "readonly", `the input: it must be an object, and is "readonly"`],
  ["a map", new Map([["a", {}]]), `the input: it must be plain data`],
];
