import { afterAll, describe, expect, it } from "vitest";
import { legacyLine, modernLine } from "../fixtures/envelope.ts";
import { PipelineHarness, PickyAuthenticator, type Sent } from "./pipeline-support.ts";

const front = new PipelineHarness();
const authenticator = new PickyAuthenticator();
const guarded = new PipelineHarness({ authenticator });
const sessionless = new PipelineHarness({ legacy: undefined });

afterAll(() => Promise.all([front.close(), guarded.close(), sessionless.close()]));

const body = modernLine(1, "tools/list");
const method = { "mcp-method": "tools/list" };

/** The modern request that is right, but for some of its headers. */
function listing(headers: Sent["headers"] = {}, more: Sent = {}): Sent {
  return { body, ...more, headers: { ...method, ...headers } };
}

const legacyHead = { "mcp-protocol-version": "2025-11-25" };

const nothingYet = { body: 0, envelope: 0, caps: 0, gate: 0, arguments: 0, backend: 0 };

describe("HttpPipeline", () => {
  it("passes a valid request to the handler of its protocol version", async () => {
    expect(await front.send(listing())).toMatchObject({ status: 200, leg: "modern post" });
    const legacy = listing({ "mcp-protocol-version": "2025-11-25" }, { body: legacyLine(1, "tools/list") });
    expect(await front.send(legacy)).toMatchObject({ leg: "legacy post", caller: { isAnonymous: true } });
  });

  it("takes a slash behind its path for nothing", async () => {
    expect(await front.send(listing({}, { target: "/mcp/" }))).toMatchObject({ status: 200, leg: "modern post" });
    expect(await front.send(listing({}, { target: "/mcp/?surface=a" }))).toMatchObject({
      caller: { view: { surface: "a" } },
    });
    const slashed = new PipelineHarness({ path: "/mcp/" });
    expect(await slashed.send(listing())).toMatchObject({ status: 200 });
    const root = new PipelineHarness({ path: "/" });
    expect(await root.send(listing({}, { target: "/" }))).toMatchObject({ status: 200 });
    expect(await root.send(listing({}, { target: "//" }))).toMatchObject({ status: 404 });
    await Promise.all([slashed.close(), root.close()]);
  });

  it("says through which view a request asks, and with which client where it stands alone", async () => {
    const target = "/mcp?project=web&surface=readonly";
    const view = { surface: "readonly", project: "web", userAgent: "test/1" };
    const modern = await front.send(listing({ "user-agent": "test/1" }, { target }));
    expect(modern.caller?.view).toEqual({ ...view, client: { name: "corpus", version: "1" } });
    const version = { "mcp-protocol-version": "2025-11-25", "user-agent": "test/1" };
    const legacy = await front.send(listing(version, { target, body: legacyLine(1, "tools/list") }));
    expect(legacy.caller?.view).toEqual(view);
    const stream = await front.send({ method: "GET", target, headers: { ...version, "mcp-session-id": "a" } });
    expect(stream).toMatchObject({ leg: "legacy get", caller: { view } });
  });

  it("takes the caller from the token and the view from the URL, even if the verifier returns a view", async () => {
    const caller = { id: "alice", isAnonymous: false, scopes: [], view: { surface: "all" } };
    const own = new PickyAuthenticator();
    own.authenticate = () => Promise.resolve(caller);
    const door = new PipelineHarness({ authenticator: own });
    const { caller: named } = await door.send(listing({}, { target: "/mcp?surface=readonly" }));
    expect(named).toMatchObject({ id: "alice", view: { surface: "readonly" } });
    const { caller: unnamed } = await door.send(listing());
    expect(unnamed).toMatchObject({ id: "alice", view: { surface: "default" } });
    const silent = await door.send({ method: "DELETE", headers: { "mcp-session-id": "a", ...legacyHead } });
    expect(silent.caller).toEqual({ id: "alice", isAnonymous: false, scopes: [] });
    await door.close();
  });

  it("freezes the view", async () => {
    const { caller } = await front.send(listing({ "user-agent": "test/1" }));
    expect([caller, caller?.view, caller?.view?.client].every(Object.isFrozen)).toBe(true);
  });

  it.each<[string, number, Sent]>([
    ["has no Host", 400, listing({ host: undefined })],
    ["has two Hosts", 400, listing({ host: ["localhost", "localhost"] })],
    ["has a Host of somebody else's", 403, listing({ host: "evil.example" })],
    ["has an absolute target", 400, listing({}, { target: "http://localhost/mcp" })],
    ["has an Origin of somebody else's", 403, listing({ origin: "https://evil.example" })],
    ["has the Origin of no page", 403, listing({ origin: "null" })],
    ["has two Origins", 403, listing({ origin: ["http://localhost", "http://localhost"] })],
    ["asks for what is not there", 404, listing({}, { target: "/" })],
    ["asks for a path below", 404, listing({}, { target: "/mcp/x" })],
    ["asks for a path with two slashes", 404, listing({}, { target: "/mcp//" })],
    ["asks for a path that only resolves to the right one", 404, listing({}, { target: "/x/..%2fmcp" })],
    ["asks for a path with dots", 404, listing({}, { target: "/x/../mcp" })],
    ["asks for a path with an escape", 404, listing({}, { target: "/%6dcp" })],
    ["names a view by a bad escape", 400, listing({}, { target: "/mcp?surface=%ZZ" })],
    ["names a project by half of a character", 400, listing({}, { target: "/mcp?surface=a&project=%C3" })],
    ["names a view by 10 kB", 400, listing({}, { target: `/mcp?surface=${"a".repeat(10_000)}` })],
    ["is a PUT", 405, listing({}, { method: "PUT" })],
    ["is a method in lower case", 405, listing({}, { method: "post" })],
    ["is a preflight of no page", 405, listing({}, { method: "OPTIONS" })],
    ["has a body that is no JSON", 415, listing({ "content-type": "text/plain" })],
    ["does not say what its body is", 415, listing({ "content-type": undefined })],
    ["says twice what its body is", 415, listing({ "content-type": ["application/json", "application/json"] })],
    ["has a compressed body", 415, listing({ "content-encoding": "gzip" })],
    ["takes no JSON", 406, listing({ accept: "text/event-stream" })],
    ["announces too large a body", 413, listing({ "content-length": "4194305" })],
    ["has two names", 400, listing({ "mcp-name": ["echo", "wipe"] })],
    ["has two tokens", 400, listing({ authorization: ["Bearer good", "Bearer bad"] })],
    ["has a name that cannot be decoded", 400, listing({ "mcp-name": "=?base64?@@@?=" })],
  ])("refuses a request that %s with %d, unread and before its token", async (_what, status, sent) => {
    const { asked } = authenticator;
    expect(await guarded.send(sent)).toMatchObject({
      status,
      leg: undefined,
      wasRead: false,
      stages: { head: 1, token: 0, ...nothingYet },
    });
    expect(authenticator.asked).toBe(asked);
  });

  it.each(["POST", "GET", "DELETE"])("refuses a %s without a token unread, also with a session", async (verb) => {
    const sent = listing({ "mcp-session-id": "of somebody" }, { method: verb });
    expect(await guarded.send(sent)).toMatchObject({
      status: 401,
      leg: undefined,
      wasRead: false,
      stages: { head: 1, token: 1, ...nothingYet },
    });
  });

  it("passes the caller to the handler", async () => {
    expect(await guarded.send(listing({ authorization: "Bearer good" }))).toMatchObject({ caller: { id: "alice" } });
  });

  it.each<[string, number, number, string | Uint8Array]>([
    ["is empty", 400, -32700, ""],
    ["is blank", 400, -32700, " \r\n"],
    ["is no JSON", 400, -32700, "{nope"],
    ["is not UTF-8", 400, -32700, Uint8Array.from([0x22, 0xff, 0x22])],
    ["is UTF-16", 400, -32700, Uint8Array.from([0xff, 0xfe, 0x7b, 0x00])],
    ["has two byte order marks", 400, -32700, `\ufeff\ufeff${body}`],
    ["is larger than it said", 413, -32600, `{"x":"${"a".repeat(4 * 1024 * 1024)}"}`],
    ["is a batch", 400, -32600, `[${body}]`],
    ["is nested too deep", 400, -32600, `${"[".repeat(65)}${"]".repeat(65)}`],
    ["has too many elements", 400, -32602, `{"x":[${"1,".repeat(10_000)}1]}`],
    ["is a number", 400, -32600, "42"],
    ["has no version", 400, -32600, '{"id":1,"method":"ping"}'],
    ["is a notification with params of no kind", 400, -32602, '{"jsonrpc":"2.0","method":"x","params":[]}'],
    ["comes too late", 408, -32600, "gone"],
  ])("refuses a body that %s with %d and %d", async (...[, status, code, sent]) => {
    expect(await front.send(listing({}, { body: sent }))).toMatchObject({
      status,
      code,
      leg: undefined,
      stages: { head: 1, token: 1, ...nothingYet, body: 1 },
    });
  });

  it("ignores one byte order mark, as over stdio", async () => {
    expect(await front.send(listing({}, { body: `\ufeff${body}` }))).toMatchObject({ leg: "modern post" });
  });

  it("asks for a session where something other than a message is sent", async () => {
    const get = { method: "GET", headers: { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "one" } };
    expect(await front.send(get)).toMatchObject({ leg: "legacy get" });
    expect(await front.send({ ...get, method: "DELETE" })).toMatchObject({ leg: "legacy delete" });
    const none = { ...get, headers: {} };
    expect(await front.send(none)).toMatchObject({ status: 405, headers: { allow: "POST" }, leg: undefined });
    const modern = { ...get, headers: { "mcp-session-id": "one" } };
    expect(await front.send(modern)).toMatchObject({ status: 405, headers: { allow: "POST" }, leg: undefined });
    expect(await sessionless.send(get)).toMatchObject({ status: 405, headers: { allow: "POST" } });
  });

  it("answers clients of the legacy era with the served versions when sessions are off", async () => {
    const initialize = legacyLine(1, "initialize", { protocolVersion: "2025-11-25" });
    const seen = await sessionless.send({ body: initialize, headers: { "mcp-protocol-version": undefined } });
    expect(seen).toMatchObject({ status: 400, code: -32022, id: 1 });
    expect(seen.body).toContain('"requested":"2025-11-25"');
  });

  it("accepts notifications of modern clients with 202", async () => {
    const told = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    const seen = await front.send({ body: told, headers: { "mcp-method": "notifications/cancelled" } });
    expect(seen).toMatchObject({ status: 202, body: "", leg: undefined });
    expect(await front.send({ body: told, headers: { "mcp-method": "notifications/other" } })).toMatchObject({
      status: 400,
      code: -32020,
    });
    const legacy = { body: told, headers: { "mcp-protocol-version": undefined } };
    expect(await front.send(legacy)).toMatchObject({ leg: "legacy post" });
  });

  it("compares mirroring headers with the body in the legacy era if there are any", async () => {
    const call = legacyLine(1, "tools/call", { name: "routed", arguments: { region: "eu" } });
    const send = (headers: Sent["headers"]) =>
      front.send({ body: call, headers: { "mcp-protocol-version": "2025-11-25", ...headers } });
    const right = { "mcp-method": "tools/call", "mcp-name": "routed", "mcp-param-region": "eu" };
    expect(await send({})).toMatchObject({ leg: "legacy post" });
    expect(await send(right)).toMatchObject({ leg: "legacy post" });
    for (const name of ["mcp-method", "mcp-name"]) {
      expect(await send({ ...right, [name]: "other" })).toMatchObject({ status: 400, code: -32020, leg: undefined });
    }
    // Whether there is such a tool is for the view of its session to say.
    expect(await send({ ...right, "mcp-param-region": "other" })).toMatchObject({ leg: "legacy post" });
  });

  it("passes a response to sessions, and refuses it in the modern era", async () => {
    const answer = '{"jsonrpc":"2.0","id":1,"result":{}}';
    expect(await front.send({ body: answer })).toMatchObject({ status: 400, leg: undefined });
    const legacy = { body: answer, headers: { "mcp-protocol-version": undefined } };
    expect(await front.send(legacy)).toMatchObject({ leg: "legacy post" });
    expect(await sessionless.send(legacy)).toMatchObject({ status: 400 });
  });

  it("answers requests for metadata from every allowed origin", async () => {
    const target = "/.well-known/oauth-protected-resource/mcp";
    expect(await guarded.send({ method: "GET", target })).toMatchObject({ status: 200, body: "metadata" });
    expect(await guarded.send({ method: "POST", target })).toMatchObject({ status: 405 });
    expect(await guarded.send({ method: "GET", target, headers: { host: "evil" } })).toMatchObject({ status: 403 });
    expect(await front.send({ method: "GET", target })).toMatchObject({ status: 404 });
  });

  it("answers requests for health after the checks of Host and Origin, and before the token", async () => {
    const targets: string[] = [];
    const well = new PipelineHarness({
      authenticator,
      health: (request, reply) => {
        targets.push(request.target);
        reply.answer({ status: 200, body: "ok" });
        return true;
      },
    });
    expect(await well.send({ method: "GET", target: "/healthz" })).toMatchObject({ body: "ok", stages: { token: 0 } });
    expect(await well.send({ target: "/healthz", headers: { host: "evil" } })).toMatchObject({ status: 403 });
    expect(targets).toEqual(["/healthz"]);
    await well.close();
  });

  it("answers its own fault with a code and a correlation id only", async () => {
    const broken = new PipelineHarness({
      modern: {
        request: () => {
          throw new Error("secret-token-xyz");
        },
      },
    });
    const seen = await broken.send(listing());
    expect(seen).toMatchObject({ status: 500, code: -32603 });
    expect(seen.body).not.toContain("secret");
    await broken.close();
  });

  it("quotes nothing of a refused request", async () => {
    const loud = { host: "secret-host", origin: "secret-origin", "content-type": "secret-type" };
    for (const [name, value] of Object.entries(loud)) {
      expect((await front.send(listing({ [name]: value }))).body).not.toContain("secret");
    }
    expect((await front.send(listing({ "mcp-name": "secret", "mcp-method": "secret" }))).body).not.toContain("secret");
  });
});

