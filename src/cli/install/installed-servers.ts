import { Refusal } from "../../errors.ts";
import { refused } from "../cli-errors.ts";
import type { CliEnvironment } from "../terminal.ts";
import { assertInside } from "../files.ts";
import { clients, type ClientConfig, type ConfigScope } from "./clients.ts";
import { changeConfigFile, readConfigFile, type Audience, type ConfigFile } from "./config-file.ts";
import type { ConfigFormat, ListedServer } from "./config-format.ts";
import { jsonConfig } from "./json-config.ts";
import { tomlConfig } from "./toml-config.ts";

/** A configuration file of a client, which may not exist yet. */
export interface ClientFile {
  readonly client: ClientConfig;
  readonly scope: ConfigScope;
  readonly path: string;
  /** The readers of the file, if it is created. */
  readonly audience: Audience;
  /** The project folder that its links must not leave, since another person may have written them; `undefined` outside projects. */
  readonly within: string | undefined;
}

/** A choice of files. `undefined` chooses all clients or scopes. */
export interface FileChoice {
  readonly client: ClientConfig | undefined;
  readonly scope: ConfigScope | undefined;
}

/** A server in a file of a client. */
export interface InstalledServer extends ListedServer {
  readonly file: ClientFile;
}

const scopes: readonly ConfigScope[] = ["user", "project"];

/** Returns the format of the files of a client. */
export function formatOf(client: ClientConfig): ConfigFormat {
  return client.format === "json" ? jsonConfig : tomlConfig;
}

/** Returns the chosen files. In the home folder, one file may belong to both scopes; it counts as the user's. */
export function clientFiles(setting: CliEnvironment, chosen: FileChoice): readonly ClientFile[] {
  const all = clients.flatMap((client) =>
    scopes.flatMap((scope) => {
      const path = client.files[scope]?.(setting);
      return path === undefined ? [] : [{ client, scope, path }];
    }),
  );
  const mine = new Set(all.flatMap(({ scope, path }) => (scope === "user" ? [path] : [])));
  const files = all.map((file): ClientFile => ({
    ...file,
    ...(mine.has(file.path) ? { audience: "owner", within: undefined } : { audience: "folder", within: setting.cwd }),
  }));
  return files.filter(
    ({ client, scope, path }, index) =>
      (chosen.client === undefined || chosen.client === client) &&
      (chosen.scope === undefined ? all.findIndex((one) => one.path === path) === index : chosen.scope === scope),
  );
}

/** Runs work, and puts the action and the file before the message of a refusal. */
function inFile<TValue>(doing: string, path: string, work: () => TValue): TValue {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? refused(`${doing} "${path}": ${error.message}`) : error;
  }
}

/**
 * Returns all servers of a file.
 *
 * @throws Refusal `REFUSED` if the file cannot be read.
 */
export async function serversOf(file: ClientFile): Promise<readonly InstalledServer[]> {
  const { text } = await readConfigFile(file.path);
  if (text === undefined || text.trim() === "") return [];
  const { client, path } = file;
  const listed = inFile("Cannot read", path, () => formatOf(client).list(text, client.container));
  return listed.map((server) => ({ ...server, file }));
}

/**
 * Changes the text of a file. Leaves it as it is if the change would lose anything.
 *
 * @throws Refusal `REFUSED`, naming the file.
 */
export async function changeFile(at: ClientFile, change: (text: string) => string): Promise<ConfigFile> {
  if (at.within !== undefined) await assertInside(at.path, at.within);
  return changeConfigFile(at.path, (text) => inFile("Cannot change", at.path, () => change(text)), at.audience);
}
