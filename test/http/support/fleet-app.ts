import * as z from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  Refusal,
  type OperationRegistry,
  type ServableApp,
  type ViewRule,
  type WritableSource,
} from "../../../src/index.ts";

const node = z.object({ node: z.string() });

/** A surface with something to look at, and something to change. */
export const fleetSurface = defineSurface("fleet", {
  state: mcpResource(cell({ schema: z.object({ nodes: z.number() }) })),
  secrets: mcpResource(cell({ schema: z.object({ keys: z.number() }) })),
  "node.show": readOnly(mcpTool(procedure({ input: node, output: node }))),
  "node.stop": mcpTool(procedure({ input: node, output: node })),
  "site.drop": mcpTool(procedure({ input: z.object({ repo: z.string() }), output: z.string() }), {
    scopes: ["fleet:admin"],
  }),
  "repo.push": mcpTool(procedure({ input: z.object({ repo: z.string() }), output: z.string() }), {
    resource: { type: "repo", action: "write", argument: "repo" },
  }),
});

/** The rules that the app begins with. */
export const firstRules: readonly ViewRule[] = [
  {
    id: "readonly",
    when: { surface: "readonly" },
    verdict: { kind: "tool_surface", readOnly: true, disallow: ["secrets"], instructions: "Only look." },
  },
  { id: "executor", when: { surface: "executor" }, verdict: { kind: "tool_surface", disallow: ["secrets", "hub_*"] } },
  { id: "hub", when: { surface: "hub" }, verdict: { kind: "tool_surface", allow: ["hub.*"], face: "gateway" } },
  { id: "locked", when: { surface: "locked" }, verdict: { kind: "deny", reason: "it is being repaired" } },
];

/** What a test may look into. */
export interface Fleet {
  readonly app: ServableApp;
  readonly rules: WritableSource<readonly ViewRule[]>;
  readonly hub: OperationRegistry;
  /** What has run, by name. */
  readonly ran: string[];
  /** Changes what is watched. */
  readonly change: () => void;
}

function fill(hub: OperationRegistry, ran: string[]): void {
  for (let at = 0; at < 20; at += 1) {
    const operation = { name: `task.step_${at}`, description: `Takes step ${at}`, type: "query" } as const;
    hub.register({ ...operation, inputSchema: z.object({ by: z.number() }) }, ({ by }) => {
      ran.push(`step ${at}`);
      return { at, by };
    });
  }
  hub.register({ name: "task.fail", description: "Always fails" }, () => {
    throw new Refusal("NO_ROOM", "there is no room");
  });
}

/** Makes the app, with 21 operations mounted as `hub`. */
export function createFleet(): Fleet {
  const ran: string[] = [];
  const hub = operationRegistry();
  fill(hub, ran);
  const rules = cellSource(firstRules);
  const state = cellSource({ nodes: 1 });
  const run =
    (name: string) =>
    <TInput>(input: TInput): TInput => {
      ran.push(name);
      return input;
    };
  const app = mcp(fleetSurface, { instructions: "A fleet.", onFault: () => {} })
    .implement({
      state,
      secrets: cellSource({ keys: 7 }),
      "node.show": run("node.show"),
      "node.stop": run("node.stop"),
      "site.drop": ({ repo }) => run("site.drop")(repo),
      "repo.push": ({ repo }) => run("repo.push")(repo),
    })
    .mount("hub", hub)
    .views(rules);
  return { app, rules, hub, ran, change: () => state.set({ nodes: state.get().nodes + 1 }) };
}
