import { refused } from "./cli-errors.ts";
import type { CliSetting } from "./cli-setting.ts";
import { columns } from "./columns.ts";
import {
  changeFile,
  clientFiles,
  formatOf,
  serversOf,
  type FileChoice,
  type InstalledServer,
} from "./installed-servers.ts";
import { visibleText } from "../schema/visible-text.ts";
import { argumentWarning, aroundReferences, assertExpands } from "./variables.ts";
import { readInstallArgs, type InstallRequest } from "./read-install-args.ts";

interface Found {
  readonly servers: readonly InstalledServer[];
  readonly faults: readonly Error[];
}

type Kind<TKind extends InstallRequest["kind"]> = Extract<InstallRequest, { kind: TKind }>;

async function add(request: Kind<"add">, setting: CliSetting): Promise<void> {
  const { client, scope, alias, target, isPrint } = request;
  assertExpands(client, target);
  const entry = client.toEntry(target);
  if (typeof entry === "string") throw refused(`Installing into ${client.name}: ${entry}`);
  const warning = argumentWarning(client, target);
  if (warning !== undefined) setting.complain(`surface-mcp: warning: ${visibleText(warning)}\n`);
  const insert = (text: string): string => formatOf(client).add(text, client.container, { alias, entry });
  if (isPrint) return setting.write(insert(""));
  for (const file of clientFiles(setting, { client, scope })) {
    const { path } = await changeFile(file, insert);
    setting.write(`added "${alias}" to "${visibleText(path)}"\n`);
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** What is shown of a URL: other parameters, and names before the host, may be somebody's secret. */
function showUrl(text: string): string {
  if (!URL.canParse(text)) return "";
  const { origin, pathname, searchParams } = new URL(text);
  const view = ["surface", "project"].flatMap((field) => {
    const value = searchParams.getAll(field).find((one) => one !== "");
    return value === undefined ? [] : [`${field}=${value}`];
  });
  return origin + pathname + (view.length === 0 ? "" : `?${view.join("&")}`);
}

/** The same of a command: its program, and the view at its end. */
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

/** What can be read, and why the rest cannot: a file that somebody broke hides no other. */
async function readAll(setting: CliSetting, chosen: FileChoice): Promise<Found> {
  const found = await Promise.allSettled(clientFiles(setting, chosen).map(serversOf));
  return {
    servers: found.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
    faults: found.flatMap((one) => (one.status === "rejected" && one.reason instanceof Error ? [one.reason] : [])),
  };
}

async function list(request: Kind<"list">, setting: CliSetting): Promise<void> {
  const { servers, faults } = await readAll(setting, request);
  setting.write(servers.length === 0 ? "no servers\n" : columns(servers.map(show)));
  const [fault] = faults;
  if (fault !== undefined) throw fault;
}

async function remove(request: Kind<"remove">, setting: CliSetting): Promise<void> {
  const { alias } = request;
  const { servers, faults } = await readAll(setting, request);
  const [first, ...others] = servers.filter((server) => server.alias === alias);
  if (first === undefined) throw faults.at(0) ?? refused(`Removing "${alias}": no client has it`);
  if (others.length > 0) {
    const places = [first, ...others].map(({ file }) => `${file.client.name} (${file.scope})`).join(", ");
    throw refused(`Removing "${alias}": it must be in one place, is in ${places}: name the client, or give "--scope"`);
  }
  const { client } = first.file;
  const { path } = await changeFile(first.file, (text) => formatOf(client).remove(text, client.container, alias));
  setting.write(`removed "${alias}" from "${visibleText(path)}"\n`);
}

/**
 * Writes a server into the configuration of a client, lists what is there, or removes it.
 *
 * @throws Refusal `USAGE` or `REFUSED`; nothing has been changed then.
 */
export async function install(args: readonly string[], setting: CliSetting): Promise<void> {
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
