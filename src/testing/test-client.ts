import type { AppNames } from "../builder/app-names.ts";
import { kDefinition } from "../builder/app-definition.ts";
import type { LinkedApp } from "../builder/stages.ts";
import { jsonMimeType } from "../catalog/content/resource-body.ts";
import { SurfaceError } from "../errors.ts";
import type { HandledMethod } from "../mcp/handlers.ts";
import { rpcCodes, unknownMethod } from "../mcp/protocol.ts";
import type { AppRuntime, ServableApp } from "../mcp/servable-app.ts";
import type { Observation } from "../observe/observation.ts";
import type { Observers } from "../observe/observers.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import { withChosenView, anonymous, type Caller } from "../surface/caller.ts";
import { assertKnownOptions } from "../options/known-names.ts";
import { expandTemplate, type TemplateVariables } from "./expand-template.ts";
import { createValueReader, type ReadValue } from "./read-value.ts";
import { RpcFailure } from "./rpc-failure.ts";
import type { Completable, TestCallOptions, TestClient, TestClientOptions } from "./test-client-types.ts";
import { TestSession } from "./test-session.ts";
import { TestUser } from "./test-user.ts";
import { toRefusedAnswer, toToolAnswer, type ToolAnswer } from "./tool-answer.ts";

/** Returns the caller with the view that the client chooses. */
function byView(caller: Caller, { view: surface, project }: TestClientOptions): Caller {
  return surface === undefined && project === undefined ? caller : withChosenView(caller, { surface, project });
}

function textAt(from: JsonObject, key: string): string {
  const found = from[key];
  return typeof found === "string" ? found : "";
}

/** `await client.tools` reads `then`, and printing it reads symbols: neither is the name of a tool. */
function isToolName(name: string | symbol): name is string {
  return typeof name === "string" && name !== "then";
}

/**
 * Returns the refusal of a call that its client lacks a capability for. From 2026-07-28 on that is an error of the protocol, and
 * up to 2025-11-25 a result: a test gets one answer for both.
 */
function toClientCannot({ code, message, data }: RpcFailure) {
  if (code !== rpcCodes.missingCapability || !isJsonObject(data)) return undefined;
  return { code: "CLIENT_CANNOT", message, details: data };
}

/** The parts of a test client. */
interface TestClientDeps {
  readonly runtime: AppRuntime;
  readonly user: TestUser;
  readonly readerOf: (tool: string) => ReadValue;
  readonly recording: Recording;
}

/** The newest records of an app, in order. */
interface Recording {
  readonly records: readonly Observation[];
  readonly stop: () => void;
}

/** Records that a client keeps: a test reads few, and a long one must not fill the memory. */
const maxRecords = 10_000;

function recordObservations(observers: Observers): Recording {
  const records: Observation[] = [];
  const stop = observers.add((observation) => {
    if (records.push(observation) > maxRecords) records.shift();
  });
  return { records, stop };
}

/** A collection may have a template of items and one of pages. */
function hasVariables(template: string, names: readonly string[]): boolean {
  return names.every((name) => new RegExp(`[{/?,]${name}[},]`).test(template));
}

class InMemoryClient {
  readonly #runtime: AppRuntime;
  readonly #session: TestSession;
  readonly #readerOf: (tool: string) => ReadValue;
  readonly #options: TestClientOptions;
  readonly #caller: Caller;
  readonly #recording: Recording;
  readonly tools: object;

