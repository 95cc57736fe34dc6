import { expectAssignable, expectError, expectNotAssignable, expectType } from "tsd";
import { defineSurface, mcp, mcpTool, procedure, readOnly, type RateLimiter, type Serving } from "surface-mcp";
import {
  bearer,
  fromRateLimiterFlexible,
  http,
  httpHandler,
  memoryLimiter,
  oauthResource,
  type FlexibleLimiter,
  type HttpAuth,
  type HttpHandler,
  type HttpHandlerOptions,
  type HttpOptions,
  type HttpServing,
  type HttpStats,
  type Stage,
  type VerifiedToken,
} from "surface-mcp/http";

const app = mcp(defineSurface("pages", { open: readOnly(mcpTool(procedure({}))) })).implement({
  open: () => undefined,
});

declare const serving: HttpServing;
declare const handler: HttpHandler;
declare const request: Request;
declare const verified: VerifiedToken;
declare const limiter: RateLimiter;
declare const flexible: FlexibleLimiter;

// What serving resolves to is the target's own.
expectType<Promise<HttpServing>>(app.serve(http()));
expectType<Promise<HttpServing>>(app.serve(http({ port: 4000, host: "::1", exit: false, drainMs: 0 })));
expectAssignable<Serving>(serving);
expectType<string>(serving.url);
expectType<number>(serving.port);
expectType<HttpStats>(serving.stats());
expectType<Promise<void>>(serving.closed);
expectType<Promise<void>>(serving.close());
expectType<number>(serving.stats().stages.backend);
expectAssignable<Stage>("head");
expectNotAssignable<Stage>("reading");
expectError((serving.port = 1));

// A handler is what its fetch is.
expectType<HttpHandler>(httpHandler(app, { path: "/api/mcp", sessions: false, drainMs: 1000 }));
expectType<Promise<Response>>(handler(request));
expectType<Promise<Response>>(handler.fetch(request));
expectType<Promise<void>>(handler.close());
expectError(handler("http://localhost/mcp"));
expectError(httpHandler(defineSurface("pages", {})));

// What only a server can have is no option of a handler's; a name that is misspelt is none of anybody's.
expectAssignable<HttpHandlerOptions>({ allowedHosts: ["ci.example"], stallMs: 1000, drainMs: 1000 });
expectAssignable<HttpOptions>({ port: 0, headersTimeoutMs: 1000 });
expectError(httpHandler(app, { port: 4000 }));
expectError(httpHandler(app, { exit: false }));
expectError(http({ allowedHost: ["ci.example"] }));
expectError(http({ allowedHosts: "ci.example" }));
expectError(http({ port: "4000" }));

// Whoever verifies tokens says for which resource, and may answer that there is nobody.
const bounds = { resource: "https://ci.example/mcp", scopes: ["pages:read"] };
expectType<HttpAuth>(bearer({ ...bounds, verify: async () => undefined }));
expectType<HttpAuth>(bearer({ ...bounds, verify: async () => verified }));
expectAssignable<HttpOptions>({ auth: bearer({ ...bounds, verify: async () => verified }) });
expectError(bearer({ scopes: [], verify: async () => verified }));
expectError(bearer({ ...bounds, verify: async () => "somebody" }));
expectType<HttpAuth>(oauthResource({ ...bounds, issuer: "https://id.example", jwks: "https://id.example/keys" }));
expectError(oauthResource({ ...bounds, issuer: "https://id.example" }));

// How often is said by limits, a limiter, or not at all.
expectAssignable<HttpOptions>({ rateLimit: false });
expectAssignable<HttpOptions>({ rateLimit: { perMinute: 30, burst: 5 } });
expectAssignable<HttpOptions>({ rateLimit: limiter });
expectAssignable<RateLimiter>(memoryLimiter());
expectNotAssignable<HttpOptions>({ rateLimit: true });
expectNotAssignable<HttpOptions>({ rateLimit: { perHour: 1 } });
expectType<RateLimiter>(fromRateLimiterFlexible(flexible));
