import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { CallContext } from "../call/call-context.ts";
import { anonymous, defaultView, type Caller } from "../surface/caller.ts";
import type { LogEntry, ProgressReport } from "../catalog/entry.ts";
import type { WireName } from "../catalog/wire-name.ts";
import type { AppNames } from "../builder/app-names.ts";
import type { LinkedApp } from "../builder/stages.ts";
import { jsonMimeType } from "../catalog/resource-content.ts";
import { SurfaceError } from "../errors.ts";
import type { HandledMethod } from "../mcp/handlers.ts";
import { rpcCodes, toRpcError, type Era } from "../mcp/protocol.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import type { InferInput, Schema } from "../schema/standard.ts";
import { expandTemplate, type TemplateVariables } from "./expand-template.ts";
import { readAnswer } from "./read-answer.ts";
import { RpcFailure } from "./rpc-failure.ts";
import { toToolAnswer, type ToolAnswer } from "./tool-answer.ts";

/** What a test may say about one call. */
export interface TestCallOptions {
  /** Receives progress, as a client that sent a progress token would. */
  readonly onProgress?: (report: ProgressReport) => void;
  /** Receives what the call tells the client's log, at every level. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Cancels the call, as `notifications/cancelled` would. */
  readonly signal?: AbortSignal;
  /** Who calls. Default: whom the client was made for. */
  readonly caller?: Caller;
}

/** What the tools of some kinds take besides the member's own input. */
type Synthetic<TKind> = TKind extends "event"
  ? { readonly since?: string; readonly timeout_ms?: number }
  : TKind extends "stream"
    ? { readonly max_items?: number; readonly wait_ms?: number }
    : unknown;

/** What a tool without input takes. */
type NoArguments = Readonly<Record<never, never>>;

/** A schema's input as tool arguments: an object as it is, anything else under `value`. */
type AsArguments<TInput> = TInput extends Schema
  ? InferInput<TInput> extends object
    ? InferInput<TInput> extends readonly unknown[]
      ? { readonly value: InferInput<TInput> }
      : InferInput<TInput>
    : { readonly value: InferInput<TInput> }
  : NoArguments;

/** The arguments of a member's tool, by its name on the wire. */
type MemberArguments<TSpec> = {
  [Key in keyof TSpec & string as WireName<Key>]: TSpec[Key] extends {
    readonly kind: infer Kind;
    readonly input: infer Input;
  }
    ? AsArguments<Input> & Synthetic<Kind>
    : never;
};

/** The arguments of the tools that `pull()` adds. */
interface PullArguments {
  readonly read_resource: { readonly uri: string };
  readonly wait_for_change: {
    readonly uris: readonly string[];
    readonly since?: string;
    readonly timeout_ms?: number;
  };
}

/** The arguments of one tool: a bespoke tool's input where there is one of that name, else those of pull(), or the member's. */
type ArgumentsOf<TSpec, TNames extends AppNames, TName> = TName extends keyof TNames["inputs"]
  ? AsArguments<[Extract<TNames["inputs"][TName], Schema>] extends [never] ? undefined : TNames["inputs"][TName]>
  : [TName, keyof PullArguments] extends [keyof PullArguments, TNames["tools"]]
    ? PullArguments[TName & keyof PullArguments]
    : TName extends keyof MemberArguments<TSpec>
      ? MemberArguments<TSpec>[TName]
      : JsonObject;

/** The parameters of a call: arguments may be left out where none is required. */
type CallParameters<TArguments> = NoArguments extends TArguments
  ? [args?: TArguments, options?: TestCallOptions]
  : [args: TArguments, options?: TestCallOptions];

/** One function a tool that the app may offer, by its name on the wire. */
export type TestTools<TNames extends AppNames, TSpec> = {
  readonly [Name in TNames["tools"]]: (
    ...call: CallParameters<ArgumentsOf<TSpec, TNames, Name>>
  ) => Promise<ToolAnswer>;
};