describe("pages", () => {
  const origin = "http://localhost:5173";

  it("of an allowed origin may read every response", async () => {
    const allowed = { "access-control-allow-origin": origin, vary: "origin" };
    expect(await front.send(listing({ origin }))).toMatchObject({ status: 200, headers: allowed });
    expect(await front.send(listing({ origin, "content-type": "text/plain" }))).toMatchObject({
      status: 415,
      headers: allowed,
    });
  });

  it("may read the metadata by their preflight request", async () => {
    const target = "/.well-known/oauth-protected-resource/mcp";
    const asked = { origin, "access-control-request-method": "GET", "access-control-request-headers": "authorization" };
    expect(await guarded.send({ method: "OPTIONS", target, headers: asked })).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": origin, "access-control-allow-methods": "GET, HEAD", vary: "origin" },
    });
    expect((await guarded.send({ method: "OPTIONS", target, headers: {} })).status).toBe(405);
    expect((await guarded.send({ method: "GET", target, headers: { origin } })).headers).toMatchObject({
      "access-control-allow-origin": origin,
    });
  });

  it("learn the allowed methods and headers by their preflight request", async () => {
    const seen = await guarded.send({
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type, Mcp-Param-Region, x-evil, mcp-param-a b",
      },
    });
    expect(seen).toMatchObject({ status: 204, stages: { head: 1, token: 0 } });
    expect(seen.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE");
    expect(seen.headers["access-control-allow-headers"]?.split(", ")).toEqual([
      "accept",
      "authorization",
      "content-type",
      "last-event-id",
      "mcp-method",
      "mcp-name",
      "mcp-protocol-version",
      "mcp-session-id",
      "mcp-param-region",
    ]);
  });

  it.each(["OPTIONS", "POST", "GET"])("of other origins get no CORS headers by %s", async (verb) => {
    const seen = await front.send(listing({ origin: "https://evil.example" }, { method: verb }));
    expect(seen.status).toBe(403);
    expect(Object.keys(seen.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});
