import { SurfaceError } from "../../errors.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../../schema/json.ts";
import type { Schema } from "../../schema/standard.ts";
import type { Caller } from "../../surface/caller.ts";
import type { ScopeOptions } from "../../tags/scopes.ts";
import type { Confirm } from "../../tags/tool-options.ts";
import type { NestedCallOptions, ToolContext } from "../context/tool-context.ts";
import type { ListDiff } from "../list-changes.ts";

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
  readonly canCall?: readonly string[];
  /** The scopes that it calls them with. @default the read scope of the app, and its write scope unless it only reads */
  readonly callScopes?: readonly string[];
}

/** The context of a running operation. */
export interface MountContext extends Pick<
  ToolContext<unknown, unknown>,
  "signal" | "caller" | "trace" | "progress" | "log" | "ask" | "addMeta" | "context"
> {
  /** Calls another tool or operation within its reach, by its id or wire name with the prefix; as `call` of a hand-written tool. */
  readonly call: (id: string, input?: JsonObject, options?: NestedCallOptions) => Promise<JsonValue>;
  /** Identifies this call. The same when it runs again with the answers of its client. */
  readonly runId?: string;
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

/** The key of a source's names in its type. There is no such symbol at run time. */
declare const kMountNames: unique symbol;

/** The names of the entries of a source, as its type keeps them. Each is a superset of what it lists. */
export interface MountNames {
  /** Names of operations, as in `name`: with dots. */
  readonly tools: string;
  /** Names of operations that may change something. */
  readonly mutating: string;
  /** Paths of resources. */
  readonly resources: string;
}

/**
 * A source of operations that are known only at run time: a registry, or another API. Its creator closes it.
 *
 * @typeParam TNames - names that the source never exceeds. An app that mounts it then has exact names in its type.
 */
export interface MountSource<TNames extends MountNames = MountNames> {
  /** For the compiler only. */
  readonly [kMountNames]?: TNames;
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
  /**
   * Calls `changed` whenever a path may have changed for the caller who watches it. Returns a function that stops it.
   *
   * @default announces no change
   */
  watch?(path: string, changed: () => void, watcher: { readonly caller: Caller }): () => void;
}

/** a source -> its names: of a union, those of all arms; any names if the type does not tell. */
export type NamesOfMount<TSource> = [TSource] extends [never]
  ? MountNames
  : TSource extends MountSource<infer Names>
    ? 0 extends 1 & Names
      ? MountNames
      : Names
    : MountNames;

/** The method of a source that announces its changes one by one, so that an app need not list it again after each. */
export const kSubscribeDiffs: unique symbol = Symbol("subscribeDiffs");

/** A source with {@link kSubscribeDiffs}. */
export interface DiffingSource extends MountSource {
  /** Calls `changed` with each change of `list()`. Returns a function that stops it. */
  [kSubscribeDiffs](changed: (diff: ListDiff<MountedOperation>) => void): () => void;
}

/** Returns whether a source announces its changes one by one. */
export function isDiffing(source: MountSource): source is DiffingSource {
  return kSubscribeDiffs in source;
}

const optionalMethods = ["look", "resources", "read", "watch"] as const;

/**
 * Refuses a source that lacks a method. The compiler does so too.
 *
 * @param attempt - the action, the start of messages.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertMountSource(source: MountSource, attempt: string): void {
  const hasMethod = (name: keyof MountSource): boolean => typeof source?.[name] === "function";
  const invalid = optionalMethods.find((name) => source?.[name] !== undefined && !hasMethod(name));
  let must: string | undefined;
  if (!hasMethod("list") || !hasMethod("subscribe") || !hasMethod("invoke")) {
    must = "the methods list(), subscribe() and invoke()";
  } else if (invalid !== undefined) must = `a method ${invalid}(), or nothing of that name`;
  else if (hasMethod("resources") && !hasMethod("read")) must = "a method read() where it has the method resources()";
  if (must !== undefined) throw new SurfaceError("INVALID_OPTION", `${attempt}: its source must have ${must}`);
}

// No `_` at the end: one separates the prefix from the name on the wire.
const prefixPattern = /^(?=.{1,32}$)[A-Za-z0-9_]*[A-Za-z0-9]$/;

/** Characters of a prefix or path in messages. */
const maxShown = 64;

/** Refuses an invalid prefix. @throws SurfaceError `INVALID_NAME`. */
export function assertPrefix(prefix: unknown): void {
  if (typeof prefix === "string" && prefixPattern.test(prefix)) return;
  const named = typeof prefix === "string" ? `"${prefix.slice(0, maxShown)}"` : "the given value";
  throw new SurfaceError(
    "INVALID_NAME",
    `Cannot add a mount: its prefix, the first argument, must be letters, digits and "_", at most 32 characters, not ending in "_"; ${named} is not`,
  );
}

/** Returns the id of a mounted operation. An app of one source alone has the empty prefix. */
export function mountedId(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

/** Returns the id of a mounted resource, which is also the end of its URI. */
export function mountedPath(prefix: string, path: string): string {
  return prefix === "" ? path : `${prefix}/${path}`;
}

/** Returns the name of a mount in messages. */
export function mountOrigin(prefix: string): string {
  return prefix === "" ? "what is mounted" : `mount "${prefix}"`;
}

/** Returns the name of an operation in messages. */
export function operationOrigin(id: string): string {
  return `operation "${id}"`;
}

/** Returns the name of a mounted resource in messages. */
export function mountedResourceOrigin(prefix: string, path: string): string {
  return `resource "${mountedPath(prefix, path.slice(0, maxShown))}"`;
}

/** Returns whether a wire name is reserved for a mount. A mount without a prefix reserves none. */
export function reservesWireName(prefix: string, wireName: string): boolean {
  return prefix !== "" && wireName.startsWith(`${prefix}_`);
}
