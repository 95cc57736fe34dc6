import { expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  viewRulesFile,
  type Calls,
  type Caller,
  type Link,
  type MountSource,
  type MutatingToolNames,
  type NamedViews,
  type PromptNames,
  type ResourceNames,
  type Source,
  type ToolNames,
  type ViewReplay,
  type ViewRule,
  type ViewRules,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const source: MountSource;
declare const either: boolean;
declare const none: never;
declare const unchecked: any;
declare const anyText: string;
declare const anyViews: NamedViews;
declare const anyRules: ViewRules;
declare const replaceable: Source<ViewRules>;
declare const caller: Caller;

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  "node.secret": mcpResource(cell({ schema: z.string() })),
  plain: procedure({}),
  "node.run": mcpTool(procedure({})),
  "node.show": readOnly(mcpTool(procedure({}))),
});
const app = mcp(surface)
  .bridge(link)
  .tools({ fix: { handler: () => 1 } })
  .prompts({ "ask.all": { handler: () => "a" } });
type Tools = "node_run" | "node_show" | "fix";

// Views name what there is, by its id or its name on the wire, or by patterns; they take away and add nothing.
const viewed = app.views({
  readonly: { readOnly: true, disallow: ["node_*"], instructions: "Look only" },
  resources: { disallow: ["node.secret", "node_secret"] },
  named: { allow: ["node_run", "node.show", "fix", "state", "ask_all", "ask.all"] },
  spelled: { allow: ["mcp__s__fix", "mcp__s__.fix", "s(fix)", "mcp__my__server__node_run"] },
  globs: { allow: ["no?thing", "*", "mcp__s__*"], face: "direct" },
  locked: { deny: "closed for now" },
  default: {},
});
expectType<Tools>(nameOf<ToolNames<typeof viewed>>());
expectType<"node_run" | "fix">(nameOf<MutatingToolNames<typeof viewed>>());
expectType<"state" | "node.secret">(nameOf<ResourceNames<typeof viewed>>());
expectType<"ask_all">(nameOf<PromptNames<typeof viewed>>());

// What the app does not have is a mistake.
expectError(app.views({ v: { allow: ["nope"] } }));
expectError(app.views({ v: { disallow: ["fix", "node_rum"] } }));
expectError(app.views({ v: { allow: ["plain"] } }));
expectError(app.views({ v: { allow: ["Fix"] } }));
expectError(app.views({ v: { allow: ["mcp__s__nope"] } }));
expectError(app.views({ v: { allow: ["s(nope)"] } }));
expectError(app.views({ v: { allow: ["toString"] } }));
expectError(app.views({ v: { allow: [""] } }));
expectError(app.views({ v: { allow: [anyText] } }));
expectError(app.views({ v: { allow: "fix" } }));
expectError(app.views({ v: { allow: [1] } }));
expectError(app.views({ v: { allow: [either ? "fix" : "nope"] } }));
app.views({ v: { allow: [either ? "fix" : "node_run"] } });
expectError(app.views({ v: { disallow: ["replay"] } }));
app.views({ v: { disallow: ["replay"] } }, { replay: true });
// So is what a later step adds: views come last.
expectError(app.views({ v: { allow: ["late"] } }).tools({ late: { handler: () => 1 } }));
app.tools({ late: { handler: () => 1 } }).views({ v: { allow: ["late"] } });
app.pull().views({ v: { disallow: ["read_resource"] } });
app.mount("git", source).views({ v: { allow: ["git_status", "git.branch.list"] } });
expectError(app.mount("git", source).views({ v: { allow: ["hub_status"] } }));

// And what a view does not have.
expectError(app.views({ v: { alow: ["fix"] } }));
expectError(app.views({ v: { kind: "tool_surface" } }));
expectError(app.views({ v: { face: "gatewy" } }));
expectError(app.views({ v: { face: anyText } }));
expectError(app.views({ v: { readOnly: "yes" } }));
expectError(app.views({ v: { deny: "no", allow: ["fix"] } }));
expectError(app.views({ v: { deny: true } }));
expectError(app.views({ v: 1 }));
expectError(app.views({ default: {} }, { replay: "yes" }));
expectError(app.views({ default: {} }, { nope: true }));
expectError(app.views());
expectError(app.views({}));
expectError(app.views([]));
expectError(app.views(1));
expectError(app.views(anyViews));

// Once an app, and behind the link.
expectError(app.views({ default: {} }).views({ default: {} }));
expectError(
  app
    .views({ default: {} })
    .tools({ late: { handler: () => 1 } })
    .views({ default: {} }),
);
expectError(mcp(surface).views({ default: {} }));

