/** The source text of an app that exposes every procedure of a router, or every operation of a document, of a given size. */

const input = "input(z.object({ id: z.string() }))";

/** Operations of a document as `openapi-typescript` types them, without and with a required argument. */
const bare =
  "{ parameters: { query?: never; path?: never }; responses: { 200: { content: { 'application/json': 1 } } } }";
const asking = bare.replace("query?: never", "query: { id: string }");

/** Procedures of each kind of source with their exposures, which are repeated in this order, and the code around them. */
const kinds = {
  tRPC: {
    imports: `import { initTRPC } from "@trpc/server";
import { mcpTrpc } from "surface-mcp/from/trpc";
const t = initTRPC.context<{ readonly user: string }>().create();`,
    procedures: [
      ["t.procedure.query(() => 1)", '"resource"'],
      [`t.procedure.${input}.query(({ input }) => input)`, '"tool"'],
      [`t.procedure.${input}.mutation(({ input }) => input)`, "{ tool: { confirm: true } }"],
      ["t.procedure.subscription(async function* () { yield 1; })", '"resource"'],
      ["t.procedure.mutation(() => 1)", '"tool"'],
    ],
    keyOf: ({ part, key }) => `${part}.${key}`,
    toSource: (all) => `const router = t.router({\n${toParts(all, "t.router({", "})")}\n});
export const record = router._def.record;`,
    toApp: (map) => `mcpTrpc(router, ${map}, { context: () => ({ user: "a" }) })`,
    tool: "part0_p1",
  },
  oRPC: {
    imports: `import { createRouterClient, os } from "@orpc/server";
import { mcpOrpc } from "surface-mcp/from/orpc";
const base = os.$context<{ readonly user: string }>();`,
    procedures: [
      ["base.handler(() => 1)", '{ read: "resource" }'],
      [`base.${input}.handler(({ input }) => input)`, '"read"'],
      [`base.${input}.handler(({ input }) => input)`, "{ write: { tool: { confirm: true } } }"],
      ["base.handler(async function* () { yield 1; })", '{ stream: "resource" }'],
      ["base.handler(() => 1)", '"write"'],
    ],
    keyOf: ({ part, key }) => `${part}.${key}`,
    toSource: (all) => `const router = {\n${toParts(all, "{", "}")}\n};
export const client = createRouterClient(router, { context: { user: "a" } });`,
    toApp: (map) => `mcpOrpc(router, ${map}, { client: () => client })`,
    tool: "part0_p1",
  },
  OpenAPI: {
    imports: `import { defineSurface, mcp } from "surface-mcp";
import { fromOpenApi, type OpenApiDocument } from "surface-mcp/from/openapi";`,
    procedures: [
      [["get", bare], '"resource"'],
      [["get", asking], '"read"'],
      [["post", asking], "{ write: { confirm: true } }"],
      [["get", bare], '"resource"'],
      [["delete", bare], '"write"'],
    ],
    keyOf: ({ part, key, text: [method] }) => `${method.toUpperCase()} /${part}/{id}/${key}`,
    toSource: (all) => `interface operations {
${all.map(({ key, text: [, operation] }) => `  ${key}: ${operation};`).join("\n")}
}
interface paths {
${all.map(({ part, key, text: [method] }) => `  "/${part}/{id}/${key}": { ${methodsOf(key, method)} };`).join("\n")}
}
export declare const document: OpenApiDocument<paths, operations>;`,
    toApp: (map) =>
      `mcp(defineSurface("hub", {})).implement({}).mount("api", fromOpenApi(document, ${map}, { baseUrl: "https://a.example" }))`,
    tool: "api_GET_part0_id_p1",
  },
};

/** The kinds of sources whose cost is measured. */
export const routerKinds = Object.keys(kinds);

/** Returns the methods of a path, all but one without an operation. */
function methodsOf(key, own) {
  const types = ["get", "put", "post", "delete"].map((method) =>
    method === own ? `${method}: operations["${key}"]` : `${method}?: never`,
  );
  return types.join("; ");
}

/** Returns the parts of a router. */
function toParts(all, open, close) {
  const parts = [...new Set(all.map(({ part }) => part))].map((part) => {
    const own = all.filter((each) => each.part === part).map(({ key, text }) => `    ${key}: ${text},`);
    return `  ${part}: ${open}\n${own.join("\n")}\n  ${close},`;
  });
  return parts.join("\n");
}

/** A source of so many procedures, twenty in each of its parts; `mounted`: all of them exposed in an app, whose names are asserted. */
export function routerSource(kind, count, { mounted = true } = {}) {
  const { imports, procedures, keyOf, toSource, toApp, tool } = kinds[kind];
  const all = Array.from({ length: count }, (_, index) => {
    const [text, exposure] = procedures[index % procedures.length];
    return { part: `part${Math.floor(index / 20)}`, key: `p${index}`, text, exposure };
  });
  const map = `{\n${all.map((each) => `  "${keyOf(each)}": ${each.exposure},`).join("\n")}\n}`;
  const exposing = `
const app = ${toApp(map)};
const tools: readonly ToolNames<typeof app>[] = [${count > 1 ? `"${tool}"` : ""}];
const mutating: readonly MutatingToolNames<typeof app>[] = [];
`;
  return `import { z } from "zod";
import type { MutatingToolNames, ToolNames } from "surface-mcp";
${imports}
${toSource(all)}
${mounted ? exposing : ""}`;
}
