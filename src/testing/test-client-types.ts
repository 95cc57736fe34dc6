import type { AppNames } from "../builder/app-names.ts";
import type { LogEntry, ProgressReport } from "../catalog/entry.ts";
import type { HandledMethod } from "../mcp/handlers.ts";
import type { Era } from "../mcp/protocol.ts";
import type { Observation } from "../observe/observation.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import type { TemplateVariables } from "./expand-template.ts";
import type { TestUserOptions } from "./test-user.ts";
import type { ToolAnswer } from "./tool-answer.ts";
import type { ArgumentsOf, NoArguments, ValueOf } from "./tool-types.ts";

/** Options of one call. */
export interface TestCallOptions {
  /** Receives progress, as a client that sent a progress token would. */
  readonly onProgress?: (report: ProgressReport) => void;
  /** Receives what the call tells the client's log, at every level. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Cancels the call, as `notifications/cancelled` would. */
  readonly signal?: AbortSignal;
  /** @default the caller of the client */
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

/** An in-memory MCP client, typed from the app. Call `close()` when done. */
export interface TestClient<TNames extends AppNames, TSpec> {
  readonly tools: TestTools<TNames, TSpec>;
  /**
   * The records of this client's session, and those without a session, such as of the link: the newest 10,000, in order. Arguments
   * and results are in none of them; add an observer with `values` by `app.observe()` for those.
   */
  readonly observations: readonly Observation[];
  /**
   * Reads a resource by its key and parses its JSON. Pass `variables` for a resource of a template. Content that is not JSON comes
   * as its text, or as its bytes in base64.
   *
   * @throws RpcFailure with the protocol's code if the resource does not exist, SurfaceError `NOT_FOUND` if no resource is listed
   * under the key, `INVALID_OPTION` for a variable that no URI can hold.
   */
  read(key: TNames["resources"], variables?: TemplateVariables): Promise<JsonValue>;
  /**
   * Watches a resource by its member's key, and variables as in {@link TestClient.read}: `changed` is called for each
   * notification that a subscriber would get. Resolves with a function that ends the watch; from then on no change is missed.
   *
   * @throws SurfaceError `NOT_FOUND` if the resource does not exist, `INVALID_OPTION` for a variable that no URI can hold.
   */
  watch(key: TNames["resources"], changed: () => void, variables?: TemplateVariables): Promise<() => void>;
  /**
   * Gets a prompt by its name on the wire: its description and messages. All arguments are texts.
   *
   * @throws RpcFailure with the protocol's code if the prompt does not exist or its arguments do not fit.
   */
  prompt(
    name: TNames["prompts"],
    args?: Readonly<Record<string, string>>,
    options?: TestCallOptions,
  ): Promise<JsonObject>;
  /**
   * Completes an argument of a prompt, or a variable of a template.
   *
   * @param begun - the text that the user has typed so far.
   * @param filled - the other arguments or variables that are filled in already.
   * @throws RpcFailure with the protocol's code for an unknown prompt, SurfaceError `NOT_FOUND` for an unknown template.
   */
  complete(of: Completable<TNames>, begun?: string, filled?: Readonly<Record<string, string>>): Promise<Proposals>;
  /** The names of all tools, over all pages, in the order of the wire. */
  toolNames(): Promise<readonly string[]>;
  /** The tools as `tools/list` shows them, over all pages. */
  listTools(): Promise<readonly JsonObject[]>;
  /**
   * Sends any request that the package answers itself.
   *
   * @throws RpcFailure if the answer is an error. If the caller lacks scopes, the error names them.
   */
  request(method: HandledMethod, params?: JsonObject, options?: TestCallOptions): Promise<JsonObject>;
  /** Closes the client and its app. Callable twice. */
  close(): Promise<void>;
}

/** An argument of a prompt, or a variable of the template of a resource. */
export type Completable<TNames extends AppNames> =
  | { readonly prompt: TNames["prompts"]; readonly argument: string }
  | { readonly resource: TNames["resources"]; readonly variable: string };

/** Proposals for an argument or a variable. */
export interface Proposals {
  /** At most 100. */
  readonly values: readonly string[];
  /** The number of all proposals, also of those that are left out; `undefined` if they were not counted. */
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
