import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/surface/system-clock.ts";
import { bearer, type BearerOptions } from "../../../src/http/auth/http-auth.ts";
import { toCallerJson } from "../../../src/links/wire/request-params.ts";
import { noteRejections, settle } from "../../surface/support.ts";
import { callerOf, createAuthHarness, harnessVerifying, resource, saying, told, verdict } from "./setup.ts";

const metadata = 'resource_metadata="https://ci.example/.well-known/oauth-protected-resource/mcp"';
const authorizationServers = ["https://login.example"];
const missing = { status: 401, challenge: 'Bearer scope="ci:read"' };
const invalid = { status: 401, challenge: 'Bearer error="invalid_token", scope="ci:read"' };
const token = "a-token-of-alice-0123456789";

describe("Authenticator", () => {
  it("returns the caller of a verified token", async () => {
    const { ask, faults } = harnessVerifying(async () =>
      verdict({ clientId: "ide", expiresAt: 9e9, claims: { email: "a@b" } }),
    );
    expect(callerOf(await ask(`Bearer ${token}`))).toEqual({
      id: "alice",
      isAnonymous: false,
      scopes: ["ci:read"],
      clientId: "ide",
      expiresAt: 9e9,
      claims: { email: "a@b" },
    });
    expect(faults).toEqual([]);
  });

  it("freezes a copy of the verifier's resources", async () => {
    const actions = ["write"];
    const resources = { "repo:web": actions, ["__proto__"]: ["read"] };
    const { ask } = harnessVerifying(async () => verdict({ resources }));
    const caller = callerOf(await ask(`Bearer ${token}`));
    actions.push("delete");
    expect(Object.entries(caller.resources ?? {})).toEqual([
      ["repo:web", ["write"]],
      ["__proto__", ["read"]],
    ]);
    expect([caller.resources, ...Object.values(caller.resources ?? {})].every(Object.isFrozen)).toBe(true);
  });

  it("refuses a revoked token", async () => {
    const controller = new AbortController();
    const { ask } = harnessVerifying(async () => verdict({ revoked: controller.signal }));
    expect(told(await ask(`Bearer ${token}`)).status).toBe(200);
    controller.abort();
    expect(told(await ask(`Bearer ${token}`))).toEqual(invalid);
  });

  it.each(["bearer", "BEARER", "BeArEr"])("takes the scheme in any case when it is %s", async (scheme) => {
    const { ask } = harnessVerifying(async () => verdict());
    expect(told(await ask(`${scheme} ${token}`)).status).toBe(200);
  });

  it("challenges without an error when there is no token", async () => {
    const { ask } = harnessVerifying(async () => verdict());
    // The query of the request has one: it is not looked for there.
    expect(told(await ask())).toEqual(missing);
    expect(told(await ask("Basic YTpi"))).toEqual(missing);
  });

  it.each([
    ["there are two headers", ["Bearer a", "Bearer a"]],
    ["there are two tokens", ["Bearer a b"]],
    ["there is none behind the scheme", ["Bearer"]],
    ["it has characters that none has", ['Bearer a"b']],
    ["it is split by a tab", ["Bearer\ta"]],
    ["it has a comma", ["Bearer a,b"]],
    ["it has its padding in the midst", ["Bearer a=b"]],
    ["it is longer than 16 KiB", [`Bearer ${"a".repeat(16 * 1024 + 1)}`]],
  ])("does not ask the verifier when %s", async (_, values) => {
    let asked = 0;
    const { ask } = harnessVerifying(async () => {
      asked += 1;
      return verdict();
    });
    expect(told(await ask(...values)).status).toBe(401);
    expect(asked).toBe(0);
  });

  it("takes a token of 16 KiB", async () => {
    const { ask } = harnessVerifying(async () => verdict());
    expect(told(await ask(`Bearer ${"a".repeat(16 * 1024)}`)).status).toBe(200);
  });

  it.each([
    ["the verifier does not know it", undefined],
    ["the verifier says null", null],
    ["it has expired", verdict({ expiresAt: Date.now() / 1000 - 1 })],
    ["it is not valid yet", verdict({ notBefore: Date.now() / 1000 + 60 })],
  ])("refuses a token when %s", async (_, said) => {
    const { ask, faults } = harnessVerifying(async () => saying(said));
    expect(told(await ask(`Bearer ${token}`))).toEqual(invalid);
    expect(faults).toEqual([]);
  });

  it.each([
    ["it is for nobody", verdict({ resource: undefined })],
    ["it is for an empty list", verdict({ resource: [] })],
    ["it is for somebody else", verdict({ resource: "https://other.example/mcp" })],
    ["it is for what begins like us", verdict({ resource: `${resource}/more` })],
    ["it is for us with a slash", verdict({ resource: `${resource}/` })],
    ["it is for us in capitals", verdict({ resource: "https://CI.example/mcp" })],
  ])("refuses a token when %s, and logs both spellings of the resource", async (_, said) => {
    const { ask, faults } = harnessVerifying(async () => saying(said));
    expect(told(await ask(`Bearer ${token}`))).toEqual(invalid);
    expect(faults).toMatchObject([{ cause: { message: expect.stringContaining(`this server is "${resource}"`) } }]);
  });

  it.each([
    ["a list", [resource, "https://other.example"]],
    ["a URL", new URL(resource)],
  ])("takes a token when it is for us in %s", async (_, audience) => {
    const { ask } = harnessVerifying(async () => verdict({ resource: audience }));
    expect(told(await ask(`Bearer ${token}`)).status).toBe(200);
  });

  it("refuses a token from the second on in which it expires", async () => {
    let now = 99_999;
    const auth = bearer({ resource, verify: async () => verdict({ expiresAt: 100 }) });
    const { ask } = createAuthHarness(auth, { today: () => now });
    expect(told(await ask("Bearer a")).status).toBe(200);
    now = 100_000;
    expect(told(await ask("Bearer a"))).toEqual(invalid);
  });

  it.each([
    ["no id", verdict({ id: undefined })],
    ["an empty id", verdict({ id: "" })],
    ["an id of more than 1 KiB", verdict({ id: "ä".repeat(513) })],
    ["an id that is a number", verdict({ id: 7 })],
    ["no scopes", verdict({ scopes: undefined })],
    ["scopes in one text", verdict({ scopes: "ci:read ci:write" })],
    ["scopes that are no texts", verdict({ scopes: [7] })],
    ["more than 1,024 scopes", verdict({ scopes: Array.from({ length: 1025 }, () => "a") })],
    ["scopes of more than 16 KiB", verdict({ scopes: ["a", "x".repeat(16 * 1024)] })],
    ["an audience that is a number", verdict({ resource: 7 })],
    ["an expiry that is no number", verdict({ expiresAt: Number.NaN })],
    ["an expiry in words", verdict({ expiresAt: "2030-01-01" })],
    ["an expiry that never comes", verdict({ expiresAt: Number.POSITIVE_INFINITY })],
    ["a beginning that is null", verdict({ notBefore: null })],
    ["a client that is an object", verdict({ clientId: {} })],
    ["a client of more than 1 KiB", verdict({ clientId: "ä".repeat(513) })],
    ["claims that are a list", verdict({ claims: [] })],
    ["claims that are no JSON", verdict({ claims: { big: 1n } })],
    ["claims of more than 16 KiB", verdict({ claims: { much: "a".repeat(16 * 1024) } })],
    ["resources that are a list", verdict({ resources: [] })],
    ["resources whose actions are one text", verdict({ resources: { "repo:a": "write" } })],
    ["resources whose actions are no texts", verdict({ resources: { "repo:a": [1] } })],
    [
      "more than 1,024 resources",
      verdict({ resources: Object.fromEntries(Array.from({ length: 1025 }, (_, at) => [at, []])) }),
    ],
    ["resources of more than 16 KiB", verdict({ resources: { "repo:a": ["x".repeat(16 * 1024)] } })],
    ["the token among its resources", verdict({ resources: { [token]: ["write"] } })],
    ["a revocation that is no signal", verdict({ revoked: {} })],
    ["the token as its id", verdict({ id: token })],
    ["the token in its claims", verdict({ claims: { raw: { header: `Bearer ${token}` } } })],
    ["true", true],
  ])("answers 503 and reports a fault when the verifier returns %s", async (_, said) => {
    const { ask, faults } = harnessVerifying(async () => saying(said));
    expect(told(await ask(`Bearer ${token}`))).toEqual({ status: 503, challenge: undefined });
    expect(faults).toHaveLength(1);
  });

  it("accepts the largest caller that a verifier may return, and every link carries it", async () => {
    const long = "\n".repeat(1024);
    const scopes = Array.from({ length: 1024 }, (_, at) => `a:${at}`.padEnd(12));
    const said = { id: long, issuer: long, clientId: long, scopes, claims: { all: "x".repeat(16 * 1024 - 10) } };
    const { ask } = harnessVerifying(async () => verdict({ ...said, resources: { all: ["x".repeat(16 * 1024 - 4)] } }));
    const caller = callerOf(await ask(`Bearer ${token}`));
    expect(toCallerJson(caller, "a member")).toMatchObject({ ...said });
  });

  it("answers 503 with the id of the fault alone when the verifier throws, at once or later", async () => {
    const fail = (): never => {
      throw new Error("store db-7 is gone");
    };
    for (const verify of [fail, async () => fail()]) {
      const { ask, faults } = harnessVerifying(verify);
      const found = await ask(`Bearer ${token}`);
      expect(found).toMatchObject({ status: 503 });
      const { body = "" } = "status" in found ? found : {};
      expect(JSON.parse(body)).toEqual({
        jsonrpc: "2.0",
        id: null,
        error: {
          code: -32603,
          message: "Tokens cannot be verified now",
          data: { correlationId: faults[0]?.correlationId },
        },
      });
      expect(String(faults[0]?.cause)).toContain("store db-7 is gone");
    }
  });

  const failing = (): Promise<never> => Promise.reject(new Error("gone"));

  it.each<[string, number, BearerOptions["verify"]]>([
    [
      "throws a promise that rejects",
      503,
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what a verifier in plain JavaScript may throw
        throw failing();
      },
    ],
    ["throws an error whose cause rejects", 503, async () => Promise.reject(new Error("x", { cause: failing() }))],
    ["rejects with one that rejects with a third", 503, () => Promise.reject(Promise.reject(failing()))],
    [
      "rejects too late, with a promise that rejects",
      503,
      (_token, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => setImmediate(() => reject(Promise.reject(failing())))),
        ),
    ],
    [
      "returns a signal that was aborted with one",
      401,
      () => saying(verdict({ revoked: AbortSignal.abort(failing()) })),
    ],
  ])("answers without an unhandled rejection when the verifier %s", async (_what, status, verify) => {
    const rejections = noteRejections();
    const { ask } = harnessVerifying(verify, { timeoutMs: 20 });
    expect(told(await ask(`Bearer ${token}`)).status).toBe(status);
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it("answers 503 and takes the question back when the verifier does not answer in time", async () => {
    let seen: AbortSignal | undefined;
    const verify = async (_: string, { signal }: { signal: AbortSignal }): Promise<undefined> => {
      seen = signal;
      return new Promise((_resolve, reject) => {
        // What comes too late is nobody's: it must not end the process either.
        signal.addEventListener("abort", () => setImmediate(() => reject(new Error("late"))));
      });
    };
    const { ask, faults } = harnessVerifying(verify, { timeoutMs: 20 });
    expect(told(await ask(`Bearer ${token}`)).status).toBe(503);
    expect(seen?.aborted).toBe(true);
    expect(String(faults[0]?.cause)).toContain("within 20 ms");
    await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("clears its timer when the verifier has answered", async () => {
    let running = 0;
    const clock = {
      now: () => systemClock.now(),
      after: () => {
        running += 1;
        return () => void (running -= 1);
      },
    };
    const { ask } = createAuthHarness(bearer({ resource, verify: async () => verdict() }), { clock });
    await ask("Bearer a");
    expect(running).toBe(0);
  });

  it("asks the verifier on every request, so that a token taken back is no good at once", async () => {
    let isGood = true;
    const { ask } = harnessVerifying(async () => (isGood ? verdict() : undefined));
    expect(told(await ask("Bearer a")).status).toBe(200);
    isGood = false;
    expect(told(await ask("Bearer a")).status).toBe(401);
  });

  it("answers 403 with all scopes that the server requires when a token lacks one", async () => {
    const scopes = ["mcp", "staff"];
    const { ask } = harnessVerifying(async () => verdict({ scopes: ["mcp"] }), { scopes, authorizationServers });
    const challenge = `Bearer error="insufficient_scope", scope="mcp staff ci:read", ${metadata}`;
    expect(told(await ask("Bearer a"))).toEqual({ status: 403, challenge });
  });

  it("names all scopes of an operation, and those of the server, in a challenge", () => {
    const { authenticator } = harnessVerifying(async () => verdict(), { scopes: ["mcp"], authorizationServers });
    const challenge = `Bearer error="insufficient_scope", scope="mcp ci:write ci:admin", ${metadata}`;
    expect(authenticator.challenge(["ci:write", "ci:admin"])).toBe(challenge);
  });

  it("returns frozen copies", async () => {
    const said = { id: "alice", scopes: ["ci:read"], resource, claims: { groups: ["a"] } };
    const { ask } = harnessVerifying(async () => said);
    const caller = callerOf(await ask("Bearer a"));
    said.scopes.push("ci:write");
    said.claims.groups.push("b");
    expect(caller).toMatchObject({ scopes: ["ci:read"], claims: { groups: ["a"] } });
    expect([caller, caller.scopes, caller.claims, caller.claims?.["groups"]].every(Object.isFrozen)).toBe(true);
  });

  it("serves the metadata of RFC 9728, without offline_access, where clients look for it", () => {
    const auth = bearer({
      resource: "https://ci.example/team/mcp",
      scopes: ["offline_access", "mcp"],
      authorizationServers: ["https://login.example"],
      verify: async () => verdict(),
    });
    const { authenticator } = createAuthHarness(auth);
    expect(authenticator.metadataPaths).toEqual([
      "/.well-known/oauth-protected-resource/team/mcp",
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-protected-resource",
    ]);
    const { status, headers, body = "" } = authenticator.metadata();
    expect(status).toBe(200);
    // It is the one answer that caches keep.
    expect(headers).toMatchObject({ vary: "origin" });
    expect(JSON.parse(body)).toEqual({
      resource: "https://ci.example/team/mcp",
      authorization_servers: ["https://login.example"],
      scopes_supported: ["ci:read", "ci:write", "mcp"],
      bearer_methods_supported: ["header"],
    });
  });

  it("publishes no metadata, and names none, without an issuer that clients could be sent to", async () => {
    const { authenticator, ask } = harnessVerifying(async () => undefined);
    expect(authenticator.metadataPaths).toEqual([]);
    expect(told(await ask("Bearer a")).challenge).toBe('Bearer error="invalid_token", scope="ci:read"');
    const { ask: askWith } = harnessVerifying(async () => undefined, { authorizationServers });
    expect(told(await askWith("Bearer a")).challenge).toContain(metadata);
  });

  it("lists the scope of a single tool in its metadata only if the author's options name it", () => {
    const listed = (more: Partial<BearerOptions>): unknown => {
      const { authenticator } = createAuthHarness(bearer({ resource, verify: async () => verdict(), ...more }));
      return JSON.parse(authenticator.metadata().body ?? "").scopes_supported;
    };
    expect(listed({})).toEqual(["ci:read", "ci:write"]);
    expect(listed({ scopesSupported: ["ci:admin"] })).toEqual(["ci:admin", "ci:read", "ci:write"]);
    expect(() => listed({ scopesSupported: ['a"b'] })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});

describe("the report of a verifier's error", () => {
  const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9abcdefgh.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg==";

  it.each([
    ["in its message", new Error(`no such token: ${jwt}`)],
    ["encoded for a URL", new Error(`GET /introspect?token=${encodeURIComponent(jwt)}`)],
    ["in part", new Error(`bad signature ${jwt.split(".")[2]}`)],
    ["in its cause", new Error("failed", { cause: new Error(jwt) })],
    ["in a property", Object.assign(new Error("failed"), { config: { headers: { authorization: `Bearer ${jwt}` } } })],
    ["as what was thrown", { token: jwt }],
    ["as a text", jwt],
  ])("has nothing of the token when that is %s", async (_, thrown) => {
    const { ask, faults } = harnessVerifying(async () => Promise.reject(thrown));
    await ask(`Bearer ${jwt}`);
    const { inspect } = await import("node:util");
    const log = inspect(faults, { depth: 10, showHidden: true });
    expect(faults).toHaveLength(1);
    for (const part of jwt.split(".")) expect(log).not.toContain(part);
  });

  it("is written also for a thrown value that cannot be inspected", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const { ask, faults } = harnessVerifying(async () => Promise.reject(proxy));
    expect(told(await ask("Bearer a")).status).toBe(503);
    expect(faults).toHaveLength(1);
  });
});