/** An in-memory MCP client, typed from the app. Whoever made it closes it. */
export interface TestClient<TNames extends AppNames, TSpec> {
  readonly tools: TestTools<TNames, TSpec>;
  /**
   * Reads a resource by its key and parses it; with variables, one of the family that its template describes. What is no
   * JSON comes as its text, or its bytes in base64.
   *
   * @throws RpcFailure with the protocol's code when there is none, SurfaceError `NOT_FOUND` when none is listed under the
   * key, `INVALID_OPTION` for a variable that no URI can hold.
   */
  read(key: TNames["resources"], variables?: TemplateVariables): Promise<JsonValue>;
  /**
   * Watches a resource by its member's key, and variables as in {@link TestClient.read}: `changed` is called as often as a
   * subscriber would be told. Resolves once no change is missed any more, with what ends it.
   *
   * @throws SurfaceError `NOT_FOUND` when there is none, `INVALID_OPTION` for a variable that no URI can hold.
   */
  watch(key: TNames["resources"], changed: () => void, variables?: TemplateVariables): Promise<() => void>;
  /**
   * Has a prompt written, by its name on the wire: its description and messages. All its arguments are texts.
   *
   * @throws RpcFailure with the protocol's code when there is none, or its arguments do not fit.
   */
  prompt(
    name: TNames["prompts"],
    args?: Readonly<Record<string, string>>,
    options?: TestCallOptions,
  ): Promise<JsonObject>;
  /**
   * What is proposed for an argument of a prompt, or a variable of a template, that somebody has begun to write.
   *
   * @param filled - the others that are filled in already.
   * @throws RpcFailure with the protocol's code when there is no such prompt, SurfaceError `NOT_FOUND` when there is no
   * such template.
   */
  complete(of: Completable<TNames>, begun?: string, filled?: Readonly<Record<string, string>>): Promise<Proposals>;
  /** The names of all tools, over all pages, in the order of the wire. */
  toolNames(): Promise<readonly string[]>;
  /** What is listed of them, over all pages: names, schemas, hints. */
  listTools(): Promise<readonly JsonObject[]>;
  /**
   * Sends any request that the package answers itself.
   *
   * @throws RpcFailure when the answer is an error; it names the scopes where the caller was not granted them, as whatever
   * else asks for them does.
   */
  request(method: HandledMethod, params?: JsonObject, options?: TestCallOptions): Promise<JsonObject>;
  /** Closes the app that was opened for it. Callable twice. */
  close(): Promise<void>;
}

/** What can be completed: an argument of a prompt, or a variable of the template of a resource. */
export type Completable<TNames extends AppNames> =
  | { readonly prompt: TNames["prompts"]; readonly argument: string }
  | { readonly resource: TNames["resources"]; readonly variable: string };

/** What is proposed. */
export interface Proposals {
  /** At most 100. */
  readonly values: readonly string[];
  /** How many there are, with those that are left out. Left out itself where there are too many to count. */
  readonly total?: number;
  readonly hasMore: boolean;
}

/** What {@link createTestClient} may be told. */
export interface TestClientOptions {
  /** The era that the client speaks. Default `"modern"`. */
  readonly era?: Era;
  /** Who asks, as if a token had said so. Default: somebody of whom nothing is known, and nothing is asked. */
  readonly caller?: Caller;
  /** The view that the client comes by. Default: the caller's own, else `"default"`. */
  readonly surface?: string;
  /** The project that rules of views are asked about. */
  readonly project?: string;
}

/** Who asks, by the view that was chosen for them. */
function byView(caller: Caller, { surface, project }: TestClientOptions): Caller {
  if (surface === undefined && project === undefined) return caller;
  const view = { surface: defaultView, ...caller.view };
  return {
    ...caller,
    view: { ...view, surface: surface ?? view.surface, ...(project === undefined ? {} : { project }) },
  };
}

