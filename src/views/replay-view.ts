import { authorise } from "../call/authorise.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import { gatewayToolNames, replayOrigin, replayToolName } from "../catalog/wire-name.ts";
import { toToolHints } from "../catalog/tool-head.ts";
import { invalidArgument, argumentOf } from "../catalog/tool-schemas.ts";
import { deepFreeze, type JsonObject } from "../schema/json.ts";
import { defaultView, type Caller } from "../surface/caller.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import { toEntity, type Decision } from "./compile-rules.ts";
import { show, narrowToGrants, type HiddenEntry } from "./show.ts";
import type { ViewEntity, ViewVerdict } from "./view-rules.ts";
import type { Views } from "./views.ts";
import { toDefined } from "../observe/to-defined.ts";

/** The result of a replay: the entries that a caller would see, and what hides the others. Requests get the same decision. */
export interface ViewReplay {
  /** The facts about the caller that the rules get. */
  readonly entity: ViewEntity;
  readonly verdict: ViewVerdict;
  /** The wire names of the listed tools. Empty if the view is denied. */
  readonly visible_tools: readonly string[];
  readonly visible_tool_count: number;
  /** The ids of the listed resources and templates. */
  readonly visible_resources: readonly string[];
  /** The ids of the operations behind a gateway; left out without a gateway. */
  readonly operations?: readonly string[];
  /** All other entries, each with what hides it. */
  readonly hidden: readonly HiddenEntry[];
}

/** Dependencies and input of {@link replayView}. */
export interface ReplayDeps {
  readonly views: Views;
  /** All entries, with the tools of `pull()` and `views()`. */
  readonly catalog: Catalog;
  readonly caller: Caller;
  /** Leaves entries that the caller has no right to out of `hidden` and the patterns, for an answer to that caller. @default false */
  readonly isForCaller?: boolean;
}

/** Removes the entries that a caller has no right to from the parts of a replay that name hidden entries. */
interface Visibility {
  readonly hidden: (hidden: readonly HiddenEntry[]) => readonly HiddenEntry[];
  /** Removes patterns that match only such entries. */
  readonly verdict: (decision: Decision) => ViewVerdict;
}

type Entry = Named & EntryGuard & Pick<ToolEntry, "isInternal">;

function visibilityFor(catalog: Catalog, caller: Caller): Visibility {
  const { tools, prompts, resources, templates } = catalog;
  const all: readonly Entry[] = [...tools, ...prompts, ...resources, ...templates];
  const known = all.filter((entry) => entry.isInternal !== true && authorise(caller, entry) === undefined);
  const ofTools: ReadonlySet<Entry> = new Set(tools);
  const knownEntries = new Set(known);
  const unknown = all.filter((entry) => !knownEntries.has(entry));
  const unknownIds = new Set(unknown.map(({ id }) => id));
  const keep = (patterns: readonly string[] | undefined, server: string | undefined): readonly string[] | undefined =>
    patterns?.filter((pattern) => {
      // Only names of tools may have the server's name in front.
      const [ofTool, ofOther] = [toMatcher([pattern], server), toMatcher([pattern])];
      const fits = (entry: Entry): boolean => (ofTools.has(entry) ? ofTool : ofOther)(entry) !== undefined;
      return !unknown.some(fits) || known.some(fits);
    });
  return {
    hidden: (hidden) => Object.freeze(hidden.filter(({ name }) => !unknownIds.has(name))),
    verdict({ verdict, server }) {
      if (verdict.kind === "deny" || unknown.length === 0) return verdict;
      return {
        ...verdict,
        ...toDefined({ allow: keep(verdict.allow, server), disallow: keep(verdict.disallow, server) }),
      };
    },
  };
}

function idsOf(entries: readonly { readonly id: string }[]): readonly string[] {
  return Object.freeze([...new Set(entries.map(({ id }) => id))].toSorted());
}

/** Returns the names of the listed tools. A gateway's tools require the read scope. */
function listedTools({ face, catalog }: ReturnType<typeof show>, caller: Caller): readonly string[] {
  if (face === "direct") return Object.freeze(catalog.tools.map(({ name }) => name).toSorted());
  const isGranted = authorise(caller, { scopes: [catalog.scopes.read] }) === undefined;
  return isGranted ? gatewayToolNames : Object.freeze([]);
}

/** Returns what a view shows to a caller, and what hides the rest, by the functions that decide for requests. */
export function replayView({ views, catalog: whole, caller, isForCaller = false }: ReplayDeps): ViewReplay {
  const entity = toEntity(caller);
  const decision = views.decide(entity);
  const shown = narrowToGrants(show(whole, decision), caller);
  const visibility = isForCaller ? visibilityFor(whole, caller) : undefined;
  const { face, catalog, hidden } = shown;
  const visible = listedTools(shown, caller);
  return Object.freeze({
    entity,
    verdict: visibility?.verdict(decision) ?? decision.verdict,
    visible_tools: visible,
    visible_tool_count: visible.length,
    ...(face === "gateway" ? { operations: idsOf(catalog.tools) } : {}),
    visible_resources: idsOf([...catalog.resources, ...catalog.templates]),
    hidden: visibility?.hidden(hidden) ?? hidden,
  });
}

