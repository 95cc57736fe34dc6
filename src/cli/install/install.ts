import { parseArgs, type ParseArgsConfig } from "node:util";
import { escapeInvisible } from "../../schema/visible-text.ts";
import { refused, usage } from "../cli-errors.ts";
import { clients, type ClientConfig, type ConfigScope } from "./clients.ts";
import {
  changeFile,
  clientFiles,
  formatOf,
  serversOf,
  type FileChoice,
  type InstalledServer,
} from "./installed-servers.ts";
import {
  toHttpTarget,
  toStdioTarget,
  viewFields,
  withAbsoluteFiles,
  type ServerTarget,
  type ViewChoice,
} from "./server-target.ts";
import { columns, type CliEnvironment } from "../terminal.ts";
import { argumentWarning, aroundReferences, assertExpands } from "./variables.ts";

/** The arguments of `install`. */
type InstallRequest =
  | {
      readonly kind: "add";
      readonly client: ClientConfig;
      readonly scope: ConfigScope;
      readonly alias: string;
      readonly target: ServerTarget;
      /** Whether to print the entry and to change nothing. */
      readonly isPrint: boolean;
    }
  | { readonly kind: "list"; readonly client: ClientConfig | undefined; readonly scope: ConfigScope | undefined }
  | {
      readonly kind: "remove";
      readonly alias: string;
      readonly client: ClientConfig | undefined;
      readonly scope: ConfigScope | undefined;
    };

const options = {
  surface: { type: "string" },
  project: { type: "string" },
  name: { type: "string" },
  url: { type: "string" },
  scope: { type: "string" },
  "token-env": { type: "string" },
  print: { type: "boolean" },
  list: { type: "boolean" },
  remove: { type: "string" },
} as const satisfies ParseArgsConfig["options"];

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** The arguments before `--`, and the command after it. */
interface Line {
  readonly values: Values;
  readonly words: readonly string[];
  readonly command: readonly string[];
}

function readLine(args: readonly string[]): Line {
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  const { values, positionals } = parseArgs({ args: [...own], options, allowPositionals: true, strict: true });
  return { values, words: positionals, command: end === -1 ? [] : args.slice(end + 1) };
}

const names = clients.map(({ name }) => name).join(", ");

function readClient(word: string): ClientConfig {
  const found = clients.find(({ name }) => name === word);
  if (found === undefined) throw usage(`Cannot install: the client must be one of ${names}, is "${word}"`);
  return found;
}

function readScope(word: string | undefined): ConfigScope | undefined {
  if (word === undefined || word === "user" || word === "project") return word;
  throw usage(`Cannot install: "--scope" must be user or project, is "${word}"`);
}

/** A name that every client accepts. The first character excludes keys such as `__proto__`. */
const aliasPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function readAlias({ name, surface }: Values): string {
  const plain = surface?.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 48);
  const alias = name ?? (plain === undefined ? "surface-mcp" : `surface-mcp-${plain}`);
  if (aliasPattern.test(alias)) return alias;
  const rule = `1 to 64 letters, digits, "-" and "_", and begin with a letter or digit`;
  throw usage(`Cannot install: "--name" must be ${rule}, is "${alias}"`);
}

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

function readTokenEnv({ "token-env": name }: Values): string | undefined {
  if (name === undefined || variablePattern.test(name)) return name;
  // The value is not repeated, since it may be the token itself.
  throw usage(`Cannot install: "--token-env" must be the name of an environment variable, not its value`);
}

function readView({ surface, project }: Values): ViewChoice {
  for (const [field, value] of Object.entries({ surface, project })) {
    if (value === undefined) continue;
    const isShort = value !== "" && Buffer.byteLength(value) <= 256;
    // oxlint-disable-next-line no-control-regex -- those are what is looked for
    if (!isShort || /[\u0000-\u001F\u007F]/.test(value)) {
      throw usage(`Cannot install: "--${field}" must be 1 to 256 bytes without control characters`);
    }
  }
  return { ...(surface === undefined ? {} : { surface }), ...(project === undefined ? {} : { project }) };
}

function readTarget({ values, command }: Line): ServerTarget {
  if ((values.url === undefined) === (command.length === 0)) {
    throw usage(`Cannot install: it needs either "--url URL" or "-- COMMAND ARGS"`);
  }
  const tokenEnv = readTokenEnv(values);
  if (values.url !== undefined) return toHttpTarget(values.url, readView(values), tokenEnv);
  if (tokenEnv !== undefined) throw usage(`Cannot install: "--token-env" needs "--url"`);
  return toStdioTarget(command, readView(values));
}

function readAddition(line: Line): InstallRequest {
  const [word, ...more] = line.words;
  if (word === undefined || more.length > 0) throw usage(`Cannot install: name one client of ${names}`);
  const client = readClient(word);
  const scope = readScope(line.values.scope) ?? "user";
  if (client.files[scope] === undefined) throw refused(`Cannot install: ${client.name} has no file for a ${scope}`);
  const target = readTarget(line);
  return { kind: "add", client, scope, alias: readAlias(line.values), target, isPrint: line.values.print === true };
}

/** Refuses options and commands that the action does not use. */
function assertOnly({ values, command }: Line, used: readonly string[]): void {
  const unused = Object.keys(values).find((name) => !used.includes(name));
  if (unused !== undefined) throw usage(`Cannot install: "--${unused}" does not go with "--${used.at(0) ?? ""}"`);
  if (command.length > 0) throw usage(`Cannot install: a command does not go with "--${used.at(0) ?? ""}"`);
}

