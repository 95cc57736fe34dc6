import { describe, expect, it } from "vitest";
import { bearer } from "../../../src/http/auth/http-auth.ts";
import { createAuthHarness, resource, verdict } from "./setup.ts";

describe("bearer()", () => {
  it("keeps the given options, and fills in defaults", () => {
    const verify = async (): Promise<undefined> => undefined;
    const scopes = ["a", "a", "b"];
    const auth = bearer({ resource: new URL(resource), verify, scopes });
    scopes.push("c");
    expect(auth).toEqual({
      resource,
      scopes: ["a", "b"],
      scopesSupported: [],
      authorizationServers: [],
      timeoutMs: 5000,
      verify,
    });
    expect(Object.isFrozen(auth)).toBe(true);
  });

  it.each<[string, object]>([
    ["there is no verifier", { verify: undefined }],
    ["the verifier is no function", { verify: {} }],
    ["there is no resource", { resource: undefined }],
    ["an option is misspelt", { scope: ["a"] }],
  ])("is refused when %s", (_, changes) => {
    const make = (): unknown => bearer({ resource, verify: async () => verdict(), ...changes });
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it("makes a plain object: the authenticator checks a hand-written one, too", () => {
    const auth = { resource: "ci", scopes: [], authorizationServers: [], timeoutMs: 1, verify: async () => verdict() };
    expect(() => createAuthHarness(auth)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
