import { Refusal } from "../errors.ts";
import { refused } from "./cli-errors.ts";
import type { CliSetting } from "./cli-setting.ts";
import { assertInside } from "./files.ts";
import { clients, type ClientConfig, type ConfigScope } from "./clients.ts";
import { changeConfigFile, readConfigFile, type Audience, type ConfigFile } from "./config-file.ts";
import type { ConfigFormat, ListedServer } from "./config-format.ts";
import { jsonConfig } from "./json-config.ts";
import { tomlConfig } from "./toml-config.ts";

/** A file of a client's, which may not be there yet. */
export interface ClientFile {
  readonly client: ClientConfig;
  readonly scope: ConfigScope;
  readonly path: string;
  /** Whom it is for when it is made. */
  readonly audience: Audience;
  /** The folder that its links may not leave: that of a project, which somebody else may have made. */
  readonly within: string | undefined;
}

/** Which files are meant: all of them, unless it is said. */
export interface FileChoice {
  readonly client: ClientConfig | undefined;
  readonly scope: ConfigScope | undefined;
}

/** A server of a client's. */
export interface InstalledServer extends ListedServer {
  readonly file: ClientFile;
}

const scopes: readonly ConfigScope[] = ["user", "project"];

/** How the files of a client are read and changed. */
export function formatOf(client: ClientConfig): ConfigFormat {
  return client.format === "json" ? jsonConfig : tomlConfig;
}

/** The files that clients read, whether they are there or not. In somebody's home a file may be both: then it is the user's. */
export function clientFiles(setting: CliSetting, chosen: FileChoice): readonly ClientFile[] {
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

/** Says of which file a refusal is. */
function inFile<TValue>(doing: string, path: string, work: () => TValue): TValue {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? refused(`${doing} "${path}": ${error.message}`) : error;
  }
}

/**
 * The servers that a client's file holds, whoever wrote them there.
 *
 * @throws Refusal `REFUSED` where it cannot be read.
 */
export async function serversOf(file: ClientFile): Promise<readonly InstalledServer[]> {
  const { text } = await readConfigFile(file.path);
  if (text === undefined || text.trim() === "") return [];
  const { client, path } = file;
  const listed = inFile("Reading", path, () => formatOf(client).list(text, client.container));
  return listed.map((server) => ({ ...server, file }));
}

/**
 * Changes the text of a client's file, and leaves it alone where that cannot be done without losing something.
 *
 * @throws Refusal `REFUSED`, which names the file.
 */
export async function changeFile(at: ClientFile, change: (text: string) => string): Promise<ConfigFile> {
  if (at.within !== undefined) await assertInside(at.path, at.within);
  return changeConfigFile(at.path, (text) => inFile("Changing", at.path, () => change(text)), at.audience);
}
