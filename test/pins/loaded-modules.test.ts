import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";
import { type Trace, traceServer } from "./traced-server.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "pin", version: "1" } },
};

/** ES modules loaded before the first answer: what was measured, and a tenth. A larger number is a slower start. */
const budget = 116;

let answer = "";
let trace: Trace = { modules: [], builtins: [] };

/** The package that a module belongs to. */
function ownerOf(module: string): string {
  return /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1] ?? "";
}

describe("a stdio face before its first answer", () => {
  beforeAll(async () => {
    ({ answer, trace } = await traceServer([initialize]));
  });

  it("has answered when what it loaded is read", () => {
    expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: { name: "counter" } } });
  });

  it("has loaded no package but the application's own zod when it answers initialize", () => {
    const packages = trace.modules.filter((one) => one.includes("/node_modules/")).map(ownerOf);
    expect([...new Set(packages)].toSorted()).toEqual(["zod"]);
  });

  it("has loaded nothing of node's that speaks to a network or starts a process when it answers initialize", () => {
    const costly = [
      "http",
      "https",
      "http2",
      "tls",
      "dgram",
      "dns",
      "child_process",
      "cluster",
      "vm",
      "repl",
      "inspector",
    ];
    expect(trace.builtins).toContain("fs");
    expect(trace.builtins.filter((name) => costly.includes(name))).toEqual([]);
  });

  it("has loaded nothing that serves over HTTP when it answers initialize", () => {
    expect(trace.modules.filter((one) => one.includes("/dist/") && one.includes("/http/"))).toEqual([]);
  });

  it("has loaded no more modules than its budget when it answers initialize", () => {
    expect(trace.modules.length).toBeGreaterThan(50);
    expect(trace.modules.length).toBeLessThanOrEqual(budget);
  });
});

describe("a server over HTTP before its first answer", () => {
  it("has loaded nothing of the live page without the option", async () => {
    const { trace: loaded } = await traceServer([initialize], "http-server.mjs");
    const chunks = loaded.modules.flatMap((one) => /\/dist\/(.*\.js)$/.exec(one)?.[1] ?? []);
    expect(chunks).toContain("http/index.js");
    // The file that is loaded with the option.
    expect(readdirSync(join(root, "dist/chunks"))).toContain("serve-inspector.js");
    expect(chunks.filter((one) => one.includes("inspector"))).toEqual([]);
  });
});
