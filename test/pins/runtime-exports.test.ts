import { describe, expect, it } from "vitest";
import { entrySources } from "../architecture/package-entries.ts";
import { importEntry } from "./built-package.ts";

/** What each entry exports at run time. A name that goes is a breaking change, one that comes is a promise. */
const pinned: Readonly<Record<string, readonly string[]>> = {
  ".": [
    "Refusal",
    "SurfaceError",
    "audioBlock",
    "body",
    "callerKey",
    "cell",
    "cellSource",
    "childProcess",
    "collection",
    "composeSurfaces",
    "content",
    "defineSurface",
    "derive",
    "errorMetaKey",
    "event",
    "fromSignal",
    "imageBlock",
    "implementProjection",
    "implementSurface",
    "implementSurfaces",
    "inProcess",
    "linkBlock",
    "listenUnixSocket",
    "listenWebSocket",
    "mcp",
    "mcpResource",
    "mcpTool",
    "memoryContext",
    "operationRegistry",
    "polled",
    "procedure",
    "projectSurface",
    "projected",
    "readOnly",
    "readViewRules",
    "redactSecrets",
    "resourceBlock",
    "richContent",
    "serveOverStdio",
    "serveSurfaceAsMcp",
    "siblingLinks",
    "skillsFolder",
    "staleMetaKey",
    "stdio",
    "stream",
    "surfaceClientRef",
    "surfaceClients",
    "surfaceErrorCodes",
    "textBlock",
    "truncatedMetaKey",
    "unixSocket",
    "viewRulesFile",
    "webSocket",
    "withJsonSchema",
  ],
  "./http": [
    "bearer",
    "fromRateLimiterFlexible",
    "http",
    "httpHandler",
    "inspectorHandler",
    "memoryLimiter",
    "oauthResource",
    "tokenRegistry",
  ],
  "./from/agentic": ["agenticService", "mcpAgentic", "toJSONSchema"],
  "./from/invoker": ["invoker", "invokers", "mcpInvoker"],
  "./from/agent": ["agent", "agents", "mcpAgent"],
  "./from/orpc": ["fromOrpc", "mcpOrpc"],
  "./from/trpc": ["fromTrpc", "loadTrpc", "mcpTrpc"],
  "./from/openapi": ["fromOpenApi", "mcpOpenApi", "operations"],
  "./sdk-v1": ["attach"],
  "./otel": ["otel"],
  "./audit": ["auditLog"],
  "./redis": ["redis"],
  "./lock": ["locked"],
  "./testing": ["RpcFailure", "assertExposure", "createTestClient"],
};

describe("run-time exports", () => {
  it("every entry is pinned when package.json is read", () => {
    expect(Object.keys(pinned)).toEqual([...entrySources.keys()]);
  });

  it.each(Object.entries(pinned))("%s exports these names and no others when it is imported", async (entry, names) => {
    expect(Object.keys(await importEntry(entry)).toSorted()).toEqual(names);
  });
});
