import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  callerKey,
  grantKey,
  withIdentityClaims,
  visibleKey,
  withCallerKey,
  withCallerView,
  anonymous,
  type Caller,
} from "../../src/surface/caller.ts";
import { canonicalText } from "../../src/schema/json.ts";
import type { JsonObject } from "../../src/schema/json.ts";

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
      callerKey(withIdentityClaims(callerOf({ claims: said }), names));
    expect(keyOf({ tenant: "red", jti: "1" }, ["tenant"])).toBe(keyOf({ tenant: "red", jti: "2" }, ["tenant"]));
    expect(keyOf({ tenant: "red" }, ["tenant"])).not.toBe(keyOf({ tenant: "blue" }, ["tenant"]));
    expect(keyOf({ tenant: "red" }, ["tenant"])).not.toBe(keyOf({}, ["tenant"]));
    expect(keyOf({ tenant: "red" }, [])).toBe(callerKey(callerOf({})));
  });

  it("stays that of the caller in copies with other scopes, another view, or a tool's authority", () => {
    const caller = withIdentityClaims(callerOf({ claims: { tenant: "red", jti: "1" } }), ["tenant"]);
    const tool = withCallerKey(callerOf({ isTool: true }), callerKey(caller));
    for (const original of [caller, tool]) {
      expect(callerKey(withCallerView(original, { surface: "narrow" }))).toBe(callerKey(caller));
      const copy = { ...original, scopes: ["oven:read"], view: { surface: "narrow" } };
      expect(callerKey(copy)).toBe(callerKey(caller));
      expect(callerKey(Object.freeze({ ...copy }))).toBe(callerKey(caller));
    }
  });

  it.each([
    { id: "bob" },
    { issuer: "https://login.example" },
    { clientId: "ide" },
    { claims: { tenant: "blue", jti: "1" } },
    { isAnonymous: true },
  ])("is another one in a copy with %o", (change) => {
    const caller = withIdentityClaims(callerOf({ claims: { tenant: "red", jti: "1" } }), ["tenant"]);
    const plain = callerOf({ ...change, claims: change.claims ?? { tenant: "red", jti: "1" } });
    expect(callerKey({ ...caller, ...change })).toBe(callerKey(plain));
    expect(callerKey(plain)).not.toBe(callerKey(caller));
  });

  it("follows a caller whose fields or claims change, also in a frozen object", () => {
    const said = { tenant: "red" };
    const caller = { ...callerOf({ claims: said }) };
    const frozen = Object.freeze({ ...caller });
    expect([callerKey(caller), callerKey(frozen)]).toEqual([callerKey(caller), callerKey(caller)]);
    said.tenant = "blue";
    expect(callerKey(frozen)).toBe(callerKey(callerOf({ claims: { tenant: "blue" } })));
    Object.assign(caller, { id: "bob" });
    expect(callerKey(caller)).toBe(callerKey(callerOf({ id: "bob", claims: said })));
  });

  it("is short, however long the claims are", () => {
    const long = (tenant: string): Caller => callerOf({ claims: { tenant, text: "x".repeat(10_000) } });
    expect(callerKey(long("red")).length).toBeLessThan(100);
    expect(callerKey(long("red"))).not.toBe(callerKey(long("blue")));
  });
});

describe("visibleKey()", () => {
  it("follows the scopes and claims of an object that changes", () => {
    const [scopes, said] = [["oven:read"], { tenant: "red" }];
    const caller = Object.freeze(callerOf({ scopes, claims: said }));
    const keys = new Set([visibleKey(caller)]);
    scopes.pop();
    keys.add(visibleKey(caller));
    said.tenant = "blue";
    keys.add(visibleKey(caller));
    expect(keys.size).toBe(3);
  });
});
