import { callerKey } from "../../../src/surface/caller.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SurfaceError } from "../../../src/errors.ts";
import { oauthResource, type OauthResourceOptions } from "../../../src/http/auth/oauth-resource.ts";
import { startIssuer, type Issuer, type TokenName, type TokenWish } from "../support/issuer.ts";
import { withFaults } from "../support/with-faults.ts";
import { callerOf, createAuthHarness, resource, told, type AuthHarness } from "./setup.ts";

let issuer: Issuer;

beforeAll(async () => {
  issuer = await startIssuer({ resource, scopes: ["ci:read", "ci:write"] });
});

afterAll(async () => issuer.close());

beforeEach(() => {
  issuer.mode = "serve";
});

function options(changes: Partial<OauthResourceOptions> = {}): OauthResourceOptions {
  return { issuer: issuer.issuer, jwks: issuer.jwks, resource, ...changes };
}

function door(changes: Partial<OauthResourceOptions> = {}): AuthHarness {
  return createAuthHarness(withFaults(oauthResource(options(changes)), issuer));
}

async function statusOf(token: string, at: AuthHarness = door()): Promise<number> {
  return told(await at.ask(`Bearer ${token}`)).status;
}

async function callerWith(claims: TokenWish["claims"], changes: Partial<OauthResourceOptions> = {}) {
  const token = await issuer.mint(claims === undefined ? {} : { claims });
  return callerOf(await door(changes).ask(`Bearer ${token}`));
}

