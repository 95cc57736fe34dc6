import { parseArgs, type ParseArgsConfig } from "node:util";
import type { ReplayOptions } from "../builder/assemble-app.ts";
import { isScopeToken } from "../http/auth/caller-fields.ts";
import { escapeInvisible, toVisibleJson } from "../schema/visible-text.ts";
import { anonymous, type Caller, type CallerView, defaultView } from "../surface/caller.ts";
import { unknownView } from "../views/compile-rules.ts";
import type { ViewReplay } from "../views/replay-view.ts";
import { refused, usage } from "./cli-errors.ts";
import { loadApp } from "./load-app.ts";
import { columns, type CliEnvironment } from "./terminal.ts";
import { toDefined } from "../observe/to-defined.ts";

/** The arguments of `replay`. */
interface ReplayRequest {
  /** The path of the module that exports the app. */
  readonly module: string;
  /** The name of its export; `undefined` for the default. */
  readonly exported: string | undefined;
  readonly options: ReplayOptions;
  readonly isJson: boolean;
}

const flags = {
  surface: { type: "string" },
  project: { type: "string" },
  principal: { type: "string" },
  client: { type: "string" },
  "user-agent": { type: "string" },
  scopes: { type: "string" },
  export: { type: "string" },
  json: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

type Values = ReturnType<typeof parseArgs<{ options: typeof flags }>>["values"];

/** Reads `name@version`. The name of a package may begin with "@". */
function readClient(text: string): NonNullable<CallerView["client"]> {
  const at = text.lastIndexOf("@");
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text, version: "" };
}

function readScopes(text: string | undefined): readonly string[] {
  const scopes = text?.split(",") ?? anonymous.scopes;
  if (scopes.every(isScopeToken)) return scopes;
  throw usage(`Cannot replay: "--scopes" must be scopes separated by ",", is "${text}"`);
}

/** Returns the caller that the arguments describe; `undefined` without any. */
function readCaller({ surface, principal, client, "user-agent": userAgent, scopes }: Values): Caller | undefined {
  if ([principal, client, userAgent, scopes].every((value) => value === undefined)) return undefined;
  const view: CallerView = {
    surface: surface ?? defaultView,
    ...toDefined({ userAgent, client: client === undefined ? undefined : readClient(client) }),
  };
  return { id: principal ?? anonymous.id, isAnonymous: principal === undefined, scopes: readScopes(scopes), view };
}

/** @throws Refusal `USAGE`. */
function readReplayArgs(args: readonly string[]): ReplayRequest {
  const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true });
  const [module, ...more] = positionals;
  if (module === undefined || more.length > 0) throw usage(`Cannot replay: name one module that exports an app`);
  const empty = Object.entries(values).find(([, value]) => value === "");
  if (empty !== undefined) throw usage(`Cannot replay: "--${empty[0]}" must not be empty`);
  const { surface, project, json } = values;
  const asked = toDefined({ surface, project, caller: readCaller(values) });
  return { module, exported: values.export, options: asked, isJson: json === true };
}

interface ReplayableApp {
  replay(options: ReplayOptions): ViewReplay;
}

function isReplayable(value: unknown): value is ReplayableApp {
  return typeof value === "object" && value !== null && "replay" in value && typeof value.replay === "function";
}

interface Section {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

function headOf({ entity, verdict }: ViewReplay): readonly (readonly string[])[] {
  const outcome = verdict.kind === "deny" ? `denied: ${verdict.reason}` : `${verdict.face ?? "direct"} face`;
  const { client, principal = "the local user, as over stdio", ...plain } = entity;
  const shown = client === undefined ? {} : { client: `${client.name} ${client.version}` };
  return [...Object.entries({ ...plain, ...shown, caller: principal }), ["verdict", outcome]];
}

const namesOf = (names: readonly string[]): readonly (readonly string[])[] => names.map((name) => ["", name]);

function sectionsOf(replayed: ViewReplay): readonly Section[] {
  const { visible_tools, visible_tool_count, visible_resources, operations, hidden } = replayed;
  return [
    { title: `tools (${visible_tool_count})`, rows: namesOf(visible_tools) },
    ...(operations === undefined
      ? []
      : [{ title: `operations behind them (${operations.length})`, rows: namesOf(operations) }]),
    { title: `resources (${visible_resources.length})`, rows: namesOf(visible_resources) },
    { title: `hidden (${hidden.length})`, rows: hidden.map(({ name, by }) => ["", name, by]) },
  ];
}

/** Renders a replay for people: the caller, the verdict, what is visible and what hides the rest. Headings are bold on a terminal. */
function renderReplay(replayed: ViewReplay, isTerminal: boolean): string {
  const emphasise = (text: string): string => (isTerminal ? `\u001B[1m${text}\u001B[22m` : text);
  const sections = sectionsOf(replayed).map(
    ({ title, rows }) => `\n${emphasise(escapeInvisible(title))}\n${columns(rows)}`,
  );
  return columns(headOf(replayed)) + sections.join("");
}

/**
 * Writes what a view of an app exposes, and what hides the rest, without serving the app.
 *
 * @throws Refusal `USAGE` or `REFUSED`, for an unknown view after it was written, and any error of the app's module.
 */
export async function replay(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const { module, exported, options, isJson } = readReplayArgs(args);
  const { cwd, loadTimeoutMs: timeoutMs } = setting;
  const app = await loadApp({ given: module, cwd, exported, timeoutMs, isApp: isReplayable });
  const replayed = app.replay(options);
  setting.write(isJson ? `${toVisibleJson(replayed, 2)}\n` : renderReplay(replayed, setting.isTerminal));
  const { entity, verdict } = replayed;
  if (verdict.kind === "deny" && verdict.reason === unknownView) {
    throw refused(`Cannot replay: the app has no view "${entity.surface}"`);
  }
}
