/**
 * The server under attack, on the built package. Serves over HTTP, listens for web sockets, and takes commands as JSON
 * lines on standard input: each is answered with one line on standard output.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  implementSurface,
  listenWebSocket,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  type ViewRules,
} from "surface-mcp";
import { bearer, http } from "surface-mcp/http";
import { z } from "zod";
import { foreignOperations } from "./foreign-operations.ts";
import { slowMs, socketToken, tenantOf, tenants } from "./targets.ts";

const resource = "https://attack.example/mcp";
const counts = { bumped: 0, erased: 0, verified: 0 };

const surface = defineSurface("ci", {
  count: mcpResource(cell({ schema: z.number() })),
  large: mcpResource(cell({ schema: z.string() })),
  vaultKeys: cell({ schema: z.string() }),
  rows: mcpResource(collection({ key: z.string(), schema: z.string() })),
  bump: mcpTool(procedure({ input: z.object({ by: z.number().default(1) }), output: z.number() })),
  "secret.show": readOnly(mcpTool(procedure({ input: z.object({ of: z.string() }), output: z.string() }))),
  "vault.open": procedure({ input: z.object({ of: z.string() }), output: z.string() }),
});

const handlers = {
  count: cellSource(1),
  large: cellSource("x".repeat(1_000_000)),
  vaultKeys: cellSource("vault content"),
  rows: cellSource(new Map([["a", "row a"]])),
  bump: () => (counts.bumped += 1),
  "secret.show": () => "secret content",
  "vault.open": () => "vault content",
};

const rules = cellSource<ViewRules>([]);

/** The rules of one version: view "narrow" hides the secrets, and what "report" says names the version. */
function rulesOf(version: number): ViewRules {
  const hide = { kind: "tool_surface", disallow: ["secret*", ...(version % 2 === 0 ? [] : ["bump"])] } as const;
  return [
    { id: `narrow-${version}`, when: { surface: "narrow" }, verdict: hide },
    { id: "hub", when: { surface: "hub" }, verdict: { ...hide, face: "gateway" } },
    { id: "open", when: {}, verdict: { kind: "tool_surface" } },
  ];
}
rules.set(rulesOf(0));

const app = mcp(surface, { maxResultBytes: 4096 })
  .implement(handlers)
  .tools({
    report: {
      mutates: false,
      handler: (_args, { caller }) => ({ text: `<owner ${tenantOf(caller)}>`.repeat(1000) }),
    },
    erase: {
      confirm: true,
      handler: () => (counts.erased += 1),
    },
  })
  .pull()
  .mount("foreign", foreignOperations)
  .views(rules);

const auth = bearer({
  resource,
  identityClaims: ["tenant"],
  verify: async (token) => {
    counts.verified += 1;
    const tenant = tenants.find((each) => each.token === token);
    if (tenant !== undefined)
      return { scopes: ["ci:read", "ci:write", "foreign:read", "foreign:write"], resource, ...tenant.identity };
    await sleep(slowMs);
    return undefined;
  },
});

const sockets = await listenWebSocket(implementSurface(surface, handlers), { port: 0, token: socketToken });
const serving = await app.serve(http({ port: 0, auth, exit: false }));

type Command = { readonly id: number; readonly rules?: number };

for await (const line of createInterface({ input: process.stdin })) {
  // Written by the scenarios.
  const { id, rules: version } = JSON.parse(line) as Command;
  if (version !== undefined) rules.set(rulesOf(version));
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1e6);
  process.stdout.write(`${JSON.stringify({ id, ...counts, heapMb, url: serving.url, socketUrl: sockets.url })}\n`);
}
process.exit(0);
