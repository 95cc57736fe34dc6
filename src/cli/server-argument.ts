import { isLoopback } from "../http/addresses.ts";
import type { ServableApp } from "../mcp/servable-app.ts";
import type { JsonObject } from "../schema/json.ts";
import { readArguments, type CommandArguments, type Flags } from "./app-arguments.ts";
import { refused, usage } from "./cli-errors.ts";
import { loadApp } from "./load-app.ts";
import { McpClient, type McpClientOptions, type OpenTransport } from "./mcp-client.ts";
import { createAppTransport, createCommandTransport, createUrlTransport } from "./mcp-transports.ts";
import type { CliEnvironment } from "./terminal.ts";

/** The arguments of a command about one server: a module that exports an app, `--url URL`, or `-- COMMAND ARGS`. */
export interface ServerArguments extends CommandArguments {
  /** The command that starts the server. */
  readonly command: readonly string[] | undefined;
  /** Whether the server is not an app in this process. */
  readonly isRemote: boolean;
  /** The arguments that do not name the server. */
  readonly others: readonly string[];
}

const serverFlags = { url: { type: "string" }, "token-env": { type: "string" }, export: { type: "string" } } as const;

/** @throws Refusal `USAGE` for options that exclude each other. */
function assertOneServer(given: CommandArguments, command: readonly string[] | undefined, doing: string): void {
  const url = given.text("url");
  if (command?.length === 0) throw usage(`${doing}: name the command after "--"`);
  if (command !== undefined && url !== undefined) throw usage(`${doing}: "--url" excludes a command`);
  if ((command ?? url) === undefined || (given.text("surface") ?? given.text("export")) === undefined) return;
  throw usage(`${doing}: "--surface" and "--export" are for apps in this process; the server's address names the view`);
}

/** Reads the arguments of a command about one server. @throws as {@link readArguments}. */
export function readServerArguments(args: readonly string[], flags: Flags, doing: string): ServerArguments {
  const at = args.indexOf("--");
  const command = at < 0 ? undefined : args.slice(at + 1);
  const given = readArguments(at < 0 ? args : args.slice(0, at), { ...serverFlags, ...flags }, doing);
  assertOneServer(given, command, doing);
  const isRemote = (command ?? given.text("url")) !== undefined;
  return { ...given, command, isRemote, others: isRemote ? given.positionals : given.positionals.slice(1) };
}

/** Returns whether a value is an app that can be served. */
export function isServable(value: unknown): value is ServableApp {
  return typeof value === "object" && value !== null && "open" in value && typeof value.open === "function";
}

/** @throws Refusal `USAGE` for a text that is no URL; `REFUSED` for a missing token, and for one that would go unencrypted. */
function openUrl(text: string, tokenEnv: string | undefined, { env }: CliEnvironment): OpenTransport {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usage(`Cannot connect: "--url" must be a URL that begins with "http://" or "https://", is "${text}"`);
  }
  if (tokenEnv === undefined) return createUrlTransport(url.href, undefined);
  const token = env[tokenEnv];
  if (token === undefined || token === "") throw refused(`Cannot connect: the variable "${tokenEnv}" is not set`);
  if (url.protocol === "http:" && !isLoopback(url.hostname.replace(/^\[|\]$/g, ""))) {
    throw refused(`Cannot connect: the token would go to "${url.hostname}" unencrypted; use "https://"`);
  }
  return createUrlTransport(url.href, token);
}

async function openServer(given: ServerArguments, setting: CliEnvironment): Promise<OpenTransport> {
  const { cwd, loadTimeoutMs: timeoutMs } = setting;
  if (given.command !== undefined) return createCommandTransport(given.command, cwd);
  const url = given.text("url");
  if (url !== undefined) return openUrl(url, given.text("token-env"), setting);
  const [module = ""] = given.positionals;
  const app = await loadApp({ given: module, cwd, exported: given.text("export"), timeoutMs, isApp: isServable });
  return createAppTransport(app, given.text("surface"));
}

/** Work with a connected server. */
export interface ServerWork<TResult> extends Pick<McpClientOptions, "onNotification" | "showsPages"> {
  /** @param handshake - the result of the handshake. */
  run(client: McpClient, handshake: JsonObject): Promise<TResult>;
}

/** Connects to a server, runs the work, and disconnects. @throws Refusal `SERVER_ERROR` for an error that the server answered. */
export async function useServer<TResult>(
  given: ServerArguments,
  setting: CliEnvironment,
  work: ServerWork<TResult>,
): Promise<TResult> {
  const client = new McpClient({
    open: await openServer(given, setting),
    agrees: given.has("yes"),
    timeoutMs: setting.loadTimeoutMs ?? 30_000,
    showsPages: work.showsPages,
    onNotification: work.onNotification,
  });
  // Nothing else may keep the process alive while an app in it waits.
  const keepAlive = setInterval(() => {}, 2 ** 30);
  try {
    return await work.run(client, await client.start());
  } finally {
    clearInterval(keepAlive);
    await client.close();
  }
}
