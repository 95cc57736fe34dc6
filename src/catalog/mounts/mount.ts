import { SurfaceError } from "../../errors.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../../schema/json.ts";
import type { Asks } from "../asking/asking.ts";
import type { Schema } from "../../schema/standard.ts";
import type { Confirm } from "../../tags/tool-options.ts";
import type { ScopeOptions } from "../../tags/scopes.ts";
import type { Caller } from "../../surface/caller.ts";
import type { NestedCallOptions } from "../context/tool-context.ts";
import type { LogLevel, ProgressReport } from "../entry.ts";

/** A schema of a mounted operation: one that validates, or a JSON Schema of the 2020-12 dialect. */
export type MountedSchema = Schema | JsonSchema;

/** An operation that is known only at run time. Its id is `<prefix>.<name>`. */
export interface MountedOperation extends ScopeOptions {
  /** Segments of letters, digits, `_` and `-`, joined by dots: `"git.branch"`. Unique within its source. */
  readonly name: string;
  /** `"query"` only reads. `"subscription"` has many results: it is neither listed nor callable. @default "mutation" */
  readonly type?: "query" | "mutation" | "subscription";
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  /** Search terms. */
  readonly tags?: readonly string[];
  /** The schema of its input, an object. @default no input */
  readonly inputSchema?: MountedSchema;
  /** The schema of its output, which is validated. @default any JSON, not validated */
  readonly outputSchema?: MountedSchema;
  /** The schemas of the details of its refusals, by code, for agents. A `Refusal` with another code is passed on too. */
  readonly errorSchemas?: Readonly<Record<string, MountedSchema>>;
  /** `"internal"`: only other operations may call it, and no list shows it. @default "external" */
  readonly visibility?: "external" | "internal";
  /** Whether a change can be hard to undo. @default true unless it only reads */
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
  /** Milliseconds until a call fails with `TIMEOUT`, at most 600,000. @default 60000 */
  readonly timeoutMs?: number;
  /** Asks the user before each call; as the option of tools of this name. */
  readonly confirm?: Confirm;
  /** The tools it may call by `context.call`: ids or names on the wire with the prefix, as patterns with `*` and `?`. @default none */
  readonly reach?: readonly string[];
  /** The scopes that it calls them with. @default the read scope of the app, and its write scope unless it only reads */
  readonly authority?: readonly string[];
}

/** The context of a running operation. */
export interface MountContext {
  /** Fires when the caller cancels, the deadline passes or the app closes. Created on first use. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  readonly progress: (report: ProgressReport) => void;
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void;
  /** Calls another tool or operation within its reach, by its id or name on the wire with the prefix; as `call` of a hand-written tool. */
  readonly call: (id: string, input?: JsonObject, options?: NestedCallOptions) => Promise<JsonValue>;
  /** Asks the client. */
  readonly ask: Asks;
  /** Identifies this call. The same when it runs again with the answers of its client. */
  readonly runId?: string;
  /** Adds members to the `_meta` of the result. */
  readonly addMeta: (members: JsonObject) => void;
  /** The value of the app's `context()` for this call, created on first use. @default a `MemoryContext` */
  readonly context: unknown;
}

/** A resource that is known only at run time. Its URI is `<uriPrefix><prefix>/<path>`, its id `<prefix>/<path>`. */
export interface MountedResource extends ScopeOptions {
  /** Segments, percent-encoded where they have to be, joined by slashes: `"state/hp"`. Unique within its source. */
  readonly path: string;
  readonly title?: string;
  readonly description?: string;
  /** @default "application/json" */
  readonly mimeType?: string;
}

/** A source of operations that are known only at run time: a registry, or another API. Its creator closes it. */
export interface MountSource {
  /**
   * Returns the current operations. Called again after each change; must be quick. An operation stays the same if it is the same object;
   * another object with its name replaces it, and calls that are being authorised are authorised again.
   */
  list(): readonly MountedOperation[];
  /** Calls `changed` after each change. Returns a function that stops it. */
  subscribe(changed: () => void): () => void;
  /**
   * Called before each call of an operation: checks whether it is still as listed, and calls `changed` if not. Must be quick. Left out by a
   * source that announces every change.
   */
  look?(name: string): void;
  /** Runs an operation with validated input. An error is masked, except a `Refusal`. */
  invoke(name: string, input: unknown, context: MountContext): unknown;
  /** Returns the current resources. Called again after each change. @default none */
  resources?(): readonly MountedResource[];
  /** Reads a path: JSON, the result of `body()`, or a promise; `undefined` if it is absent. Required with {@link resources}. */
  read?(path: string, context: MountContext): unknown;
  /** Calls `changed` whenever a path may have changed. Returns a function that stops it. @default announces no change */
  watch?(path: string, changed: () => void): () => void;
}

const methods = ["list", "subscribe", "invoke"] as const;
const optionalMethods = ["look", "resources", "read", "watch"] as const;

/**
 * Refuses a source without the methods of one, for callers who cast.
 *
 * @param attempt - the action, the start of messages.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertMountSource(source: MountSource, attempt: string): void {
  const fail = (must: string): never => {
    throw new SurfaceError("INVALID_OPTION", `${attempt}: its source must have ${must}`);
  };
  if (methods.some((method) => typeof source?.[method] !== "function")) {
    fail("the methods list(), subscribe() and invoke()");
  }
  for (const method of optionalMethods) {
    const given: unknown = source[method];
    if (given !== undefined && typeof given !== "function") fail(`a method ${method}(), or nothing of that name`);
  }
  if (source.resources !== undefined && source.read === undefined) {
    fail("a method read() where it has the method resources()");
  }
}