// A gateway has four tools, of which one may change something.
const gateway = app.views({ hub: { face: "gateway" }, plain: {} });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof gateway>>());
expectType<"node_run" | "fix" | "call">(nameOf<MutatingToolNames<typeof gateway>>());
const chosen = app.views({ hub: { face: either ? "gateway" : "direct" } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof chosen>>());
const spread = app.views({ hub: { ...(either ? { face: "gateway" } : {}) } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof spread>>());
const unsaid = app.views({ hub: { face: unchecked } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof unsaid>>());
const never = app.views({ hub: { face: "direct" as never } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof never>>());
const asserted = app.views(none);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof asserted>>());
// A view may have any name, also one that has a meaning in other forms of rules.
const calledRules = app.views({ rules: { face: "gateway" } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof calledRules>>());
const besideRules = app.views({ rules: { readOnly: true }, hub: { face: "gateway" } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof besideRules>>());
const besideVerdict = app.views({ verdict: { readOnly: true }, hub: { face: "gateway" } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof besideVerdict>>());
const besideDomain = app.views({ id: {}, domain: {}, hub: { face: "gateway" } });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof besideDomain>>());
const calledGet = app.views({ get: { face: "gateway" }, subscribe: {} });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof calledGet>>());
const calledSo = app.views({ rules: {}, verdict: {}, id: {}, domain: {}, get: {}, subscribe: {} });
expectType<Tools>(nameOf<ToolNames<typeof calledSo>>());
expectError(app.views({ rules: { face: "gateway" } }).tools({ search: { handler: () => 1 } }));
expectError(app.views({ get: { allow: ["nope"] }, domain: {} }));

// A type may say less of a view than there is.
const narrowed = app.views({ hub: narrowView() });
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof narrowed>>());
const narrowedRules = app.views([{ verdict: narrowVerdict() }]);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof narrowedRules>>());
const saidDirect = app.views({ hub: { ...narrowView(), face: "direct" }, locked: { deny: anyText } });
expectType<Tools>(nameOf<ToolNames<typeof saidDirect>>());
const deniedRules = app.views([{ verdict: { kind: "deny", reason: anyText } }]);
expectType<Tools>(nameOf<ToolNames<typeof deniedRules>>());

const vague = app.views(unchecked);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof vague>>());

// Its names are taken, before and after.
const handler = () => 1;
expectError(app.tools({ list: { handler } }).views({ hub: { face: "gateway" } }));
expectError(app.views({ hub: { face: "gateway" } }).tools({ list: { handler } }));
expectError(app.views({ hub: { face: "gateway" } }).tools({ call: { handler } }));
expectError(app.views(replaceable).tools({ search: { handler } }));
expectError(app.tools({ schema: { handler } }).views(replaceable));
expectError(
  mcp(defineSurface("s", { list: mcpTool(procedure({})) }))
    .bridge(link)
    .views({ hub: { face: "gateway" } }),
);
app.tools({ list: { handler } }).views({ plain: { face: "direct" } });

// Rules and packets in their own form are read at boot; what they may show counts.
const rules = app.views([{ id: "a", when: { surface: ["a", "b"] }, verdict: { kind: "tool_surface", allow: ["x"] } }]);
expectType<Tools>(nameOf<ToolNames<typeof rules>>());
const gatewayRules = app.views([
  { verdict: { kind: "deny", reason: "no" } },
  { verdict: { kind: "tool_surface", face: "gateway" } },
]);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof gatewayRules>>());
const packet = app.views({
  id: "p",
  domain: "mcp-surface/routing",
  rules: [{ verdict: { kind: "tool_surface", face: "gateway" } }],
});
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof packet>>());
const packets = app.views([{ id: "p", domain: "mcp-surface/routing", rules: [{ verdict: { kind: "tool_surface" } }] }]);
expectType<Tools>(nameOf<ToolNames<typeof packets>>());
const widened = app.views(anyRules);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof widened>>());
const widenedRules = app.views([anyRule()]);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof widenedRules>>());
const replaced = app.views(replaceable);
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof replaced>>());
expectType<"node_run" | "fix" | "call">(nameOf<MutatingToolNames<typeof replaced>>());
const filed = app.views(viewRulesFile("views.json"));
expectType<Tools | "call" | "list" | "schema" | "search">(nameOf<ToolNames<typeof filed>>());
expectError(app.views([{ verdict: { kind: "allow" } }]));
expectError(app.views([{ when: { surfce: "a" }, verdict: { kind: "deny", reason: "no" } }]));
expectError(app.views({ id: "p", domain: "else/where", rules: [] }));

// The tool that replays.
const replays = app.views({ v: { disallow: ["fix"] } }, { replay: true });
expectType<Tools | "replay">(nameOf<ToolNames<typeof replays>>());
expectType<"node_run" | "fix">(nameOf<MutatingToolNames<typeof replays>>());
const maybe = app.views({ default: {} }, { replay: either });
expectType<Tools | "replay">(nameOf<ToolNames<typeof maybe>>());
expectType<Tools>(nameOf<ToolNames<typeof without>>());
const without = app.views({ default: {} }, { replay: false });
// Options that do not say it may have it nevertheless.
expectError(app.views({ default: {} }, noOptions()));
expectError(app.tools({ replay: { handler } }).views({ default: {} }, { replay: true }));
expectError(app.views({ default: {} }, { replay: true }).tools({ replay: { handler } }));
app.tools({ replay: { handler } }).views({ default: {} });

// Replays and calls are there without serving.
expectType<ViewReplay>(app.replay());
expectType<ViewReplay>(viewed.replay({ surface: "readonly", project: "web", caller }));
expectError(viewed.replay({ surfce: "readonly" }));
expectError(mcp(surface).replay());
expectType<Calls>(viewed.calls);
expectError(mcp(surface).calls.roots());

declare function nameOf<TName>(): TName;
declare function anyRule(): ViewRule;
declare function narrowView(): { readonly instructions: string };
declare function narrowVerdict(): { readonly kind: "tool_surface"; readonly readOnly?: boolean };
declare function noOptions(): {};
