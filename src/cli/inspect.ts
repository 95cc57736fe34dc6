import type { AppExposure } from "../lock/exposure.ts";
import type { Unexposed } from "../catalog/unexposed.ts";
import { readExposure, readUnexposed } from "../lock/read-exposure.ts";
import { isJsonObject, toList, type JsonObject, type JsonValue } from "../schema/json.ts";
import { toVisibleJson } from "../schema/visible-text.ts";
import { loadNamedApp, type Flags } from "./app-arguments.ts";
import { usage } from "./cli-errors.ts";
import { showLivePage } from "./live-page/live-page.ts";
import { readServerArguments, useServer, type ServerArguments } from "./server-argument.ts";
import { columns, type CliEnvironment } from "./terminal.ts";

type Row = readonly string[];

const appHeads: Row = ["name", "as", "effect", "scopes", "confirm", "views"];

function textOf(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
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

function viewsOf({ views }: JsonObject): string {
  return views === undefined ? "all" : joined(views, " ") || "none";
}

function toRow(exposure: AppExposure, name: string, fields: JsonObject): Row {
  const { kind, from, confirm } = fields;
  const as = from === "hand" ? textOf(kind) : `${textOf(kind)} (${textOf(from)})`;
  return [name, as, effectOf(fields), scopesOf(exposure, fields), textOf(confirm), viewsOf(fields)];
}

/** The rows of a table under a title. */
interface Section {
  readonly title: string;
  readonly heads: Row;
  readonly rows: readonly Row[];
}

function renderSections(sections: readonly Section[], isTerminal: boolean): string {
  const emphasise = (title: string): string => (isTerminal ? `\u001B[1m${title}\u001B[22m` : title);
  const tables = sections.map(({ title, heads, rows }) => {
    const table = rows.length === 0 ? "" : columns(heads.length === 0 ? rows : [heads, ...rows]);
    return `${emphasise(`${title} (${rows.length})`)}\n${table}`;
  });
  return tables.join("\n");
}

/** Returns the section of the pages of tools. A tool may have `ui` without a page. */
function toPages({ tools }: AppExposure): Section {
  const rows = Object.entries(tools).flatMap(([name, fields]) => {
    const { ui } = fields;
    if (!isJsonObject(ui) || ui["uri"] === undefined) return [];
    const { uri, csp, permissions } = ui;
    const origins = Object.entries(objectOf(csp)).map(
      ([kind, domains]) => `${kind.replace("Domains", "")} ${joined(domains, " ")}`,
    );
    return [[textOf(uri), name, origins.join(", "), joined(permissions, " "), viewsOf(fields)]];
  });
  return { title: "pages", heads: ["uri", "tool", "origins", "permissions", "views"], rows };
}

function toSkills({ server }: AppExposure): Section {
  const { skills } = Object.values(server)[0] ?? {};
  const rows = Object.entries(objectOf(skills)).map(([name, skill]) => {
    const fields = objectOf(skill);
    return [name, textOf(fields["files"]), viewsOf(fields), textOf(fields["description"])];
  });
  return { title: "skills", heads: ["name", "files", "views", "description"], rows };
}

function toSections(exposure: AppExposure, unexposed: readonly Unexposed[]): readonly Section[] {
  const shown = (["tools", "resources", "templates", "prompts"] as const).map((title) => {
    const rows = Object.entries(exposure[title]).map(([name, fields]) => toRow(exposure, name, fields));
    return { title, heads: appHeads, rows };
  });
  const hidden = unexposed.map(({ name, kind, why }) => [name, kind, why]);
  return [...shown, toPages(exposure), toSkills(exposure), { title: "not exposed", heads: [], rows: hidden }];
}

/** The lists of a server: the method, the field with the entries, the name of an entry, and the capability that promises it. */
const lists = [
  { title: "tools", method: "tools/list", field: "tools", key: "name", capability: "tools" },
  { title: "resources", method: "resources/list", field: "resources", key: "uri", capability: "resources" },
  {
    ...{ title: "templates", method: "resources/templates/list", field: "resourceTemplates" },
    ...{ key: "uriTemplate", capability: "resources" },
  },
  { title: "prompts", method: "prompts/list", field: "prompts", key: "name", capability: "prompts" },
] as const;

/** Returns the hints of a tool. A hint that is missing has the default of the protocol. */
function readHints({ annotations }: JsonObject): JsonObject {
  const { readOnlyHint, destructiveHint, openWorldHint } = objectOf(annotations);
  return {
    readOnly: readOnlyHint === true,
    destructive: destructiveHint !== false,
    openWorld: openWorldHint !== false,
  };
}

/** Returns the section of the pages that the tools of a server name. The flat key is that of servers before 2026-01-26. */
function toServerPages(tools: JsonObject): Section {
  const rows = Object.entries(tools).flatMap(([name, tool]) => {
    const { ui, "ui/resourceUri": flat } = objectOf(objectOf(tool)["_meta"]);
    const { resourceUri = flat } = objectOf(ui);
    return resourceUri === undefined ? [] : [[textOf(resourceUri), name]];
  });
  return { title: "pages", heads: ["uri", "tool"], rows };
}

function toServerSkills(skills: readonly JsonObject[]): Section {
  const rows = skills.map(({ frontmatter, resources }) => {
    const { name, description } = objectOf(frontmatter);
    return [textOf(name), String(toList(resources).length), textOf(description)];
  });
  return { title: "skills", heads: ["name", "files", "description"], rows };
}

/** Writes everything that a running server shows to a client that can show pages. */
function inspectServer(given: ServerArguments, setting: CliEnvironment): Promise<void> {
  return useServer(given, setting, {
    onNotification: () => {},
    showsPages: true,
    async run(client, { serverInfo = {}, capabilities, instructions }) {
      const shown: Record<string, JsonObject> = {};
      const sections: Section[] = [];
      const declared = objectOf(capabilities);
      for (const { title, method, field, key, capability } of lists) {
        const entries = declared[capability] === undefined ? [] : await client.list(method, field);
        shown[title] = Object.fromEntries(entries.map((entry) => [textOf(entry[key]), entry]));
        const rows = entries.map((entry) => {
          const fields = title === "tools" ? { hints: readHints(entry) } : {};
          return [textOf(entry[key]), effectOf(fields), textOf(entry["title"])];
        });
        sections.push({ title, heads: ["name", "effect", "title"], rows });
      }
      const hasSkills = objectOf(declared["extensions"])["io.modelcontextprotocol/skills"] !== undefined;
      const skills = hasSkills ? await client.list("skills/list", "skills") : [];
      shown["skills"] = Object.fromEntries(skills.map((skill) => [textOf(skill["uri"]), skill]));
      sections.push(toServerPages(objectOf(shown["tools"])), toServerSkills(skills));
      const server = {
        ...objectOf(serverInfo),
        ...(instructions === undefined ? {} : { instructions }),
      };
      const json = `${toVisibleJson({ server, ...shown }, 2)}\n`;
      setting.write(given.has("json") ? json : renderSections(sections, setting.isTerminal));
    },
  });
}

const flags: Flags = { json: { type: "boolean" }, web: { type: "string" }, port: { type: "string" } };

/** @throws Refusal `USAGE` for `--web` without a value: the message of `parseArgs` does not say which. */
function assertSocket(args: readonly string[]): void {
  const [at, end] = [args.indexOf("--web"), args.indexOf("--")];
  // What follows "--" is the command.
  if (at < 0 || (end >= 0 && end < at) || args[at + 1]?.startsWith("-") === false) return;
  throw usage("Cannot inspect: name the socket: the value of SURFACE_MCP_INSPECT");
}

/** Returns the socket of the server whose page is asked for. */
function readWeb(given: ServerArguments): string | undefined {
  const socket = given.text("web");
  if (socket === undefined) {
    if (given.text("port") !== undefined) throw usage('Cannot inspect: "--port" is for "--web"');
    return undefined;
  }
  if (given.positionals.length === 0 && !given.isRemote && !given.has("json")) return socket;
  throw usage('Cannot inspect: "--web" takes one socket, and excludes a module, "--url", a command and "--json"');
}

/**
 * Writes everything that agents can reach in an app as a table, and what they cannot reach; or everything that a running server shows.
 * With `--web` it serves the live page of a server over stdio instead.
 *
 * @throws Refusal `USAGE`, `REFUSED`, `UNREADABLE` or `SERVER_ERROR`, SurfaceError `UNAVAILABLE` and those of `showLivePage()`, and any
 * error of the app's module.
 */
export async function inspect(args: readonly string[], setting: CliEnvironment): Promise<void> {
  assertSocket(args);
  const given = readServerArguments(args, flags, "Cannot inspect");
  const socket = readWeb(given);
  if (socket !== undefined) return showLivePage(socket, given, setting);
  if (given.others.length > 0)
    throw usage(`Cannot inspect: "${given.others.join(" ")}" is not expected; name one server`);
  if (given.isRemote) return inspectServer(given, setting);
  const [module] = given.positionals;
  if (module === undefined) throw usage("Cannot inspect: name one module that exports an app, a URL or a command");
  const app = await loadNamedApp({ ...given, module }, setting);
  const [exposure, unexposed] = [readExposure(app), readUnexposed(app)];
  const json = `${toVisibleJson({ ...exposure, unexposed }, 2)}\n`;
  setting.write(given.has("json") ? json : renderSections(toSections(exposure, unexposed), setting.isTerminal));
}
