import { Refusal } from "../errors.ts";
import { nearNames } from "../options/known-names.ts";
import { rpcCodes } from "../mcp/protocol.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import { escapeInvisible, toVisibleJson } from "../schema/visible-text.ts";
import { usage } from "./cli-errors.ts";
import { serverErrorCode, type McpClient } from "./mcp-client.ts";
import { readServerArguments, useServer, type ServerArguments } from "./server-argument.ts";
import type { CliEnvironment } from "./terminal.ts";

const flags = { surface: { type: "string" }, count: { type: "string" }, yes: { type: "boolean" } } as const;

/** The arguments of `call`, `read` or `watch`. */
interface OperationArguments extends ServerArguments {
  /** The tool or URI. */
  readonly subject: string;
  readonly rest: readonly string[];
}

/** Returns whether a tool or URI was meant as a module: other arguments follow that cannot be those of a tool. */
function isModule(subject: string, [next]: readonly string[]): boolean {
  return next !== undefined && !next.startsWith("{") && /^[^:]+\.[cm]?[jt]sx?$/.test(subject);
}

/** @throws Refusal `USAGE`. */
function readOperation(args: readonly string[], doing: string): OperationArguments {
  const server = readServerArguments(args, flags, doing);
  const [subject, ...rest] = server.others;
  if (subject !== undefined && server.isRemote && isModule(subject, rest)) {
    throw usage(`${doing}: name a module or ${server.command === undefined ? '"--url"' : "a command"}, not both`);
  }
  if (subject !== undefined) return { ...server, subject, rest };
  const named = server.isRemote ? "name " : "name a module that exports an app, and then ";
  throw usage(`${doing}: ${named}${doing === "Cannot call" ? "a tool" : "the URI of a resource"}`);
}

const textOf = (value: unknown): string => escapeInvisible(typeof value === "string" ? value : JSON.stringify(value));

/** Renders progress or a log entry; `undefined` for other notifications. */
function renderNotification(method: string, params: JsonObject): string | undefined {
  const { progress = null, total, message, level = null, data = null } = params;
  if (method === "notifications/message") return `${textOf(level)}: ${textOf(data)}\n`;
  if (method !== "notifications/progress") return undefined;
  const steps = `progress ${textOf(progress)}${total === undefined ? "" : `/${textOf(total)}`}`;
  return message === undefined ? `${steps}\n` : `${steps}: ${textOf(message)}\n`;
}

/** A server, and the capabilities that it declared. */
interface Session {
  readonly client: McpClient;
  readonly capabilities: JsonValue | undefined;
}

/** Work with a connected server. */
interface Operation {
  /** @param handshake - the result of the handshake. */
  run(client: McpClient, handshake: JsonObject): Promise<0 | 1>;
  /** Called for each notification. */
  notified?(): void;
}

/** Runs one operation with a server. Returns 1 for an error that the server answered. */
async function operate(given: OperationArguments, setting: CliEnvironment, work: Operation): Promise<0 | 1> {
  try {
    return await useServer(given, setting, {
      run: (client, handshake) => work.run(client, handshake),
      onNotification(method, params) {
        const line = renderNotification(method, params);
        if (line !== undefined) setting.complain(line);
        if (method === "notifications/resources/updated" || method === "closed") work.notified?.();
      },
    });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== serverErrorCode) throw error;
    setting.complain(`surface-mcp: ${textOf(error.message)}\n`);
    return 1;
  }
}

function readToolArguments([text = "{}", ...more]: readonly string[]): JsonObject {
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

/** Returns whether a tool of this package did not run because the client cannot be asked. */
function cannotConfirm({ _meta }: JsonObject): boolean {
  const error = isJsonObject(_meta) ? _meta["surface-mcp/error"] : undefined;
  return isJsonObject(error) && error["code"] === "CLIENT_CANNOT" && JSON.stringify(error).includes('"elicitation":');
}

/** The number of tools that a message names. */
const maxNamed = 10;

/** Returns the command that reads a resource of the same server. */
function toReadCommand(uri: string, given: OperationArguments): string {
  const { command, positionals } = given;
  const url = given.text("url");
  const before = url === undefined ? positionals.slice(0, 1) : ["--url", url];
  const words = command === undefined ? [...before, uri] : [uri, "--", ...command];
  return `surface-mcp read ${words.join(" ")}`;
}

/** Returns whether a server answered that it has no such tool, or that its arguments are wrong. */
function isInvalid(error: unknown): boolean {
  if (!(error instanceof Refusal) || error.code !== serverErrorCode || !isJsonObject(error.details)) return false;
  return error.details["code"] === rpcCodes.invalidParams;
}

/**
 * Returns the advice for an unknown tool; `undefined` if the server has it. A user may have written a member, whose dots are `_` in a tool,
 * or which is a resource.
 */
async function adviseOn(given: OperationArguments, { client, capabilities }: Session): Promise<string | undefined> {
  const has = (capability: string): boolean => isJsonObject(capabilities) && capabilities[capability] !== undefined;
  const name = given.subject;
  const tools = has("tools") ? await client.list("tools/list", "tools") : [];
  const names = tools.flatMap(({ name: one }) => (typeof one === "string" ? [one] : [])).toSorted();
  if (names.includes(name)) return undefined;
  const resources = has("resources") ? await client.list("resources/list", "resources") : [];
  const uri = resources.find((one) => one["name"] === name || one["uri"] === name)?.["uri"];
  if (typeof uri === "string") return `"${name}" is a resource: ${toReadCommand(uri, given)}`;
  const near = nearNames(name, names);
  const [verb, named] = near.length > 0 ? ["near it are", near] : ["its tools are", names.slice(0, maxNamed)];
  const list = named.length === 0 ? "it has none" : `${verb} ${named.map((one) => `"${one}"`).join(", ")}`;
  return `it has no tool "${name}"; ${list}`;
}

/**
 * Calls one tool, and writes the result as JSON; progress and log entries go to standard error.
 *
 * @returns 1 if the server refused the call, or the tool failed.
 * @throws Refusal `USAGE` or `REFUSED`, SurfaceError `UNAVAILABLE`, and any error of the app's module.
 */
export function call(args: readonly string[], setting: CliEnvironment): Promise<0 | 1> {
  const given = readOperation(args, "Cannot call");
  const params = { name: given.subject, arguments: readToolArguments(given.rest), _meta: { progressToken: 1 } };
  return operate(given, setting, {
    async run(client, { capabilities }) {
      const result = await client.request("tools/call", params).catch(async (error: unknown) => {
        const advice = isInvalid(error) ? await adviseOn(given, { client, capabilities }) : undefined;
        throw advice === undefined ? error : new Refusal(serverErrorCode, advice);
      });
      setting.write(`${toVisibleJson(result, 2)}\n`);
      if (!given.has("yes") && cannotConfirm(result)) {
        setting.complain('surface-mcp: the tool asks the user first; if you agree to this call, add "--yes"\n');
      }
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
      setting.write(`${toVisibleJson(await client.request("resources/read", { uri: given.subject }), 2)}\n`);
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
  const count = readCount(given.text("count"));
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
        const text = toVisibleJson(await client.request("resources/read", { uri: given.subject }));
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