/** The deadline of a replay in milliseconds. It waits for nothing. */
const timeoutMs = 10_000;

const maxNameLength = 256;
const actions = ["replay", "list", "describe"] as const;

interface ReplayRequest {
  readonly action: (typeof actions)[number];
  readonly surface: string;
  readonly project: string | undefined;
}

const inputSchema = deepFreeze({
  type: "object",
  properties: {
    action: { type: "string", enum: [...actions], description: "replay, list or describe, as explained above" },
    surface: { type: "string", maxLength: maxNameLength, description: 'Name of the view; default "default"' },
    project: { type: "string", maxLength: maxNameLength, description: "Project for which to choose the rules, if any" },
  },
  required: ["action"],
});

const description =
  "Find out which tools and resources a view of this server shows, without connecting to it. Pass action replay to get the visible tools " +
  "and resources, the hidden ones, and the rule that hides each; list to get the packets of rules; describe to get the rules for one " +
  "view and the rule that decides.";

function readName(args: JsonObject, key: string): string | undefined {
  const name = argumentOf(args, key);
  if (name === undefined || name === "") return undefined;
  if (typeof name === "string" && name.length <= maxNameLength) return name;
  throw invalidArgument(key, `expected a name of at most ${maxNameLength} characters`);
}

function readRequest(args: JsonObject): ReplayRequest {
  const given = argumentOf(args, "action");
  const action = actions.find((each) => each === given);
  if (action === undefined)
    throw invalidArgument("action", `expected ${actions.map((each) => `"${each}"`).join(", ")}`);
  return { action, surface: readName(args, "surface") ?? defaultView, project: readName(args, "project") };
}

/** Returns a summary of the installed packets, for JSON. The last packet of a scope is in force. */
export function listViews(views: Views): object {
  const { packets, unreadable } = views.installed;
  const surface_packets = packets.map(({ id, project, rules }) => {
    return { id, scope: project === undefined ? "global" : "project", project, rule_count: rules.length };
  });
  return { surface_packets, count: packets.length, unreadable };
}

/** Returns the packet in force for a caller, a summary of its rules, and the decision, for JSON. */
export function describeViews(views: Views, caller: Caller): object {
  const entity = toEntity(caller);
  const { verdict, rule } = views.decide(entity);
  const { packets } = views.installed;
  const own = packets.findLast(({ project }) => project !== undefined && project === entity.project);
  const inForce = own ?? packets.findLast(({ project }) => project === undefined);
  const { rules, ...packet } = inForce ?? { rules: [] };
  const listed = rules.map((each, index) => ({
    id: each.id ?? `${index + 1}`,
    classification: each.verdict.kind,
    matches_surface: [each.when?.surface ?? entity.surface].flat().includes(entity.surface),
  }));
  return { entity, packet: "id" in packet ? packet : undefined, rules: listed, verdict, rule };
}

/** Dependencies of {@link createReplayTool}. */
export interface ReplayToolDeps {
  readonly views: Views;
  readonly readScope: string;
  /** Returns all entries as of now. Called for each call. */
  readonly catalog: () => Catalog;
}

function answer({ views, catalog }: ReplayToolDeps, request: ReplayRequest, by: Caller): object {
  if (request.action === "list") return listViews(views);
  const { surface, project } = request;
  // The facts about the client stay.
  const { project: _own, ...program } = by.view ?? {};
  const caller = { ...by, view: { ...program, surface, ...(project === undefined ? {} : { project }) } };
  const whole = catalog();
  if (request.action === "replay") return replayView({ views, catalog: whole, caller, isForCaller: true });
  const verdict = visibilityFor(whole, caller).verdict(views.decide(toEntity(caller)));
  return { ...describeViews(views, caller), verdict };
}

/** Creates the tool `replay`, which names the entries that a view shows and hides, and its rules. */
export function createReplayTool(deps: ReplayToolDeps): ToolEntry {
  return {
    id: replayToolName,
    name: replayToolName,
    origin: replayOrigin,
    title: "Replay a view",
    description,
    hints: toToolHints("read", {}),
    scopes: Object.freeze([deps.readScope]),
    input: { root: "", json: inputSchema, decode: readRequest },
    output: { json: undefined, stringify: (value) => JSON.stringify(value) },
    timeoutMs,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    // decode() made the request.
    run: (request, call) => answer(deps, request as ReplayRequest, call.caller),
  };
}
