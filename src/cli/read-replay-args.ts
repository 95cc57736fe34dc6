import { parseArgs, type ParseArgsConfig } from "node:util";
import type { ReplayOptions } from "../builder/replay-app.ts";
import { anonymous, defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import { isScopeToken } from "../http/auth/caller-fields.ts";
import { usage } from "./cli-errors.ts";

/** What `replay` is asked to do. */
export interface ReplayRequest {
  /** The path of the module that exports the app. */
  readonly module: string;
  readonly options: ReplayOptions;
  readonly isJson: boolean;
}

const options = {
  surface: { type: "string" },
  project: { type: "string" },
  principal: { type: "string" },
  client: { type: "string" },
  "user-agent": { type: "string" },
  scopes: { type: "string" },
  json: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** Names of packages may begin with "@", which is then not what stands in front of a version. */
function readClient(text: string): NonNullable<CallerView["client"]> {
  const at = text.lastIndexOf("@");
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text, version: "" };
}

function readScopes(text: string | undefined): readonly string[] {
  const scopes = text?.split(",") ?? anonymous.scopes;
  if (scopes.every(isScopeToken)) return scopes;
  throw usage(`Replaying: "--scopes" must be scopes with "," between them, is "${text}"`);
}

/** Who would ask; `undefined` where nothing is said of them. */
function readCaller({ surface, principal, client, "user-agent": userAgent, scopes }: Values): Caller | undefined {
  if ([principal, client, userAgent, scopes].every((value) => value === undefined)) return undefined;
  const view: CallerView = {
    surface: surface ?? defaultView,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(client === undefined ? {} : { client: readClient(client) }),
  };
  return { id: principal ?? anonymous.id, isAnonymous: principal === undefined, scopes: readScopes(scopes), view };
}

/**
 * Reads what stands behind `replay`.
 *
 * @throws Refusal `USAGE` for what no command takes.
 */
export function readReplayArgs(args: readonly string[]): ReplayRequest {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  const [module, ...more] = positionals;
  if (module === undefined || more.length > 0) throw usage(`Replaying: one module that exports an app must be named`);
  const empty = Object.entries(values).find(([, value]) => value === "");
  if (empty !== undefined) throw usage(`Replaying: "--${empty[0]}" must not be empty`);
  const { surface, project, json } = values;
  const caller = readCaller(values);
  const asked = {
    ...(surface === undefined ? {} : { surface }),
    ...(project === undefined ? {} : { project }),
    ...(caller === undefined ? {} : { caller }),
  };
  return { module, options: asked, isJson: json === true };
}
