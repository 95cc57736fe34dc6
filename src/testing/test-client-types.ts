import type { AppNames } from "../builder/app-names.ts";
import type { LogEntry, ProgressReport } from "../catalog/entry.ts";
import type { HandledMethod } from "../mcp/handlers.ts";
import type { Era } from "../mcp/protocol.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import type { TemplateVariables } from "./expand-template.ts";
import type { TestUserOptions } from "./test-user.ts";
import type { ToolAnswer } from "./tool-answer.ts";
import type { ArgumentsOf, NoArguments, ValueOf } from "./tool-types.ts";

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

/** The parameters of a call: arguments may be left out where none is required. */
type CallParameters<TArguments> = NoArguments extends TArguments
  ? [args?: TArguments, options?: TestCallOptions]
  : [args: TArguments, options?: TestCallOptions];

/** One function a tool that the app may offer, by its name on the wire. */
export type TestTools<TNames extends AppNames, TSpec> = {
  readonly [Name in TNames["tools"]]: (
    ...call: CallParameters<ArgumentsOf<TSpec, TNames, Name>>
  ) => Promise<ToolAnswer<ValueOf<TSpec, TNames, Name>>>;
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

/** Options of `createTestClient()`. */
export interface TestClientOptions extends TestUserOptions {
  /** The protocol of the client: `legacy` up to 2025-11-25, `modern` from 2026-07-28. @default "modern" */
  readonly era?: Era;
  /**
   * The caller, as if a token had named them: `{ id: "ben", isAnonymous: false, scopes: ["shop:read"] }`. Default scopes do not
   * bind an anonymous caller, who therefore sees more than a signed-in reader. A call rejects with an `RpcFailure` if a scope
   * is missing; a refusal of the tool resolves with `isError`.
   *
   * @default an anonymous caller
   */
  readonly caller?: Caller;
  /** The view that the client chooses. @default the caller's own, else `"default"` */
  readonly view?: string;
  /** The project in the rules of views. */
  readonly project?: string;
}
