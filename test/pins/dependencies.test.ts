import { describe, expect, it } from "vitest";
import { manifest } from "../architecture/package-entries.ts";
import { locked, missingBuilds, productionTree } from "./production-tree.ts";

describe("dependencies", () => {
  it("the package asks for these and no others when it is installed", () => {
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual([
      "@standard-schema/spec",
      // Loaded by who serves over HTTP with tokens alone: decision 0019.
      "jose",
      // Loaded by the command alone: decision 0027.
      "jsonc-parser",
      // Loaded with the first search of a gateway: decision 0026.
      "minisearch",
      // As jsonc-parser.
      "smol-toml",
      "type-fest",
      // Loaded by web socket links alone: decision 0010.
      "ws",
    ]);
  });

  it("the package takes the application's zod, and brings none", () => {
    // Decision 0036.
    expect(manifest.peerDependencies["zod"]).toBe("^4.0.0");
  });

  it("productionTree() names every package a user gets when the lockfile is read", () => {
    expect(productionTree()).toEqual([
      "@standard-schema/spec",
      "jose",
      "jsonc-parser",
      "minisearch",
      "smol-toml",
      // type-fest's own: one file of types.
      "tagged-tag",
      "type-fest",
      "ws",
    ]);
  });

  it("productionTree() has nothing that only fits beside this one when the lockfile is read", () => {
    // What is attached to, and the service that tests mount, are their owners'.
    const others = ["@modelcontextprotocol/sdk", "@adobe/data"];
    expect(others.filter((name) => locked[`node_modules/${name}`] === undefined)).toEqual([]);
    expect(productionTree().filter((name) => others.includes(name))).toEqual([]);
  });

  it("every version is exact when package.json is read", () => {
    expect(Object.values(manifest.dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it("the lockfile has an entry for every platform when npm ci reads it", () => {
    // npm ci refuses a lockfile that leaves one out: run scripts/complete-lockfile.mjs after npm install.
    expect(missingBuilds()).toEqual([]);
  });

  it("the lockfile names no host when it is read", () => {
    expect(Object.keys(locked).length).toBeGreaterThan(100);
    expect(Object.values(locked).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });
});
