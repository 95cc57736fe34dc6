import { describe, expect, it } from "vitest";
import { manifest } from "../architecture/package-entries.ts";

describe("package.json", () => {
  it("exports maps these subpaths and no others when it is read", () => {
    expect(manifest.exports).toEqual({
      ".": "./dist/index.js",
      "./http": "./dist/http/index.js",
      "./from/agentic": "./dist/from/agentic/index.js",
      "./from/invoker": "./dist/from/invoker/index.js",
      "./from/agent": "./dist/from/agent/index.js",
      "./from/orpc": "./dist/from/orpc/index.js",
      "./from/trpc": "./dist/from/trpc/index.js",
      "./from/openapi": "./dist/from/openapi/index.js",
      "./sdk-v1": "./dist/sdk-v1/index.js",
      "./otel": "./dist/otel/index.js",
      "./audit": "./dist/audit/index.js",
      "./redis": "./dist/redis/index.js",
      "./lock": "./dist/lock/index.js",
      "./testing": "./dist/testing/index.js",
      "./exposure-lock.schema.json": "./docs/schemas/exposure-lock.schema.json",
      "./view-rules.schema.json": "./docs/schemas/view-rules.schema.json",
      "./package.json": "./package.json",
    });
  });

  it("has one command when it is read", () => {
    expect(manifest).toMatchObject({ bin: { "surface-mcp": "./dist/cli/main.js" } });
  });

  it("promises ESM, no side effects, node 20 and MIT when it is read", () => {
    expect(manifest).toMatchObject({
      name: "surface-mcp",
      type: "module",
      sideEffects: false,
      engines: { node: ">=20" },
      license: "MIT",
      files: [
        "dist",
        "docs/*.md",
        "!docs/performance.md",
        "docs/*.png",
        "docs/*.svg",
        "docs/guide",
        "docs/schemas",
        "examples",
        "!examples/agent",
        "!examples/ci",
        "!examples/cluster",
        "!examples/game",
        "!examples/shop",
        "templates",
        "README.md",
        "LICENSE",
      ],
    });
  });

  it("takes the SDK of whoever attaches to their server, and asks nobody else for it, when it is read", () => {
    expect(manifest).toMatchObject({
      peerDependencies: {
        "@modelcontextprotocol/sdk": "^1.26.0",
        "@opentelemetry/api": "^1.7.0",
        ioredis: "^5.0.0 || ^6.0.0",
        redis: "^5.0.0 || ^6.0.0",
      },
      peerDependenciesMeta: {
        "@modelcontextprotocol/sdk": { optional: true },
        "@opentelemetry/api": { optional: true },
        ioredis: { optional: true },
        redis: { optional: true },
      },
    });
  });

  it("runs nothing on a user's machine when it is installed", () => {
    expect(manifest).not.toHaveProperty("scripts.install");
    expect(manifest).not.toHaveProperty("scripts.preinstall");
    expect(manifest).not.toHaveProperty("scripts.postinstall");
  });
});
