import { array, assert, constantFrom, option, property, record, type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { Views } from "../../src/views/views.ts";
import type { OneOf, ViewCondition, ViewEntity, ViewPacket, ViewVerdict } from "../../src/views/view-rules.ts";

/** What the rules mean, read from the last word to the first, by what the entity lacks. */
function meant(packets: readonly ViewPacket[], entity: ViewEntity): ViewVerdict {
  const scopes = packets.map(({ project }) => project);
  const own = entity.project === undefined ? -1 : scopes.lastIndexOf(entity.project);
  const packet = packets[own === -1 ? scopes.lastIndexOf(undefined) : own];
  let verdict: ViewVerdict =
    entity.surface === "default" ? { kind: "tool_surface" } : { kind: "deny", reason: "unknown MCP surface" };
  for (const rule of (packet?.rules ?? []).toReversed()) if (!isAgainst(rule.when, entity)) verdict = rule.verdict;
  return verdict;
}

/** Whether some field of a condition does not fit. */
function isAgainst({ client, ...texts }: ViewCondition = {}, { client: program, ...entity }: ViewEntity): boolean {
  const pairs: readonly (readonly [OneOf | undefined, string | undefined])[] = [
    [texts.surface, entity.surface],
    [texts.user_agent, entity.user_agent],
    [texts.project, entity.project],
    [texts.principal, entity.principal],
    [client?.name, program?.name],
    [client?.version, program?.version],
  ];
  // Whatever a value may be, it is looked for.
  return pairs.some(([wanted, value]) => wanted !== undefined && !([wanted].flat() as unknown[]).includes(value));
}

const word = constantFrom("a", "b", "default");
const oneOf = constantFrom<string | readonly string[]>("a", "b", "default", ["a", "b"], ["default"]);
const client = constantFrom({ name: "a" }, { version: "b" }, { name: ["a", "b"], version: "a" });
const condition: Arbitrary<ViewCondition> = record(
  { surface: oneOf, user_agent: oneOf, project: oneOf, principal: oneOf, client },
  { requiredKeys: [] },
);
const verdict = constantFrom<ViewVerdict>(
  { kind: "tool_surface" },
  { kind: "deny", reason: "x" },
  { kind: "deny", reason: "y" },
);
const rule = record({ when: condition, verdict });
const packet: Arbitrary<ViewPacket> = record({
  rules: array(rule, { minLength: 1, maxLength: 4 }),
  project: option(constantFrom("a", "b"), { nil: undefined }),
}).map(({ rules, project }) => ({
  id: "p",
  domain: "mcp-surface/routing",
  rules,
  ...(project === undefined ? {} : { project }),
}));
const entity: Arbitrary<ViewEntity> = record(
  { surface: word, user_agent: word, project: word, principal: word, client: record({ name: word, version: word }) },
  { requiredKeys: ["surface"] },
);

describe("decisions as they are meant", () => {
  it("decide() agrees with the meaning, whatever was asked before, when packets and entities are drawn (B6, B7, B8)", () => {
    assert(
      property(
        array(packet, { minLength: 1, maxLength: 4 }),
        array(entity, { minLength: 1, maxLength: 80 }),
        (packets, asked) => {
          const views = new Views(packets);
          for (const one of asked) {
            const decided = views.decide(one);
            expect(decided.verdict).toEqual(meant(packets, one));
            expect(views.decide(one)).toBe(decided);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
