import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { readViewRules } from "../../src/views/read-view-rules.ts";
import { viewDomain } from "../../src/views/view-rules.ts";
import { thrownBy } from "../catalog/support.ts";
import { malformedRules } from "./malformed-rules.ts";

const pass = { verdict: { kind: "tool_surface" } };

function packet(more: object): object {
  return { id: "reviewers", domain: viewDomain, rules: [pass], ...more };
}

function misfitOf(input: unknown): string {
  const thrown = thrownBy(() => readViewRules(input));
  expect(thrown).toBeInstanceOf(SurfaceError);
  // As above.
  const { code, message } = thrown as SurfaceError;
  expect(code).toBe("INVALID_OPTION");
  expect(message).toMatch(/^Cannot read view rules: /);
  return message.slice("Cannot read view rules: ".length);
}

describe("reading view rules", () => {
  it("readViewRules() accepts a list of rules, a packet, packets and views by name (B5)", () => {
    const rules = [{ id: "a", when: { surface: ["x", "y"], client: { name: "claude" } }, ...pass }];
    expect(readViewRules(rules)).toEqual([{ id: "views", domain: viewDomain, rules }]);
    const whole = packet({ description: "who only looks", project: "site", rules });
    expect(readViewRules(whole)).toEqual([whole]);
    expect(readViewRules([whole, packet({})])).toEqual([whole, packet({})]);
    expect(readViewRules({ readonly: { readOnly: true }, locked: { deny: "not today" } })).toEqual([
      {
        id: "views",
        domain: viewDomain,
        rules: [
          { id: "readonly", when: { surface: "readonly" }, verdict: { kind: "tool_surface", readOnly: true } },
          { id: "locked", when: { surface: "locked" }, verdict: { kind: "deny", reason: "not today" } },
        ],
      },
    ]);
  });

  it.each(malformedRules)(
    "readViewRules() names packet, rule and field when there is %s (B5)",
    (_what, input, expected) => {
      expect(misfitOf(input)).toBe(expected);
    },
  );

  it("readViewRules() reads a bounded part of an endless list", () => {
    // 2 ** 32 - 1 holes.
    expect(misfitOf(Object.assign([], { length: 4_294_967_295 }))).toMatch(
      /^the input: it must be a list of 1 to 10000 .*, and is a list of 4294967295$/,
    );
  });

  it("readViewRules() accepts 10,000 rules", () => {
    const rules = Array.from({ length: 10_000 }, (_, index) => ({ when: { surface: `s${index}` }, ...pass }));
    expect(readViewRules(rules)[0]?.rules).toHaveLength(10_000);
  });

  it("readViewRules() returns frozen copies", () => {
    const disallow = ["a"];
    const [read] = readViewRules({ one: { disallow } });
    disallow.push("b");
    const verdict = read?.rules[0]?.verdict;
    expect(verdict).toEqual({ kind: "tool_surface", disallow: ["a"] });
    expect([read, read?.rules, read?.rules[0], verdict].every((part) => Object.isFrozen(part))).toBe(true);
  });

  it("readViewRules() keeps a view with the name of an inherited field", () => {
    const named: unknown = JSON.parse(`{"__proto__":{"deny":"no"},"constructor":{}}`);
    expect(readViewRules(named)[0]?.rules.map(({ id }) => id)).toEqual(["__proto__", "constructor"]);
  });
});
