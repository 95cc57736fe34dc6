import type { AppExposure } from "../lock/exposure.ts";
import { readExposure, readUnexposed, type Unexposed } from "../lock/read-exposure.ts";
import { isJsonObject, toList, type JsonObject, type JsonValue } from "../schema/json.ts";
import { loadNamedApp, readAppArguments } from "./app-arguments.ts";
import { columns, type CliEnvironment } from "./terminal.ts";

type Row = readonly string[];

const heads: Row = ["name", "as", "effect", "scopes", "confirm", "views"];

function textOf(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function joined(values: JsonValue | undefined, separator: string): string {
  return toList(values).map(textOf).join(separator);
}

function effectOf({ hints }: JsonObject): string {
  if (!isJsonObject(hints) || hints["readOnly"] === true) return "reads";
  const words = ["changes", ...(hints["destructive"] === true ? ["destructive"] : [])];
  return [...words, ...(hints["openWorld"] === true ? ["open world"] : [])].join(", ");
}

/** Returns the rights that a signed-in caller needs: the default scope, and those of the author. */
function scopesOf({ server }: AppExposure, { scopes, scopesAny, resource, ...fields }: JsonObject): string {
  const { defaultScopes } = Object.values(server)[0] ?? {};
  const byDefault = isJsonObject(defaultScopes) ? defaultScopes[effectOf(fields) === "reads" ? "read" : "write"] : "";
  const rights = [textOf(byDefault), joined(scopes, " ")];
  if (scopesAny !== undefined) rights.push(`(${joined(scopesAny, " or ")})`);
  if (isJsonObject(resource)) rights.push(`${textOf(resource["type"])}:${textOf(resource["action"])}`);
  return rights.filter((right) => right !== "").join(" ");
}

function toRow(exposure: AppExposure, name: string, fields: JsonObject): Row {
  const { kind, from, confirm, views } = fields;
  const as = from === "hand" ? textOf(kind) : `${textOf(kind)} (${textOf(from)})`;
  const shown = views === undefined ? "all" : joined(views, " ") || "none";
  return [name, as, effectOf(fields), scopesOf(exposure, fields), textOf(confirm), shown];
}

function renderTable(exposure: AppExposure, unexposed: readonly Unexposed[], isTerminal: boolean): string {
  const emphasise = (title: string): string => (isTerminal ? `\u001B[1m${title}\u001B[22m` : title);
  const tables = (["tools", "resources", "templates", "prompts"] as const).map((section) => {
    const records = Object.entries(exposure[section]);
    const rows = records.map(([name, fields]) => toRow(exposure, name, fields));
    return `${emphasise(`${section} (${rows.length})`)}\n${rows.length === 0 ? "" : columns([heads, ...rows])}\n`;
  });
  const hidden = unexposed.map(({ name, kind, why }) => [name, kind, why]);
  return `${tables.join("")}${emphasise(`not exposed (${hidden.length})`)}\n${columns(hidden)}`;
}

/**
 * Writes everything that agents can reach in an app as a table, and what they cannot reach.
 *
 * @throws Refusal `USAGE`, `REFUSED` or `UNREADABLE`, and any error of the app's module.
 */
export async function inspect(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const given = readAppArguments(args, { json: { type: "boolean" } }, "Cannot inspect");
  const app = await loadNamedApp(given, setting);
  const [exposure, unexposed] = [readExposure(app), readUnexposed(app)];
  const json = `${JSON.stringify({ ...exposure, unexposed }, null, 2)}\n`;
  setting.write(given.has("json") ? json : renderTable(exposure, unexposed, setting.isTerminal));
}
