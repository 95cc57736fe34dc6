import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callerKey, grantKey, identifiedBy, sameCaller } from "../../src/surface/caller-key.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { canonicalText } from "../../src/schema/canonical-text.ts";

function callerOf(parts: Partial<Caller>): Caller {
  return { id: "ada", isAnonymous: false, scopes: [], ...parts };
}

/** Texts that a careless concatenation would confuse. */
const text = fc.oneof(fc.constantFrom("", "a", "b", "a,b", '"', "[", "null", "anonymous", "anonymous "), fc.string());
const claims = fc.dictionary(fc.constantFrom("tenant", "role", "__proto__"), fc.oneof(text, fc.array(text)));

const parts = fc.record({ issuer: text, id: text, clientId: text, claims }, { requiredKeys: ["id"] });

/** What identifies a caller, as a list without any key of ours. */
function partsOf({ issuer, id, clientId, claims: said = {} }: Partial<Caller>): unknown {
  return [issuer, id, clientId, canonicalText(said)];
}

describe("callerKey()", () => {
  it("is equal for two callers if and only if issuer, id, client and claims are", () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const [first, second] = [callerOf(one), callerOf(other)];
        const isSame = JSON.stringify(partsOf(first)) === JSON.stringify(partsOf(second));
        expect(callerKey(first) === callerKey(second)).toBe(isSame);
        expect(callerKey(first)).not.toBe(callerKey(anonymous));
        expect(callerKey(callerOf({ ...first }))).toBe(callerKey(first));
      }),
      { numRuns: 2000 },
    );
  });

  it("does not depend on the order of claims, on grants, or on the view", () => {
    const one = callerOf({ claims: { tenant: "red", role: "cook" } });
    const other = callerOf({
      claims: { role: "cook", tenant: "red" },
      scopes: ["oven:read"],
      resources: { "repo:a": ["write"] },
      view: { surface: "narrow" },
      expiresAt: 1,
    });
    expect(callerKey(other)).toBe(callerKey(one));
    expect(grantKey(other)).not.toBe(grantKey(one));
  });

  it("counts only the named claims where a verifier names them", () => {
    const keyOf = (said: JsonObject, names: readonly string[]): string =>
      callerKey(identifiedBy(callerOf({ claims: said }), names));
    expect(keyOf({ tenant: "red", jti: "1" }, ["tenant"])).toBe(keyOf({ tenant: "red", jti: "2" }, ["tenant"]));
    expect(keyOf({ tenant: "red" }, ["tenant"])).not.toBe(keyOf({ tenant: "blue" }, ["tenant"]));
    expect(keyOf({ tenant: "red" }, ["tenant"])).not.toBe(keyOf({}, ["tenant"]));
    expect(keyOf({ tenant: "red" }, [])).toBe(callerKey(callerOf({})));
  });

  it("stays that of the caller in copies that are made for a view or a tool", () => {
    const caller = identifiedBy(callerOf({ claims: { tenant: "red", jti: "1" } }), ["tenant"]);
    const copy = sameCaller({ ...caller, view: { surface: "narrow" } }, caller);
    expect(callerKey(copy)).toBe(callerKey(caller));
    expect(callerKey({ ...caller })).not.toBe(callerKey(caller));
  });

  it("is short, however long the claims are", () => {
    const long = (tenant: string): Caller => callerOf({ claims: { tenant, text: "x".repeat(10_000) } });
    expect(callerKey(long("red")).length).toBeLessThan(100);
    expect(callerKey(long("red"))).not.toBe(callerKey(long("blue")));
  });
});
