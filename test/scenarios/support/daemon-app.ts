import * as z from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  type ServableApp,
  type ViewPacket,
  type ViewReplay,
  type ViewRules,
  type Source,
  type WritableSource,
} from "../../../src/index.ts";

const blackbox = defineSurface("blackbox", {
  threads: mcpResource(cell({ schema: z.array(z.string()), description: "Open threads" })),
  decisions: mcpResource(cell({ schema: z.array(z.string()) })),
});

/** What the daemon has to look at. */
export const readingTools: readonly string[] = ["bbox_hybrid_search", "bbox_inspect_entity", "bbox_knowledge"];

/** What it changes by. */
export const writingTools: readonly string[] = [
  "bbox_absorb",
  "bbox_artifact_install",
  "bbox_decide",
  "bbox_forget",
  "bbox_learn",
  "bbox_note",
  "bbox_note_resolve",
  "bbox_pin",
  "bbox_refactor_apply",
  "bbox_refactor_plan",
  "bbox_remember",
  "bbox_render",
  "bbox_thread",
  "bro_broadcast",
  "bro_exec",
  "bro_orchestrate_author",
  "bro_orchestrate_run",
  "bro_resume",
];

/** All of its tools, but for the one that replays. */
export const allTools: readonly string[] = [...readingTools, ...writingTools].toSorted();

/** The packet of the document that views were conceived from, word for word. */
export const readonlyPacket: ViewPacket = {
  id: "surface-readonly",
  domain: "mcp-surface/routing",
  description: "Read-only surface: search and inspect, no writes",
  rules: [
    {
      when: { surface: "readonly" },
      verdict: {
        kind: "tool_surface",
        disallow: [
          "bbox_learn",
          "bbox_remember",
          "bbox_decide",
          "bbox_pin",
          "bbox_note",
          "bbox_note_resolve",
          "bbox_forget",
          "bbox_thread",
          "bbox_render",
          "bbox_absorb",
          "bro_exec",
          "bro_resume",
          "bro_broadcast",
          "bro_orchestrate_run",
          "bro_orchestrate_author",
          "bbox_refactor_*",
          "bbox_artifact_install",
        ],
        instructions: "Read-only surface. Inspect and search freely; do not propose writes.",
      },
    },
  ],
};

/** A packet of the views of every agent in the house. */
export const housePacket: ViewPacket = {
  id: "house",
  domain: "mcp-surface/routing",
  rules: [
    ...readonlyPacket.rules,
    {
      id: "reviewer",
      when: { surface: "reviewer" },
      verdict: {
        kind: "tool_surface",
        allow: ["bbox_hybrid_search", "bbox_inspect_entity", "bbox_knowledge", "bbox_note*", "threads", "look"],
        disallow: ["bro_exec", "bro_resume", "bbox_learn", "bbox_decide", "bbox_note_*"],
        instructions: "You are operating in read-only mode. Do not propose writes.",
      },
    },
    { id: "executor", when: { surface: "executor" }, verdict: { kind: "tool_surface", allow: [] } },
    { id: "nobody", when: { surface: "nobody" }, verdict: { kind: "tool_surface", disallow: ["*"] } },
    {
      id: "internal",
      when: { surface: "workflow" },
      verdict: { kind: "deny", reason: "only dispatched workflows come by this" },
    },
    {
      id: "agents",
      when: { surface: "observer", user_agent: ["audit/1", "audit/2"], project: "blackbox" },
      verdict: { kind: "tool_surface", allow: ["bbox_inspect_*"] },
    },
  ],
};

/** A daemon, and what a test may look into. */
export interface Daemon {
  readonly app: ServableApp & { readonly replay: (options?: { surface?: string; project?: string }) => ViewReplay };
  readonly ran: string[];
  readonly decisions: WritableSource<string[]>;
}

const words = { input: z.object({ text: z.string().default("") }) } as const;

interface DaemonTool {
  readonly input: typeof words.input;
  readonly mutates: boolean;
  readonly description: string;
  readonly handler: (args: { readonly text: string }) => string;
}

/** Makes one, by the rules that it is given. */
export function createDaemon(rules: Source<ViewRules>): Daemon {
  const ran: string[] = [];
  const decisions = cellSource<string[]>(["keep it small"]);
  const tool = (name: string, mutates: boolean): DaemonTool => ({
    ...words,
    mutates,
    description: `Does ${name}`,
    handler: ({ text }) => {
      ran.push(name);
      return text;
    },
  });
  const app = mcp(blackbox, { instructions: "A black box.", onFault: () => {} })
    .implement({ threads: cellSource(["thread-1"]), decisions })
    .tools({
      bbox_hybrid_search: tool("bbox_hybrid_search", false),
      bbox_inspect_entity: tool("bbox_inspect_entity", false),
      bbox_knowledge: tool("bbox_knowledge", false),
      bbox_absorb: tool("bbox_absorb", true),
      bbox_artifact_install: tool("bbox_artifact_install", true),
      bbox_decide: tool("bbox_decide", true),
      bbox_forget: tool("bbox_forget", true),
      bbox_learn: tool("bbox_learn", true),
      bbox_note: tool("bbox_note", true),
      bbox_note_resolve: tool("bbox_note_resolve", true),
      bbox_pin: tool("bbox_pin", true),
      bbox_refactor_apply: tool("bbox_refactor_apply", true),
      bbox_refactor_plan: tool("bbox_refactor_plan", true),
      bbox_remember: tool("bbox_remember", true),
      bbox_render: tool("bbox_render", true),
      bbox_thread: tool("bbox_thread", true),
      bro_broadcast: tool("bro_broadcast", true),
      bro_exec: tool("bro_exec", true),
      bro_orchestrate_author: tool("bro_orchestrate_author", true),
      bro_orchestrate_run: tool("bro_orchestrate_run", true),
      bro_resume: tool("bro_resume", true),
    })
    .prompts({
      look: { input: z.object({ tone: z.enum(["kind", "strict"]) }), handler: ({ tone }) => `Look, ${tone}` },
      decide: { input: z.object({ tone: z.enum(["kind", "strict"]) }), handler: ({ tone }) => `Decide, ${tone}` },
    })
    .views(rules, { replay: true });
  return { app, ran, decisions };
}