  constructor({ runtime, user, readerOf, recording }: TestClientDeps, options: TestClientOptions) {
    const { era = "modern", caller = anonymous } = options;
    this.#runtime = runtime;
    this.#readerOf = readerOf;
    this.#options = options;
    this.#caller = byView(caller, options);
    this.#session = new TestSession(runtime, { era, user, caller: this.#caller });
    this.#recording = recording;
    // Every name has a function: calling an unknown tool answers as on the wire.
    this.tools = new Proxy(Object.freeze({}), {
      get: (_target, name) => (isToolName(name) ? this.#toCaller(name) : undefined),
    });
  }

  /** The records of this client, and of what belongs to no session. */
  get observations(): readonly Observation[] {
    const { id } = this.#session;
    return this.#recording.records.filter((record) => !("session" in record) || record.session === id);
  }

  async request(method: HandledMethod, params?: JsonObject, options: TestCallOptions = {}): Promise<JsonObject> {
    const caller = options.caller === undefined ? this.#caller : byView(options.caller, this.#options);
    const view = this.#runtime.viewFor(caller);
    const handler = this.#runtime.handlers[method];
    if (view.kind === "error" || handler === undefined) {
      const error = view.kind === "error" ? view : unknownMethod;
      this.#session.refused(error, caller);
      throw new RpcFailure(error);
    }
    return this.#session.request({ method, handler, params, view, caller, options });
  }

  async read(key: string, variables?: TemplateVariables): Promise<JsonValue> {
    const result = await this.request("resources/read", { uri: await this.#uri(key, variables) });
    const [content] = Array.isArray(result["contents"]) ? result["contents"] : [];
    if (!isJsonObject(content)) return null;
    const text = textAt(content, "text");
    if (textAt(content, "mimeType") !== jsonMimeType) return content["blob"] ?? text;
    // What JSON.parse returns is a JSON value.
    return JSON.parse(text) as JsonValue;
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: TestCallOptions = {},
  ): Promise<JsonObject> {
    return this.request("prompts/get", { name, arguments: args }, options);
  }

  async complete(of: Completable<AppNames>, begun = "", filled?: Readonly<Record<string, string>>): Promise<JsonValue> {
    const asked =
      "prompt" in of
        ? { ref: { type: "ref/prompt", name: of.prompt }, argument: { name: of.argument, value: begun } }
        : {
            ref: { type: "ref/resource", uri: await this.#listedUri(of.resource, [of.variable]) },
            argument: { name: of.variable, value: begun },
          };
    const params = filled === undefined ? asked : { ...asked, context: { arguments: filled } };
    const { completion = null } = await this.request("completion/complete", params);
    return completion;
  }

  async watch(key: string, changed: () => void, variables?: TemplateVariables): Promise<() => void> {
    const uri = await this.#uri(key, variables);
    return new Promise((resolve, reject) => {
      const refuse = (): void => reject(new SurfaceError("NOT_FOUND", `Watching "${key}": there is nothing under it`));
      // Told in a later turn, so that `end` is there.
      const opened = (isThere: boolean): void =>
        queueMicrotask(() => {
          if (isThere) return resolve(end);
          end();
          refuse();
        });
      const watched = this.#runtime.resources.watch(this.#caller, uri, { changed, opened });
      if (watched === undefined) refuse();
      const end = watched ?? ((): void => {});
    });
  }

  async toolNames(): Promise<readonly string[]> {
    const tools = await this.listTools();
    return tools.map((tool) => textAt(tool, "name"));
  }

  listTools(): Promise<readonly JsonObject[]> {
    return this.#list("tools/list", "tools");
  }

  close(): Promise<void> {
    this.#session.close();
    return this.#runtime.close().finally(this.#recording.stop);
  }

  #toCaller(name: string): (args?: JsonObject, options?: TestCallOptions) => Promise<ToolAnswer> {
    return (args = {}, options = {}) => this.#call(name, args, options);
  }

  async #call(name: string, args: JsonObject, options: TestCallOptions): Promise<ToolAnswer> {
    try {
      const result = await this.request("tools/call", { name, arguments: args }, options);
      return toToolAnswer(result, (structured) => this.#readerOf(name)(structured));
    } catch (cause) {
      const error = cause instanceof RpcFailure ? toClientCannot(cause) : undefined;
      if (error === undefined) throw cause;
      const text = `${error.code}: ${error.message}`;
      return toRefusedAnswer(error, text, [{ type: "text", text }]);
    }
  }

  async #uri(key: string, variables: TemplateVariables | undefined): Promise<string> {
    return expandTemplate(await this.#listedUri(key, variables && Object.keys(variables)), variables ?? {});
  }

  /** The URI of a resource, or the template that has these variables. */
  async #listedUri(key: string, variables: readonly string[] | undefined): Promise<string> {
    const [method, list, field] = variables
      ? (["resources/templates/list", "resourceTemplates", "uriTemplate"] as const)
      : (["resources/list", "resources", "uri"] as const);
    const named = (await this.#list(method, list)).filter((each) => each["name"] === key);
    const entry = named.find((each) => hasVariables(textAt(each, field), variables ?? [])) ?? named[0];
    if (entry === undefined) throw new SurfaceError("NOT_FOUND", `Reading "${key}": no such resource is listed`);
    return textAt(entry, field);
  }

  async #list(method: HandledMethod, key: string): Promise<readonly JsonObject[]> {
    const found: JsonObject[] = [];
    let cursor: JsonValue | undefined;
    do {
      const page = await this.request(method, cursor === undefined ? {} : { cursor });
      const items = page[key];
      if (Array.isArray(items)) found.push(...items.filter(isJsonObject));
      cursor = page["nextCursor"];
    } while (cursor !== undefined);
    return found;
  }
}

function openRecorded(app: ServableApp, { stop }: Recording): AppRuntime {
  try {
    return app.open();
  } catch (cause) {
    stop();
    throw cause;
  }
}

const optionNames = Object.keys({
  era: true,
  caller: true,
  view: true,
  project: true,
  elicit: true,
  sample: true,
  roots: true,
} satisfies Record<keyof TestClientOptions, true>);

/**
 * Opens an app and drives it from the same process, without a transport, as a client whose user the test plays.
 *
 * @throws SurfaceError with a boot code, as serving would.
 * @example
 * ```ts
 * const client = createTestClient(app, { elicit: () => true });
 * const { value } = await client.tools.bump({ by: 2 });
 * await client.close();
 * ```
 */
export function createTestClient<TSpec, TNames extends AppNames>(
  app: LinkedApp<TNames, TSpec>,
  options: TestClientOptions = {},
): TestClient<TNames, TSpec> {
  assertKnownOptions(options, optionNames, "Making a test client");
  const user = new TestUser(options);
  const readerOf = createValueReader(app[kDefinition]);
  const recording = recordObservations(app[kDefinition].observers);
  const deps = { runtime: openRecorded(app, recording), user, readerOf, recording };
  // The proxy behind `tools` answers to every name; the type lets through those of the app.
  return new InMemoryClient(deps, options) as unknown as TestClient<TNames, TSpec>;
}