describe("oauthResource()", () => {
  it.each<[TokenName, number]>([
    ["GOOD", 200],
    ["ALICE", 200],
    ["BOB", 200],
    ["READ_ONLY", 200],
    ["AUD_NONE", 401],
    ["AUD_OTHER", 401],
    ["ISS_OTHER", 401],
    ["EXPIRED", 401],
    ["NBF", 401],
    ["HS_CONFUSED", 401],
    ["ALG_NONE", 401],
    ["VERIFIER_500", 503],
  ])("answers %s with %i", async (name, status) => {
    expect(await statusOf(issuer.tokens[name])).toBe(status);
  });

  it("answers 503 when the verifier hangs", async () => {
    expect(await statusOf(issuer.tokens.VERIFIER_HANG, door({ timeoutMs: 50 }))).toBe(503);
  });

  it("takes the caller from the subject, with scopes and client, and with no claims unless options name them", async () => {
    expect(await callerWith({ email: "a@b", groups: ["x"] })).toEqual({
      id: "alice",
      issuer: issuer.issuer,
      isAnonymous: false,
      scopes: ["ci:read", "ci:write"],
      clientId: "corpus",
      expiresAt: expect.any(Number),
    });
    const { claims } = await callerWith({ email: "a@b", groups: ["x"] }, { claims: ["email", "phone"] });
    expect(claims).toEqual({ email: "a@b" });
  });

  it("keeps callers with different identity claims apart, and refuses identity claims that it does not pass on", async () => {
    const claims = ["tenant", "email"];
    const keyOf = async (said: Record<string, string>, changes: Partial<OauthResourceOptions>): Promise<string> =>
      callerKey(await callerWith(said, { claims, ...changes }));
    const named = { identityClaims: ["tenant"] };
    const red = await keyOf({ tenant: "red", email: "a@b" }, named);
    expect(await keyOf({ tenant: "red", email: "b@b" }, named)).toBe(red);
    expect(await keyOf({ tenant: "blue", email: "a@b" }, named)).not.toBe(red);
    expect(await keyOf({ tenant: "red", email: "a@b" }, {})).not.toBe(await keyOf({ tenant: "red" }, {}));
    expect(() => door({ claims, identityClaims: ["group"] })).toThrow('"identityClaims" names "group"');
    expect(() => door({ claims, identityClaims: [""] })).toThrow('"identityClaims" must be a list of names');
  });

  it("reads the caller's resources from the configured claim", async () => {
    const grants = { "repo:web": ["write"] };
    const changes = { resources: "grants" };
    expect(await callerWith({ grants })).not.toHaveProperty("resources");
    expect((await callerWith({ grants }, changes)).resources).toEqual(grants);
    expect(await callerWith({ grants: ["repo:web"] }, changes)).not.toHaveProperty("resources");
    expect(await callerWith({ grants: { "repo:web": "write" } }, changes)).not.toHaveProperty("resources");
    expect(await callerWith({}, changes)).not.toHaveProperty("resources");
  });

  it.each<[string, TokenWish]>([
    ["a key of nobody's has the name of the issuer's", { key: "stranger" }],
    ["its key is not known", { header: { kid: "other" } }],
    ["it never expires", { claims: { exp: undefined } }],
    ["its expiry is a text", { claims: { exp: "never" } }],
    ["it names nobody", { claims: { sub: undefined, client_id: undefined } }],
    ["its subject is empty, and it has no client", { claims: { sub: "", client_id: undefined } }],
    ["its issuer has a slash more", { claims: { iss: "http://127.0.0.1/" } }],
    ["its audience is an object", { claims: { aud: { [resource]: true } } }],
    ["it is for us in part", { claims: { aud: ["https://ci.example", `${resource}/`] } }],
    ["it ends a session", { header: { typ: "logout+jwt" } }],
    ["its type is empty", { header: { typ: "" } }],
    ["its type is null", { header: { typ: null } }],
    ["its type is a number", { header: { typ: 1 } }],
    ["its type is a flag", { header: { typ: true } }],
    ["its type is a list", { header: { typ: ["at+jwt"] } }],
    ["its type is an object", { header: { typ: { name: "at+jwt" } } }],
    ["its key id is a number", { header: { kid: 7 } }],
    ["its start is a text", { claims: { nbf: "now" } }],
    ["its age is an object", { claims: { iat: {} } }],
    ["it names what nobody here understands", { header: { crit: ["proof"], proof: 1 } }],
  ])("refuses a token when %s", async (_, wish) => {
    const at = door();
    expect(await statusOf(await issuer.mint(wish), at)).toBe(401);
    expect(at.faults).toEqual([]);
  });

  it("refuses a token that was changed after signing", async () => {
    const [head, , signature] = issuer.tokens.GOOD.split(".");
    const claims = { iss: issuer.issuer, aud: resource, sub: "root", exp: 9e9 };
    const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
    expect(await statusOf(`${head}.${body}.${signature}`)).toBe(401);
  });

  it.each(["not.a.jwt", "a", "..", "e30.e30.e30", "e30.e30.e30.e30.e30", "eyJhbGciOiJSUzI1NiJ9.bm90IGpzb24.AAAA"])(
    "refuses %s, which is no token",
    async (token) => {
      const at = door();
      expect(await statusOf(token, at)).toBe(401);
      expect(at.faults).toEqual([]);
    },
  );

  it("takes a token when it is for us and others", async () => {
    expect(await callerWith({ aud: ["https://other.example", resource] })).toMatchObject({ id: "alice" });
  });

  it("takes a token of the issuer's other key, of another algorithm", async () => {
    expect(await statusOf(await issuer.mint({ key: "ec" }))).toBe(200);
  });

  it("takes only the algorithms that are listed", async () => {
    const at = door({ algorithms: ["ES256"] });
    expect(await statusOf(await issuer.mint({ key: "ec" }), at)).toBe(200);
    expect(await statusOf(issuer.tokens.GOOD, at)).toBe(401);
  });

  it.each([
    ["at+jwt", 200, 200],
    ["application/at+jwt", 200, 200],
    ["AT+JWT", 200, 200],
    ["JWT", 200, 401],
    [undefined, 200, 401],
  ])("takes the type %s as its strictness says", async (typ, lenient, strict) => {
    const token = await issuer.mint({ header: { typ } });
    expect(await statusOf(token)).toBe(lenient);
    expect(await statusOf(token, door({ strictType: true }))).toBe(strict);
  });

  it.each([
    [{ scope: undefined, scp: "a b" }, ["a", "b"]],
    [{ scope: undefined, scp: ["a", "b", 7] }, ["a", "b"]],
    [{ scope: "a  b ", scp: ["c"] }, ["a", "b"]],
    [{ scope: undefined }, []],
    [{ scope: 7 }, []],
  ])("reads scopes from %j", async (claims, scopes) => {
    const caller = await callerWith(claims);
    expect(caller.scopes).toEqual(scopes);
  });

  it("gives clients and users different ids", async () => {
    const ids = [];
    for (const claims of [
      { sub: "x" },
      { sub: undefined, client_id: "x" },
      { sub: undefined, client_id: undefined, azp: "x" },
      { sub: "client:x" },
      { sub: "sub:client:x" },
    ]) {
      ids.push((await callerWith(claims)).id);
    }
    expect(ids).toEqual(["x", "client:x", "client:x", "sub:client:x", "sub:sub:client:x"]);
  });

  it("tolerates the configured clock skew", async () => {
    const late = await issuer.mint({ claims: { exp: Math.floor(Date.now() / 1000) - 5 } });
    const early = await issuer.mint({ claims: { nbf: Math.floor(Date.now() / 1000) + 5 } });
    for (const token of [late, early]) {
      expect(await statusOf(token)).toBe(401);
      expect(await statusOf(token, door({ toleranceSeconds: 10 }))).toBe(200);
    }
  });

  it("verifies with given keys without a request", async () => {
    // What the tests' issuer serves.
    const jwks = (await (await fetch(issuer.jwks)).json()) as OauthResourceOptions["jwks"];
    const before = issuer.asked.keys;
    expect(await statusOf(issuer.tokens.GOOD, door({ jwks }))).toBe(200);
    expect(issuer.asked.keys).toBe(before);
  });

  it("fetches the keys once for many tokens at a time, and for tokens with unknown keys", async () => {
    const at = door();
    const before = issuer.asked.keys;
    await Promise.all(Array.from({ length: 20 }, () => statusOf(issuer.tokens.GOOD, at)));
    for (let index = 0; index < 20; index += 1) {
      expect(await statusOf(await issuer.mint({ header: { kid: `other ${index}` } }), at)).toBe(401);
    }
    expect(issuer.asked.keys - before).toBe(1);
  });

  it("answers 503, asks no more than once a second, and goes nowhere else when the keys cannot be had", async () => {
    for (const mode of ["fail", "redirect", "endless"] as const) {
      issuer.mode = mode;
      const at = door();
      const before = issuer.asked.keys;
      expect(await statusOf(issuer.tokens.GOOD, at)).toBe(503);
      expect(await statusOf(issuer.tokens.GOOD, at)).toBe(503);
      expect(issuer.asked.keys - before).toBe(1);
      expect(at.faults).toHaveLength(1);
    }
    expect(issuer.asked.other).toBe(0);
  });

  it("answers 503 when the endpoint of the keys hangs, and 200 when it serves again", async () => {
    issuer.mode = "hang";
    const at = door({ timeoutMs: 100 });
    expect(await statusOf(issuer.tokens.GOOD, at)).toBe(503);
    issuer.mode = "serve";
    await expect.poll(() => statusOf(issuer.tokens.GOOD, at)).toBe(200);
  });

  it("never sends a request to a URL in a token", async () => {
    const url = `${issuer.issuer}/elsewhere`;
    for (const header of [{ jku: url }, { x5u: url }, { jku: url, kid: "other" }]) {
      await statusOf(await issuer.mint({ header, claims: { iss: `${issuer.issuer}/elsewhere` } }));
    }
    expect(issuer.asked.other).toBe(0);
  });

  it("names its issuer as the authorization server", () => {
    const { body = "" } = door().authenticator.metadata();
    expect(JSON.parse(body)).toMatchObject({ resource, authorization_servers: [issuer.issuer] });
  });

  it("logs no part of a token when it cannot fetch the keys", async () => {
    issuer.mode = "fail";
    const at = door();
    await statusOf(issuer.tokens.GOOD, at);
    const { inspect } = await import("node:util");
    const log = inspect(at.faults, { depth: 10, showHidden: true });
    expect(log).toContain("500");
    for (const part of issuer.tokens.GOOD.split(".")) expect(log).not.toContain(part);
  });

  it.each<[string, object]>([
    ["the resource is no URL", { resource: "ci" }],
    ["the resource has a fragment", { resource: "https://ci.example/#a" }],
    ["the resource has a query", { resource: "https://ci.example/?a" }],
    ["the resource has a user", { resource: "https://a@ci.example/" }],
    ["the resource is not encrypted", { resource: "http://ci.example/mcp" }],
    ["the resource is a file", { resource: "file:///etc" }],
    ["the issuer is not encrypted", { issuer: "http://login.example" }],
    ["the issuer is missing", { issuer: undefined }],
    ["the keys are not encrypted", { jwks: "http://login.example/jwks" }],
    ["the keys are missing", { jwks: undefined }],
    ["there are no keys", { jwks: { keys: [] } }],
    ["a key is a secret", { jwks: { keys: [{ kty: "oct", k: "YQ" }] } }],
    ["a key is private", { jwks: { keys: [{ kty: "OKP", crv: "Ed25519", x: "YQ", d: "YQ" }] } }],
    ["an algorithm takes a shared secret", { algorithms: ["HS256"] }],
    ["an algorithm is none", { algorithms: ["RS256", "none"] }],
    ["there is no algorithm", { algorithms: [] }],
    ["a scope has a space", { scopes: ["a b"] }],
    ["a scope is empty", { scopes: [""] }],
    ["a scope has a quote", { scopes: ['a"'] }],
    ["scopes are one text", { scopes: "a" }],
    ["an authorization server is no URL", { authorizationServers: ["login"] }],
    ["the patience is nothing", { timeoutMs: 0 }],
    ["the patience is endless", { timeoutMs: Number.POSITIVE_INFINITY }],
    ["the tolerance is a day", { toleranceSeconds: 86_400 }],
    ["the claims are one text", { claims: "email" }],
    ["the strictness is a text", { strictType: "yes" }],
    ["an option is misspelt", { algorithm: ["RS256"] }],
  ])("is refused when %s", (_, changes) => {
    const make = (): unknown => oauthResource({ ...options(), ...changes });
    expect(make).toThrow(SurfaceError);
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it.each(["http://localhost:3000/mcp", "http://127.0.0.1/mcp", "http://[::1]:8080/mcp", "https://ci.example"])(
    "may be made for %s",
    (own) => {
      expect(oauthResource(options({ resource: own })).resource).toBe(own);
    },
  );
});
