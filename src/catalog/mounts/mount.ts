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

/** One operation that is known only at run time. Its id is `<prefix>.<name>`. */
export interface MountedOperation extends ScopeOptions {
  /** Segments of letters, digits, `_` and `-`, joined by dots: `"git.branch"`. Unique within its source. */
  readonly name: string;
  /**
   * Whether it only reads. `"subscription"`: it answers again and again, which one call cannot; it is neither listed nor
   * callable. Default `"mutation"`.
   */
  readonly type?: "query" | "mutation" | "subscription";
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  /** Words to find it by. */
  readonly tags?: readonly string[];
  /** What it takes: an object. Default: nothing. */
  readonly inputSchema?: MountedSchema;
  /** What it answers; checked. Default: any JSON, unchecked. */
  readonly outputSchema?: MountedSchema;
  /** The details of the codes that it may refuse with, by code. Told to agents; a `Refusal` of another code is passed on too. */
  readonly errorSchemas?: Readonly<Record<string, MountedSchema>>;
  /** `"internal"`: only other operations may call it, and nobody is told of it. Default `"external"`. */
  readonly visibility?: "external" | "internal";
  /** Can a change be hard to undo? Default: the same as whether it changes something. */
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
  /** Milliseconds until a call answers `TIMEOUT`. Default 60,000; at most 600,000. */
  readonly timeoutMs?: number;
  /** Is the user asked before each call? As the option of tools of this name. */
  readonly confirm?: Confirm;
  /**
   * What it may call by `context.call`: ids or names on the wire as the app has them, with the prefix, as patterns with `*` and `?`.
   * Default: none.
   */
  readonly reach?: readonly string[];
  /**
   * The scopes that it calls them with. Default: those that it takes itself by default, and for one that may change something
   * also what reading takes.
   */
  readonly authority?: readonly string[];
}

/** What an operation is run with. */
export interface MountContext {
  /** Fires when the caller cancels, the deadline passes or the face closes. Made only if asked for. */
  readonly signal: AbortSignal;
  /** Who asks. */
  readonly caller: Caller;
  readonly progress: (report: ProgressReport) => void;
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void;
  /**
   * Calls another tool or operation, within its reach: by its id or name on the wire as the app has it, with the prefix. Resolves and
   * rejects as that of a tool by hand does.
   */
  readonly call: (id: string, input?: JsonObject, options?: NestedCallOptions) => Promise<JsonValue>;
  /** Asks the client. */
  readonly ask: Asks;
  /** Names this call, and stays the same where it is made again for what its client has answered. Left out where nobody says. */
  readonly runId?: string;
  /** Says something beside the answer, for programs: members of its `_meta`. */
  readonly addMeta: (members: JsonObject) => void;
  /** What the app's `context()` makes for each call, when it is first asked for; a `MemoryContext` where the app has none. */
  readonly context: unknown;
}

/** One resource that is known only at run time. Its URI is `<uriPrefix><prefix>/<path>`, its id `<prefix>/<path>`. */
export interface MountedResource extends ScopeOptions {
  /** Segments, percent-encoded where they have to be, joined by slashes: `"state/hp"`. Unique within its source. */
  readonly path: string;
  readonly title?: string;
  readonly description?: string;
  /** What is listed as its type. Default: JSON. */
  readonly mimeType?: string;
}

/**
 * Where operations come from that are known only at run time: a registry, somebody else's API. Whoever made it closes it.
 */
export interface MountSource {
  /**
   * What there is now. Asked again after each change; must not take long. An operation is the same as before where it is the
   * same object; another of its name takes its place, also in calls that are being checked: those are checked once more.
   */
  list(): readonly MountedOperation[];
  /** Calls `changed` after each change. Returns what stops it. */
  subscribe(changed: () => void): () => void;
  /**
   * Called before a call of an operation is let through, by its name: looks whether that is still what was listed, and calls
   * `changed` first where it is not. Must not take long. Default: it says so of itself whenever something changes.
   */
  look?(name: string): void;
  /** Runs one, by its name, with input that fits its schema. What it throws is masked, but for `Refusal`. */
  invoke(name: string, input: unknown, context: MountContext): unknown;
  /** What of it can be read now. Asked again after each change. Default: nothing. */
  resources?(): readonly MountedResource[];
  /**
   * What is under a path now: JSON, or what `body()` gives, now or later; `undefined`: nothing. Needed where there are resources.
   */
  read?(path: string, context: MountContext): unknown;
  /**
   * Calls `changed` whenever there may be something else under a path. Returns what stops it. Default: nobody is told of changes.
   */
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