/**
 * Reads the arguments of `install`.
 *
 * @throws Refusal `USAGE` for arguments that are wrong, `REFUSED` for a scope or URL that is not supported.
 */
function readInstallArgs(args: readonly string[]): InstallRequest {
  const line = readLine(args);
  const { list: isList, remove: alias } = line.values;
  if (isList !== true && alias === undefined) return readAddition(line);
  assertOnly(line, isList === true ? ["list", "scope"] : ["remove", "scope"]);
  const [word, ...more] = line.words;
  if (more.length > 0) throw usage(`Cannot install: name one client at most, not ${more.length + 1}`);
  const at = { client: word === undefined ? undefined : readClient(word), scope: readScope(line.values.scope) };
  return alias === undefined ? { kind: "list", ...at } : { kind: "remove", alias, ...at };
}

interface Found {
  readonly servers: readonly InstalledServer[];
  readonly faults: readonly Error[];
}

type Kind<TKind extends InstallRequest["kind"]> = Extract<InstallRequest, { kind: TKind }>;

async function add(request: Kind<"add">, setting: CliEnvironment): Promise<void> {
  const { client, scope, alias, isPrint } = request;
  const target = scope === "user" ? withAbsoluteFiles(request.target, setting.cwd) : request.target;
  assertExpands(client, target);
  const entry = client.toEntry(target);
  if (typeof entry === "string") throw refused(`Cannot install into ${client.name}: ${entry}`);
  const warning = argumentWarning(client, target);
  if (warning !== undefined) setting.complain(`surface-mcp: warning: ${escapeInvisible(warning)}\n`);
  const insert = (text: string): string => formatOf(client).add(text, client.container, { alias, entry });
  if (isPrint) return setting.write(insert(""));
  for (const file of clientFiles(setting, { client, scope })) {
    const { path } = await changeFile(file, insert);
    setting.write(`added "${alias}" to "${escapeInvisible(path)}"\n`);
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns a URL with its view only: user names and other parameters may be secrets. */
function showUrl(text: string): string {
  if (!URL.canParse(text)) return "";
  const { origin, pathname, searchParams } = new URL(text);
  const view = viewFields.flatMap((field) => {
    const value = searchParams.getAll(field).find((one) => one !== "");
    return value === undefined ? [] : [`${field}=${value}`];
  });
  return origin + pathname + (view.length === 0 ? "" : `?${view.join("&")}`);
}

/** Returns a command with its program and view only: other arguments may be secrets. */
function showCommand(command: string, args: unknown): string {
  const words: readonly unknown[] = Array.isArray(args) ? args : [];
  const view = ["--surface", "--project"].flatMap((option) => {
    const at = words.lastIndexOf(option);
    return at === -1 ? [] : [option, textOf(words[at + 1])];
  });
  return [command, ...(words.length > view.length ? ["…"] : []), ...view].join(" ");
}

function show({ alias, entry, file }: InstalledServer): readonly string[] {
  const url = textOf(entry["url"]);
  const what = url === "" ? showCommand(textOf(entry["command"]), entry["args"]) : aroundReferences(url, showUrl);
  return [file.client.name, file.scope, alias, what];
}

/** Reads the servers of all chosen files. An unreadable file is a fault, and does not hide the others. */
async function readAll(setting: CliEnvironment, chosen: FileChoice): Promise<Found> {
  const found = await Promise.allSettled(clientFiles(setting, chosen).map(serversOf));
  return {
    servers: found.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
    faults: found.flatMap((one) => (one.status === "rejected" && one.reason instanceof Error ? [one.reason] : [])),
  };
}

async function list(request: Kind<"list">, setting: CliEnvironment): Promise<void> {
  const { servers, faults } = await readAll(setting, request);
  setting.write(servers.length === 0 ? "no servers\n" : columns(servers.map(show)));
  const [fault] = faults;
  if (fault !== undefined) throw fault;
}

async function remove(request: Kind<"remove">, setting: CliEnvironment): Promise<void> {
  const { alias } = request;
  const { servers, faults } = await readAll(setting, request);
  const [first, ...others] = servers.filter((server) => server.alias === alias);
  if (first === undefined)
    throw faults.at(0) ?? refused(`Cannot remove "${alias}": no client has a server of this name; "--list" shows all`);
  if (others.length > 0) {
    const places = [first, ...others].map(({ file }) => `${file.client.name} (${file.scope})`).join(", ");
    throw refused(`Cannot remove "${alias}": it is in ${places}; name the client, or pass "--scope"`);
  }
  const { client } = first.file;
  const { path } = await changeFile(first.file, (text) => formatOf(client).remove(text, client.container, alias));
  setting.write(`removed "${alias}" from "${escapeInvisible(path)}"\n`);
}

/**
 * Writes a server into the configuration of a client, lists the servers, or removes one.
 *
 * @throws Refusal `USAGE` or `REFUSED`, with nothing changed.
 */
export async function install(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const request = readInstallArgs(args);
  switch (request.kind) {
    case "add":
      return add(request, setting);
    case "list":
      return list(request, setting);
    case "remove":
      return remove(request, setting);
  }
}