const unknownMethod = toRpcError(rpcCodes.methodNotFound, "Method not found");

function textAt(from: JsonObject, key: string): string {
  const found = from[key];
  return typeof found === "string" ? found : "";
}

/** `then` is asked for by whoever awaits `client.tools`, symbols by whoever prints it: neither is a call. */
function isToolName(name: string | symbol): name is string {
  return typeof name === "string" && name !== "then";
}

class InMemoryClient {
  readonly #runtime: AppRuntime;
  readonly #era: Era;
  readonly #options: TestClientOptions;
  readonly #caller: Caller;
  readonly tools: object;

  constructor(runtime: AppRuntime, options: TestClientOptions) {
    const { era = "modern", caller = anonymous } = options;
    this.#runtime = runtime;
    this.#era = era;
    this.#options = options;
    this.#caller = byView(caller, options);
    // A function for whatever name is asked for: a name that does not exist answers as it does on the wire.
    this.tools = new Proxy(Object.freeze({}), {
      get: (_target, name) => (isToolName(name) ? this.#toCaller(name) : undefined),
    });
  }

  async request(method: HandledMethod, params?: JsonObject, options: TestCallOptions = {}): Promise<JsonObject> {
    const { signal, onProgress, onLog } = options;
    const caller = options.caller === undefined ? this.#caller : byView(options.caller, this.#options);
    const refusal = this.#runtime.refuse(caller);
    if (refusal !== undefined) throw new RpcFailure(refusal);
    const handler = this.#runtime.handlers[method];
    if (handler === undefined) throw new RpcFailure(unknownMethod);
    const call = new CallContext({ sink: onProgress, log: onLog, caller });
    const cancel = (): void => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (signal?.aborted === true) cancel();
      return readAnswer(await handler(params, { era: this.#era, call }));
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
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
            ref: { type: "ref/resource", uri: await this.#listedUri(of.resource, true) },
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
      const watched = this.#runtime.resourcesFor(this.#caller).watch(uri, changed, opened);
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
    return this.#runtime.close();
  }

  #toCaller(name: string): (args?: JsonObject, options?: TestCallOptions) => Promise<ToolAnswer> {
    return (args = {}, options = {}) => this.#call(name, args, options);
  }

  async #call(name: string, args: JsonObject, options: TestCallOptions): Promise<ToolAnswer> {
    return toToolAnswer(await this.request("tools/call", { name, arguments: args }, options));
  }

  async #uri(key: string, variables: TemplateVariables | undefined): Promise<string> {
    return expandTemplate(await this.#listedUri(key, variables !== undefined), variables ?? {});
  }

  /** The URI of a resource, or the template of a family of them. */
  async #listedUri(key: string, isTemplate: boolean): Promise<string> {
    const [method, list, field] = isTemplate
      ? (["resources/templates/list", "resourceTemplates", "uriTemplate"] as const)
      : (["resources/list", "resources", "uri"] as const);
    const entry = (await this.#list(method, list)).find((each) => each["name"] === key);
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

const optionNames = Object.keys({ era: true, caller: true, surface: true, project: true } satisfies Record<
  keyof TestClientOptions,
  true
>);

/**
 * Opens an app and drives it from the same process, without a transport: what a test of an exposure needs.
 *
 * @throws SurfaceError with a boot code, as serving would.
 * @example
 * ```ts
 * const client = createTestClient(app);
 * const answer = await client.tools.bump({ by: 2 });
 * await client.close();
 * ```
 */
export function createTestClient<TSpec, TNames extends AppNames>(
  app: LinkedApp<TNames, TSpec>,
  options: TestClientOptions = {},
): TestClient<TNames, TSpec> {
  assertKnownOptions(options, optionNames, "Making a test client");
  // The proxy behind `tools` answers to every name; the type lets through those of the app.
  return new InMemoryClient(app.open(), options) as unknown as TestClient<TNames, TSpec>;
}
