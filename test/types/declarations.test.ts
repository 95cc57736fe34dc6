import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";
import { createWorkshop, emitDeclarations, emitProject, type Workshop } from "./compile.ts";

// What a package that shares its surface exports, without an annotation anywhere.
const shared = `
import { z } from "zod";
import {
  cell, cellSource, collection, defineSurface, event, implementSurface, inProcess, mcp, mcpResource, mcpTool, procedure,
  readOnly, stream,
} from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
export const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  rows: collection({ key: z.string(), schema: z.number() }),
  log: stream({ input: z.string(), output: z.string() }),
  done: mcpTool(event({ output: z.string() })),
  "node.run": mcpTool(procedure({})),
  "node.show": readOnly(mcpTool(procedure({ output: z.string(), progress: z.number() }))),
});
export const member = mcpTool(procedure({ input: z.string() }), { mutates: false });
export const live = implementSurface(surface, {
  state: cellSource(0),
  rows: cellSource(new Map<string, number>()),
  log: async function* () { yield ""; },
  done: async function* () { yield ""; },
  "node.run": () => {},
  "node.show": () => "",
});
export const unlinked = mcp(surface);
export const app = unlinked
  .bridge(inProcess(live))
  .expose({ log: "resource" })
  .tools({
    start: { input: z.object({ a: z.string() }), mutates: false, handler: ({ a }) => a },
    stop: { handler: () => 1 },
  });
export const client = createTestClient(app);
`;

let workshop: Workshop;
let written: { readonly problems: readonly string[]; readonly text: string };

describe("the declarations of a package that uses this one", () => {
  beforeAll(async () => {
    workshop = createWorkshop("declarations");
    // Installed, and not mapped: what can be named depends on the package's own exports.
    await emitDeclarations(workshop, "node_modules/surface-mcp/dist");
    copyFileSync(join(root, "package.json"), join(workshop.folder, "node_modules", "surface-mcp", "package.json"));
    workshop.write("package.json", '{ "type": "module" }');
    workshop.write("shared.ts", shared);
    written = emitProject(workshop, "shared.ts");
  }, 60_000);

  afterAll(() => workshop.remove());

  it("a surface, an app and a test client are exported without an annotation when declarations are written", () => {
    expect(written.problems).toEqual([]);
  });

  it("an app's declaration shows its names, and not how they came about", () => {
    const declaration = /export declare const app: [^]*?;\n(?=export)/.exec(written.text)?.[0] ?? "";
    expect(declaration).toMatchSnapshot();
  });
});
