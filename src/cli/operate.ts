import { parseArgs } from "node:util";
import { Refusal } from "../errors.ts";
import { isLoopback } from "../http/addresses.ts";
import type { ServableApp } from "../mcp/servable-app.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { escapeInvisible } from "../schema/visible-text.ts";
import { refused, usage } from "./cli-errors.ts";
import { loadApp } from "./load-app.ts";
import { McpClient, serverErrorCode, type OpenTransport } from "./mcp-client.ts";
import { createAppTransport, createCommandTransport, createUrlTransport } from "./mcp-transports.ts";
import type { CliEnvironment } from "./terminal.ts";

const flags = {
  url: { type: "string" },
  "token-env": { type: "string" },
  surface: { type: "string" },
  export: { type: "string" },
  count: { type: "string" },
  yes: { type: "boolean" },
} as const;

/** The arguments of `call`, `read` or `watch`. */
interface OperationArguments {
  readonly values: ReturnType<typeof parseArgs<{ options: typeof flags }>>["values"];
  /** The module, if there is no URL and no command. */
  readonly module: string | undefined;
  /** The command that starts the server. */
  readonly command: readonly string[] | undefined;
  /** The tool or URI. */
  readonly subject: string;
  readonly rest: readonly string[];
}

/** @throws Refusal `USAGE` for options that exclude each other. */
function assertOneServer({ values, command }: Pick<OperationArguments, "values" | "command">, doing: string): void {
  const empty = Object.entries(values).find(([, value]) => value === "");
  if (empty !== undefined) throw usage(`${doing}: "--${empty[0]}" must not be empty`);
  if (command?.length === 0) throw usage(`${doing}: name the command after "--"`);
  if (command !== undefined && values.url !== undefined) throw usage(`${doing}: "--url" excludes a command`);
  if ((command ?? values.url) === undefined || (values.surface ?? values.export) === undefined) return;
  throw usage(`${doing}: "--surface" and "--export" are for apps in this process; the server's address names the view`);
}

/** @throws Refusal `USAGE`. */
function readOperation(args: readonly string[], doing: string): OperationArguments {
  const at = args.indexOf("--");
  const command = at < 0 ? undefined : args.slice(at + 1);
  const own = at < 0 ? [...args] : args.slice(0, at);
  const { values, positionals } = parseArgs({ args: own, options: flags, allowPositionals: true, strict: true });
  assertOneServer({ values, command }, doing);
  const isLocal = (command ?? values.url) === undefined;
  const [subject, ...rest] = isLocal ? positionals.slice(1) : positionals;
  if (subject !== undefined) return { values, module: isLocal ? positionals[0] : undefined, command, subject, rest };
  const server = isLocal ? "name a module that exports an app, and then " : "name ";
  throw usage(`${doing}: ${server}${doing === "Cannot call" ? "a tool" : "the URI of a resource"}`);
}

function isServable(value: unknown): value is ServableApp {
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

async function openServer(given: OperationArguments, setting: CliEnvironment): Promise<OpenTransport> {
  const { values, module, command } = given;
  const { cwd, loadTimeoutMs: timeoutMs } = setting;
  if (command !== undefined) return createCommandTransport(command, cwd);
  if (values.url !== undefined) return openUrl(values.url, values["token-env"], setting);
  const app = await loadApp({ given: module ?? "", cwd, exported: values.export, timeoutMs, isApp: isServable });
  return createAppTransport(app, values.surface);
}

const textOf = (value: unknown): string => escapeInvisible(typeof value === "string" ? value : JSON.stringify(value));

/** Renders progress or a log entry; `undefined` for other notifications. */
function renderNotification(method: string, params: JsonObject): string | undefined {
  const { progress, total, message, level, data = null } = params;
  if (method === "notifications/message") return `${textOf(level)}: ${textOf(data)}\n`;
  if (method !== "notifications/progress") return undefined;
  const steps = `progress ${textOf(progress)}${total === undefined ? "" : `/${textOf(total)}`}`;
  return message === undefined ? `${steps}\n` : `${steps}: ${textOf(message)}\n`;
}

/** Work with a connected server. */
interface Operation {
  run(client: McpClient): Promise<0 | 1>;
  /** Called for each notification. */
  notified?(): void;
}

/** Connects, runs one operation, and disconnects. Returns 1 for an error that the server answered. */
async function operate(given: OperationArguments, setting: CliEnvironment, work: Operation): Promise<0 | 1> {
  const client = new McpClient({
    open: await openServer(given, setting),
    agrees: given.values.yes === true,
    timeoutMs: setting.loadTimeoutMs ?? 30_000,
    onNotification(method, params) {
      const line = renderNotification(method, params);
      if (line !== undefined) setting.complain(line);
      if (method === "notifications/resources/updated" || method === "closed") work.notified?.();
    },
  });
  // Nothing else may keep the process alive while an app in it waits.
  const keepAlive = setInterval(() => {}, 2 ** 30);
  try {
    await client.start();
    return await work.run(client);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== serverErrorCode) throw error;
    setting.complain(`surface-mcp: ${textOf(error.message)}\n`);
    return 1;
  } finally {
    clearInterval(keepAlive);
    await client.close();
  }
}

