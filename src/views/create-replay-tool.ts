import { defaultView, type Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { replayOrigin, replayToolName } from "../catalog/own-tool-names.ts";
import { toToolHints } from "../catalog/tool-head.ts";
import { SurfaceError } from "../errors.ts";
import { deepFreeze } from "../schema/json.ts";
import type { JsonObject } from "../schema/json.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import type { Views } from "./views.ts";
import { replayView, visibilityFor } from "./replay-view.ts";
import { toEntity } from "./compile-rules.ts";
import type { ViewEntity, ViewPacket, ViewVerdict } from "./view-rules.ts";

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
    action: { type: "string", enum: [...actions], description: "What to tell" },
    surface: { type: "string", maxLength: maxNameLength, description: 'The view. Default: "default"' },
    project: { type: "string", maxLength: maxNameLength, description: "The project it is asked for, if any" },
  },
  required: ["action"],
});

const description =
  "Find out what a view of this server shows, without connecting by it. replay: the tools and resources that you would see, what is hidden, " +
  "and the rule that hides it. list: the packets of rules. describe: the rules that hold for a view, and which decides.";

function refuse(path: string, message: string): SurfaceError {
  return new SurfaceError("VALIDATION_ERROR", `Reading "${path}": it does not fit`, { issues: [{ path, message }] });
}

function readName(args: JsonObject, key: string): string | undefined {
  const name = Object.hasOwn(args, key) ? args[key] : undefined;
  if (name === undefined || name === "") return undefined;
  if (typeof name === "string" && name.length <= maxNameLength) return name;
  throw refuse(key, `expected a name of at most ${maxNameLength} characters`);
}

function readRequest(args: JsonObject): ReplayRequest {
  const said = Object.hasOwn(args, "action") ? args["action"] : undefined;
  const action = actions.find((each) => each === said);
  if (action === undefined) throw refuse("action", `expected ${actions.map((each) => `"${each}"`).join(", ")}`);
  return { action, surface: readName(args, "surface") ?? defaultView, project: readName(args, "project") };
}

/** The installed packets in their order: of the packets of one scope the last holds. */
export interface ViewList {
  readonly surface_packets: readonly (Pick<ViewPacket, "id" | "project"> & {
    readonly scope: "global" | "project";
    readonly rule_count: number;
  })[];
  readonly count: number;
  /** The reason why the rules cannot be read, while every view is denied. */
  readonly unreadable?: string;
}

/** The packet that holds for a caller, and its decision. */
export interface ViewDescription {
  readonly entity: ViewEntity;
  /** Left out if no packet holds. */
  readonly packet?: Omit<ViewPacket, "rules">;
  readonly rules: readonly {
    readonly id: string;
    readonly classification: ViewVerdict["kind"];
    /** Whether the rule is for the view that was asked about, if its other conditions fit. */
    readonly matches_surface: boolean;
  }[];
  readonly verdict: ViewVerdict;
  /** The rule that decided; left out if none fits. */
  readonly rule?: string;
}

/** Returns a summary of the installed packets. */
export function listViews(views: Views): ViewList {
  const { packets, unreadable } = views.installed;
  const surface_packets: ViewList["surface_packets"] = packets.map(({ id, project, rules }) => ({
    id,
    ...(project === undefined ? { scope: "global" } : { scope: "project", project }),
    rule_count: rules.length,
  }));
  return { surface_packets, count: packets.length, ...(unreadable === undefined ? {} : { unreadable }) };
}

/** Returns the packet that holds for a caller's view, a summary of its rules, and the decision. */
export function describeViews(views: Views, caller: Caller): ViewDescription {
  const entity = toEntity(caller);
  const { verdict, rule } = views.decide(entity);
  const { packets } = views.installed;
  const own = packets.findLast(({ project }) => project !== undefined && project === entity.project);
  const inForce = own ?? packets.findLast(({ project }) => project === undefined);
  const { rules, ...packet } = inForce ?? { rules: [] };
  return {
    entity,
    ...("id" in packet ? { packet } : {}),
    rules: rules.map((each, index) => ({
      id: each.id ?? `${index + 1}`,
      classification: each.verdict.kind,
      matches_surface: [each.when?.surface ?? entity.surface].flat().includes(entity.surface),
    })),
    verdict,
    ...(rule === undefined ? {} : { rule }),
  };
}

/** Dependencies of {@link createReplayTool}. */
export interface ReplayToolDeps {
  readonly views: Views;
  readonly readScope: string;
  /** Returns all entries as of now. Called for each call. */
  readonly catalog: () => Catalog;
}

function answer({ views, catalog }: ReplayToolDeps, request: ReplayRequest, asking: Caller): object {
  if (request.action === "list") return listViews(views);
  const { surface, project } = request;
  // The facts about the program stay.
  const { project: _own, ...program } = asking.view ?? {};
  const caller = { ...asking, view: { ...program, surface, ...(project === undefined ? {} : { project }) } };
  const whole = catalog();
  if (request.action === "replay") return replayView({ views, catalog: whole, caller, isForCaller: true });
  const verdict = visibilityFor(whole, caller).verdict(views.decide(toEntity(caller)));
  return { ...describeViews(views, caller), verdict };
}

/** Creates the tool that tells agents what views show them: it names the entries that a view hides, and the rules. */
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
