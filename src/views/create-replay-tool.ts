import { defaultView, type Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { replayOrigin, replayToolName } from "../catalog/replay-tool-name.ts";
import { toToolHints } from "../catalog/tool-hints.ts";
import { SurfaceError } from "../errors.ts";
import { deepFreeze } from "../schema/deep-freeze.ts";
import type { JsonObject } from "../schema/json.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import type { Views } from "./decision.ts";
import { describeViews } from "./describe-views.ts";
import { listViews } from "./list-views.ts";
import { toEntity } from "./to-entity.ts";
import { toTelling } from "./to-telling.ts";
import { replayView, type ToFaceTools } from "./replay-view.ts";

/** How long a replay may take, in milliseconds: it waits for nobody. */
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

/** What the tool is made over. */
export interface ReplayToolParts {
  readonly views: Views;
  /** Everything that there is now. Asked for each call. */
  readonly catalog: () => Catalog;
  /** As in a replay. */
  readonly faceTools?: ToFaceTools | undefined;
}

/** The same caller by another view. What they connected with stays. */
function byView(caller: Caller, { surface, project }: ReplayRequest): Caller {
  const { project: _own, surface: _by, ...program } = caller.view ?? {};
  return { ...caller, view: { ...program, surface, ...(project === undefined ? {} : { project }) } };
}

function answer({ views, catalog, faceTools }: ReplayToolParts, request: ReplayRequest, asking: Caller): object {
  if (request.action === "list") return listViews(views);
  const caller = byView(asking, request);
  const whole = catalog();
  if (request.action === "replay") return replayView({ views, catalog: whole, caller, faceTools, isForCaller: true });
  const verdict = toTelling(whole, caller).verdict(views.decide(toEntity(caller)));
  return { ...describeViews(views, caller), verdict };
}

/**
 * The tool that tells agents what views show them, of an app that wants that: names of what a view hides are told, and the rules.
 */
export function createReplayTool(parts: ReplayToolParts): ToolEntry {
  return {
    id: replayToolName,
    name: replayToolName,
    origin: replayOrigin,
    title: "Replay a view",
    description,
    hints: toToolHints("read", {}),
    scopes: Object.freeze([parts.catalog().scopes.read]),
    input: { root: "", json: inputSchema, decode: readRequest },
    output: { json: undefined, stringify: (value) => JSON.stringify(value) },
    timeoutMs,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    // decode() made the request.
    run: (request, call) => answer(parts, request as ReplayRequest, call.caller),
  };
}