function readArguments([text = "{}", ...more]: readonly string[]): JsonObject {
  if (more.length > 0) throw usage(`Cannot call: give the arguments as one JSON object, in quotes`);
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch {
    args = undefined;
  }
  if (isJsonObject(args)) return args;
  throw usage(`Cannot call: the arguments must be a JSON object, are "${text}"`);
}

/**
 * Calls one tool, and writes the result as JSON; progress and log entries go to standard error.
 *
 * @returns 1 if the server refused the call, or the tool failed.
 * @throws Refusal `USAGE` or `REFUSED`, SurfaceError `UNAVAILABLE`, and any error of the app's module.
 */
export function call(args: readonly string[], setting: CliEnvironment): Promise<0 | 1> {
  const given = readOperation(args, "Cannot call");
  const params = { name: given.subject, arguments: readArguments(given.rest), _meta: { progressToken: 1 } };
  return operate(given, setting, {
    async run(client) {
      const result = await client.request("tools/call", params);
      setting.write(`${JSON.stringify(result, null, 2)}\n`);
      return result["isError"] === true ? 1 : 0;
    },
  });
}

/** Reads one resource, and writes the result as JSON. Returns and throws as {@link call}. */
export function read(args: readonly string[], setting: CliEnvironment): Promise<0 | 1> {
  const given = readOperation(args, "Cannot read");
  if (given.rest.length > 0) throw usage("Cannot read: name one URI");
  return operate(given, setting, {
    async run(client) {
      setting.write(`${JSON.stringify(await client.request("resources/read", { uri: given.subject }), null, 2)}\n`);
      return 0;
    },
  });
}

function readCount(text: string | undefined): number {
  const count = text === undefined ? Number.POSITIVE_INFINITY : Number(text);
  if (text === undefined || (Number.isInteger(count) && count > 0)) return count;
  throw usage(`Cannot watch: "--count" must be a number from 1 on, is "${text}"`);
}

/** Writes a resource as one line of JSON, now and after each change, until `--count` lines. Returns and throws as {@link call}. */
export function watch(args: readonly string[], setting: CliEnvironment): Promise<0 | 1> {
  const given = readOperation(args, "Cannot watch");
  if (given.rest.length > 0) throw usage("Cannot watch: name one URI");
  const count = readCount(given.values.count);
  let isChanged = true;
  let wake = (): void => {};
  return operate(given, setting, {
    notified() {
      isChanged = true;
      wake();
    },
    async run(client) {
      await client.listen();
      await client.request("resources/subscribe", { uri: given.subject });
      let last = "";
      for (let left = count; left > 0;) {
        if (!isChanged) await new Promise<void>((resolve) => (wake = resolve));
        isChanged = false;
        // Also finds out that the server is gone.
        const text = JSON.stringify(await client.request("resources/read", { uri: given.subject }));
        // Two notifications may announce one value.
        if (text === last) continue;
        last = text;
        left -= 1;
        setting.write(`${text}\n`);
      }
      return 0;
    },
  });
}
