import { describe, expect, it } from "vitest";
import type { HttpAuth } from "../../src/http/auth/http-auth.ts";
import { type HttpOptions, resolveHandlerOptions, resolveServerOptions } from "../../src/http/options.ts";
import { http } from "../../src/http/http.ts";
import { defaultLimits } from "../../src/http/budgets.ts";
import { createDemo } from "./support/demo-app.ts";

const auth: HttpAuth = {
  resource: "https://ci.example/mcp",
  scopes: [],
  authorizationServers: [],
  timeoutMs: 1_000,
  verify: async () => undefined,
};

const invalid = expect.objectContaining({ code: "INVALID_OPTION" });

describe("the options of http()", () => {
  it("have the documented defaults", () => {
    expect(resolveServerOptions({})).toEqual({
      hosts: ["localhost", "127.0.0.1", "[::1]"],
      origins: "loopback",
      isLocalOnly: true,
      path: "/mcp",
      sessions: true,
      maxSessions: 1024,
      maxSessionsPerPrincipal: 64,
      sessionIdleMs: 300_000,
      maxQueued: 1024,
      maxInFlight: 64,
      maxStreamsPerPrincipal: 16,
      maxStreams: 1024,
      keepAliveMs: 15_000,
      stallMs: 30_000,
      allowAnonymous: false,
      limits: defaultLimits,
      port: 0,
      host: "127.0.0.1",
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
      drainMs: 10_000,
      exit: true,
      inspector: false,
    });
  });

  it.each([
    [1, 1],
    [15, 1],
    [33, 2],
  ])("give one caller a sixteenth, at least one, of %d sessions", (maxSessions, expected) => {
    expect(resolveHandlerOptions({ maxSessions }).maxSessionsPerPrincipal).toBe(expected);
  });

  it("let no page ask when hosts are named and origins are not", () => {
    expect(resolveHandlerOptions({ allowedHosts: ["ci.example"], auth })).toMatchObject({
      hosts: ["ci.example"],
      origins: [],
    });
  });

  it.each(["localhost", "127.0.0.1", "127.0.0.5", "::1"])("need nothing else when the host is %s", (host) => {
    expect(() => resolveServerOptions({ host })).not.toThrow();
  });

  it.each([
    "0.0.0.0",
    "::",
    "192.0.2.7",
    "ci.example",
    "localhost.example",
    "127.0.0.1.example",
    "::ffff:127.0.0.1",
    "0",
  ])("are refused unless auth and hosts are given when the host is %s", (host) => {
    for (const half of [{}, { auth }, { allowedHosts: ["ci.example"] }]) {
      expect(() => resolveServerOptions({ host, ...half })).toThrow(invalid);
    }
    expect(resolveServerOptions({ host, auth, allowedHosts: ["ci.example"] }).host).toBe(host);
  });

  it.each(["ci.example", "ci.example:8443", "192.0.2.7", "[::2]", "127.0.0.1.example", "localhost.example"])(
    "refuse the host %s without auth, unless allowAnonymous is set",
    (host) => {
      const allowedHosts = ["localhost", host];
      for (const resolve of [resolveHandlerOptions, resolveServerOptions]) {
        expect(() => resolve({ allowedHosts })).toThrow(invalid);
        expect(() => resolve({ allowedHosts, allowAnonymous: false })).toThrow(invalid);
        expect(resolve({ allowedHosts, allowAnonymous: true }).hosts).toEqual(allowedHosts);
        expect(resolve({ allowedHosts, auth }).hosts).toEqual(allowedHosts);
        expect(() => resolve({ allowedHosts, auth, allowAnonymous: true })).toThrow(invalid);
      }
      const others = { host: "0.0.0.0", allowedHosts, allowAnonymous: true };
      expect(() => resolveServerOptions(others)).toThrow(invalid);
    },
  );

  it.each(["localhost", "LOCALHOST:4000", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:4000"])(
    "need no auth when the only host is %s",
    (host) => {
      expect(resolveHandlerOptions({ allowedHosts: [host] }).hosts).toEqual([host]);
    },
  );

  it.each<[string, object]>([
    ["a name that is none", { allowedHost: ["ci.example"] }],
    ["an own property of the name __proto__", JSON.parse('{ "__proto__": 1 }') as object],
    ["a queue without places", { maxQueued: 0 }],
    ["a bound that is no whole number", { maxSessions: 1.5 }],
    ["a bound as text", { maxStreams: "10" }],
    ["a bound below one", { maxInFlight: 0 }],
    ["a time that makes a timer fire at once", { stallMs: 2 ** 31 }],
    ["a stall of no time", { stallMs: 0 }],
    ["a path with a query", { path: "/mcp?x" }],
    ["a path that does not begin with a slash", { path: "mcp" }],
    ["hosts that are no list", { allowedHosts: "ci.example" }],
    ["no hosts at all", { allowedHosts: [] }],
    ["a host with a scheme", { allowedHosts: ["https://ci.example"] }],
    ["a host that stands for others", { allowedHosts: ["*.ci.example"] }],
    ["an origin with a path", { allowedOrigins: ["https://app.example/"] }],
    ["an origin that stands for all", { allowedOrigins: ["*"] }],
    ["the origin null", { allowedOrigins: ["null"] }],
    ["auth that verifies nothing", { auth: {} }],
    ["limits of another name", { rateLimit: { perSecond: 1 } }],
    ["limits of no calls", { rateLimit: { perMinute: 0 } }],
    ["a limit of true", { rateLimit: true }],
    ["an allowance that is neither", { allowAnonymous: "yes" }],
    ["a port that is none", { port: 65_536 }],
    ["an address with a port", { host: "[::1]" }],
    ["a head that may take longer than the whole", { headersTimeoutMs: 31_000 }],
    ["an exit that is neither", { exit: "no" }],
    ["an inspector that is neither", { inspector: "yes" }],
    ["an inspector of null", { inspector: null }],
    ["an inspector with a host", { inspector: { host: "0.0.0.0" } }],
    ["an inspector on no port", { inspector: { port: -1 } }],
    ["an inspector that shows values without a redactor", { inspector: { values: true } }],
    ["an inspector that looks back on everything", { inspector: { history: Infinity } }],
    ["an inspector that approves by a text", { inspector: { approve: "true" } }],
  ])("are refused when there is %s", (_what, options) => {
    // What a caller without the compiler could write.
    expect(() => resolveServerOptions(options as HttpOptions)).toThrow(invalid);
  });

  it.each(["port", "host", "exit", "headersTimeoutMs", "inspector"])(
    "of a handler refuse %s, which only servers have",
    (name) => {
      expect(() => resolveHandlerOptions({ [name]: undefined })).toThrow(invalid);
    },
  );

  it("have their defaults when they are undefined", () => {
    // As above.
    const options = { maxQueued: undefined, host: undefined } as unknown as HttpOptions;
    expect(resolveServerOptions(options)).toEqual(resolveServerOptions({}));
  });

  it("reject serving, and open nothing, when they are wrong", async () => {
    let opened = 0;
    const app = { open: () => ((opened += 1), createDemo().app.open()) };
    await expect(http({ host: "0.0.0.0" }).serve(app)).rejects.toEqual(invalid);
    expect(opened).toBe(0);
  });
});
