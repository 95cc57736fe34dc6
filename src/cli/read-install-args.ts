import { parseArgs, type ParseArgsConfig } from "node:util";
import { refused, usage } from "./cli-errors.ts";
import { clients, type ClientConfig, type ConfigScope } from "./clients.ts";
import { toHttpTarget, toStdioTarget, type ServerTarget, type ViewChoice } from "./server-target.ts";

/** What `install` is asked to do. */
export type InstallRequest =
  | {
      readonly kind: "add";
      readonly client: ClientConfig;
      readonly scope: ConfigScope;
      readonly alias: string;
      readonly target: ServerTarget;
      /** Whether to write what would be added, and to change nothing. */
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

/** What stands in front of `--`, and the command behind it. */
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
  if (found === undefined) throw usage(`Installing: the client must be one of ${names}, is "${word}"`);
  return found;
}

function readScope(word: string | undefined): ConfigScope | undefined {
  if (word === undefined || word === "user" || word === "project") return word;
  throw usage(`Installing: "--scope" must be user or project, is "${word}"`);
}

/** What every client takes as a name; it begins so that none is a key with a meaning of its own. */
const aliasPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function readAlias({ name, surface }: Values): string {
  const plain = surface?.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 48);
  const alias = name ?? (plain === undefined ? "surface-mcp" : `surface-mcp-${plain}`);
  if (aliasPattern.test(alias)) return alias;
  const rule = `1 to 64 letters, digits, "-" and "_", and begin with a letter or digit`;
  throw usage(`Installing: "--name" must be ${rule}, is "${alias}"`);
}

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

function readTokenEnv({ "token-env": name }: Values): string | undefined {
  if (name === undefined || variablePattern.test(name)) return name;
  // Not repeated: whoever misreads the option gives the token itself.
  throw usage(`Installing: "--token-env" must be the name of an environment variable, and not what is in it`);
}

function readView({ surface, project }: Values): ViewChoice {
  for (const [field, value] of Object.entries({ surface, project })) {
    if (value === undefined) continue;
    const isShort = value !== "" && Buffer.byteLength(value) <= 256;
    // oxlint-disable-next-line no-control-regex -- those are what is looked for
    if (!isShort || /[\u0000-\u001F\u007F]/.test(value)) {
      throw usage(`Installing: "--${field}" must be 1 to 256 bytes without control characters`);
    }
  }
  return { ...(surface === undefined ? {} : { surface }), ...(project === undefined ? {} : { project }) };
}

function readTarget({ values, command }: Line): ServerTarget {
  if ((values.url === undefined) === (command.length === 0)) {
    throw usage(`Installing: either "--url URL" or "-- COMMAND ARGS" must say where the server is`);
  }
  const tokenEnv = readTokenEnv(values);
  if (values.url !== undefined) return toHttpTarget(values.url, readView(values), tokenEnv);
  if (tokenEnv !== undefined) throw usage(`Installing: "--token-env" goes with "--url" alone`);
  return toStdioTarget(command, readView(values));
}

function readAddition(line: Line): InstallRequest {
  const [word, ...more] = line.words;
  if (word === undefined || more.length > 0) throw usage(`Installing: one client must be named: ${names}`);
  const client = readClient(word);
  const scope = readScope(line.values.scope) ?? "user";
  if (client.files[scope] === undefined) throw refused(`Installing: ${client.name} has no file for a ${scope}`);
  const target = readTarget(line);
  return { kind: "add", client, scope, alias: readAlias(line.values), target, isPrint: line.values.print === true };
}

/** Options that ask for something that was not asked for are mistakes, and not left unheard. */
function assertOnly({ values, command }: Line, heard: readonly string[]): void {
  const unheard = Object.keys(values).find((name) => !heard.includes(name));
  if (unheard !== undefined) throw usage(`Installing: "--${unheard}" does not go with "--${heard.at(0) ?? ""}"`);
  if (command.length > 0) throw usage(`Installing: a command does not go with "--${heard.at(0) ?? ""}"`);
}

/**
 * Reads what stands behind `install`.
 *
 * @throws Refusal `USAGE` for what no command takes, `REFUSED` for what is understood and not done.
 */
export function readInstallArgs(args: readonly string[]): InstallRequest {
  const line = readLine(args);
  const { list, remove } = line.values;
  if (list !== true && remove === undefined) return readAddition(line);
  assertOnly(line, list === true ? ["list", "scope"] : ["remove", "scope"]);
  const [word, ...more] = line.words;
  if (more.length > 0) throw usage(`Installing: one client may be named, not ${more.length + 1}`);
  const at = { client: word === undefined ? undefined : readClient(word), scope: readScope(line.values.scope) };
  return remove === undefined ? { kind: "list", ...at } : { kind: "remove", alias: remove, ...at };
}
