import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";
import { createWorkshop, emitDeclarations, type Workshop } from "./compile.ts";

/** The part of the compiler's API that this test needs. TypeScript 7 has no such API in JavaScript; tsd brings the last that has. */
interface Compiler {
  readonly ScriptSnapshot: { fromString(text: string): unknown };
  readonly ModuleKind: { readonly NodeNext: number };
  readonly ScriptTarget: { readonly ES2022: number };
  createLanguageService(host: object): LanguageService;
  getDefaultLibFilePath(options: object): string;
}

interface LanguageService {
  getQuickInfoAtPosition(
    path: string,
    position: number,
  ): { readonly displayParts?: Texts; readonly documentation?: Texts } | undefined;
  getDefinitionAtPosition(
    path: string,
    position: number,
  ): readonly { readonly fileName: string; readonly contextSpan?: { readonly start: number } }[] | undefined;
}

type Texts = readonly { readonly text: string }[];

function loadCompiler(): Compiler {
  const fromTsd = createRequire(createRequire(import.meta.url).resolve("tsd"));
  // The package that tsd checks with is TypeScript itself.
  return fromTsd("@tsd/typescript") as Compiler;
}

/** A language service over one file, as an editor has it. */
function openFile(path: string, packagePath: string): LanguageService {
  const compiler = loadCompiler();
  const options = {
    module: compiler.ModuleKind.NodeNext,
    target: compiler.ScriptTarget.ES2022,
    strict: true,
    skipLibCheck: true,
    types: [],
    paths: { "surface-mcp": [packagePath] },
  };
  return compiler.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [path],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name: string) =>
      existsSync(name) ? compiler.ScriptSnapshot.fromString(readFileSync(name, "utf8")) : undefined,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: () => compiler.getDefaultLibFilePath(options),
    fileExists: existsSync,
    readFile: (name: string) => readFileSync(name, "utf8"),
  });
}

const text = `
import { z } from "zod";
import { cell, collection, defineSurface, event, mcp, mcpResource, mcpTool, procedure, stream, type Link } from "surface-mcp";
declare const link: Link;
const Node = z.object({ id: z.string(), status: z.enum(["red", "green"]), started: z.number() });
const surface = defineSurface("ci", {
  nodes: mcpResource(cell({ schema: z.array(Node) })),
  runs: mcpResource(collection({ key: z.string(), schema: z.object({ title: z.string(), nodes: z.array(Node) }) })),
  log: mcpResource(stream({ input: z.object({ node: z.string() }), output: z.object({ line: z.string() }) })),
  config: cell({ schema: z.object({ path: z.string(), depth: z.number() }) }),
  settled: mcpTool(event({ output: z.object({ ok: z.boolean(), why: z.string() }) })),
  "node.rerun": mcpTool(procedure({ input: z.object({ node: z.string() }) })),
  "node.show": mcpTool(procedure({ input: z.object({ node: z.string() }), output: Node })),
  "run.start": mcpTool(procedure({ input: z.object({ strict: z.boolean() }), output: z.object({ id: z.string() }) })),
  "run.stop": mcpTool(procedure({ input: z.object({ id: z.string() }) })),
  "run.configure": procedure({ input: z.object({ strict: z.boolean() }) }),
});
const unlinked = mcp(surface);
const linked = unlinked.bridge(link).tools({ ping: { mutates: false, handler: () => "pong" } });
export { linked };
`;

let workshop: Workshop;
let service: LanguageService;
let path: string;

/** The beginning of what an editor shows for a constant. */
function hover(name: string): string {
  const info = service.getQuickInfoAtPosition(path, text.indexOf(`const ${name}`) + "const ".length);
  const shown = (info?.displayParts ?? []).map((part) => part.text).join("");
  return shown.slice(0, 300);
}

/** The first line of the definition that an editor opens for a name, in the declarations of the package. */
function definitionOf(name: string): string | undefined {
  const [found] = service.getDefinitionAtPosition(path, text.indexOf(`${name}(`)) ?? [];
  if (found?.contextSpan === undefined || !found.fileName.includes("/package/")) return undefined;
  return readFileSync(found.fileName, "utf8").slice(found.contextSpan.start).split("\n")[0];
}

describe("an editor's quick info of an app with ten members", () => {
  beforeAll(async () => {
    workshop = createWorkshop("quick-info");
    await emitDeclarations(workshop);
    workshop.write("app.ts", text);
    path = join(workshop.folder, "app.ts");
    service = openFile(path, join(workshop.folder, "package", "index.d.ts"));
  }, 120_000);

  afterAll(() => workshop.remove());

  it.each([
    ["unlinked", ["settled", "node_rerun", "node_show", "run_start", "run_stop"]],
    ["linked", ["settled", "node_rerun", "node_show", "run_start", "run_stop", "ping"]],
  ])("%s: names its tools within the first 300 characters", (name, tools) => {
    const shown = hover(name);
    expect(tools.filter((tool) => !shown.includes(`"${tool}"`))).toEqual([]);
  });

  it.each(["cell", "mcpTool", "defineSurface", "mcp"])(
    "%s: goes to its definition, and shows its documentation",
    (name) => {
      expect(definitionOf(name)).toMatch(new RegExp(`^(?:export )?declare function ${name}\\b`));
      const info = service.getQuickInfoAtPosition(path, text.indexOf(`${name}(`));
      expect(info?.documentation?.map((part) => part.text).join("")).toMatch(/^[A-Z][^.]+[.:]/);
    },
  );
});
