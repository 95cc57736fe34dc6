import { anonymous, type Caller } from "../../src/surface/caller.ts";

/** Somebody who comes by a view. */
export interface Coming {
  readonly who: string;
  readonly surface: string;
  /** Left out: nobody knows who it is. */
  readonly scopes?: readonly string[];
}

/** Those who are let in: by every sort of view, and with every sort of grant. */
export const letIn: readonly Coming[] = [
  { who: "anybody", surface: "default" },
  { who: "anybody", surface: "readonly" },
  { who: "anybody", surface: "hub" },
  { who: "somebody who was granted nothing", surface: "default", scopes: [] },
  { who: "somebody who may read", surface: "default", scopes: ["ci:read"] },
  { who: "somebody who may read", surface: "hub", scopes: ["ci:read"] },
  { who: "somebody who may do everything", surface: "readonly", scopes: ["ci:read", "ci:write", "extra"] },
];

/** Those who are not. */
export const keptOut: readonly Coming[] = [
  { who: "anybody", surface: "locked" },
  { who: "anybody", surface: "never heard of" },
  { who: "somebody who may do everything", surface: "locked", scopes: ["ci:read", "ci:write", "extra"] },
];

/** The caller that somebody is, over standard input and output. */
export function toCaller({ surface, scopes }: Coming): Caller {
  const view = { surface };
  return scopes === undefined ? { ...anonymous, view } : { id: "ann", isAnonymous: false, scopes, view };
}

/** One request for the views app. */
export type ViewAsk = readonly [method: string, params: object];

const call = (name: string, args: object = {}): ViewAsk => ["tools/call", { name, arguments: args }];
const completion = (ref: object, name: string): ViewAsk => [
  "completion/complete",
  { ref, argument: { name, value: "" } },
];

/** What is asked of something by its name, right and wrong: of what is hidden it is to be answered as of what never was. */
function asksOf(tool: string, prompt: string, path: string): readonly ViewAsk[] {
  return [
    call(tool, { text: "x", node: "x" }),
    call(tool, { text: 5 }),
    ["prompts/get", { name: prompt, arguments: { tone: "kind" } }],
    completion({ type: "ref/prompt", name: prompt }, "tone"),
    ["resources/read", { uri: `surface://ci/${path}` }],
    call("read_resource", { uri: `surface://ci/${path}` }),
  ];
}

/** Everything that views have a say in, for the views app. */
export const viewAsks: readonly ViewAsk[] = [
  ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map(
    (method) => [method, {}] as const,
  ),
  ...asksOf("note", "plan", "secrets"),
  ...asksOf("node_peek", "review", "status"),
  ...asksOf("nope", "nope", "nope"),
  call("big"),
  call("granted"),
  call("ops_git_branch", { name: "main" }),
  call("ops_git_push"),
  ["resources/read", { uri: "app://vault/a" }],
  completion({ type: "ref/resource", uri: "app://vault/{box}" }, "box"),
  call("wait_for_change", { uris: ["surface://ci/secrets"], timeout_ms: 1 }),
  call("replay", { action: "replay", surface: "readonly" }),
  call("replay", { action: "describe", surface: "hub" }),
  call("list"),
  call("search", { q: "git" }),
  call("search", {}),
  call("schema", { tools: ["node.peek", "granted", "nope"] }),
  call("call", {
    calls: [
      { tool: "node.peek", input: { node: "a" } },
      { tool: "node.rerun", input: { node: "a" } },
      { tool: "node.peek", input: { node: 5 } },
      { tool: "granted" },
      { tool: "nope" },
    ],
  }),
];
