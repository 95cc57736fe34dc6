import { isSameContent, toResourceContent } from "../content/resource-body.ts";
import type { ContextSource } from "../context/own-context.ts";
import { runHandler, runInContext } from "../context/tool-context.ts";
import { assertResourceArgument, type DefaultScopes, toGuard } from "../entry-scopes.ts";
import type { EntryCall, EntryGuard, LocalUse, ResourceContent, ResourceEntry, ToolEntry } from "../entry.ts";
import {
  mountedId,
  type MountedOperation,
  mountedPath,
  type MountedResource,
  mountedResourceOrigin,
  type MountSource,
  operationOrigin,
} from "./mount.ts";
import { type MountedSchemas, toMountedSchemas } from "./read-mounted.ts";
import { createNotFound } from "../outcome.ts";
import { unreachedFault } from "../own-refusals.ts";
import { type FailureState, followChanges } from "../resources/follow-changes.ts";
import { confirmFields, freezeNesting, toToolHints } from "../tool-head.ts";
import { toWireName } from "../wire-name.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import type { Budget } from "../../spine/budget.ts";
import { Newest } from "../../spine/pushing.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import type { Caller } from "../../surface/caller.ts";
import { type FaultReporter, handleRejection, internalError, runUnawaited } from "../../surface/fault.ts";
import { checkRefusal } from "../../surface/owner/procedure-owner.ts";
import { defaultOnDisconnect, defaultTimeoutMs } from "../../tags/tool-options.ts";
import { toDefined } from "../../observe/to-defined.ts";

/** Refuses entries of mounts. Both methods throw a SurfaceError for an entry that must be left out. */
export interface MountedGate {
  assertTool(entry: ToolEntry): void;
  assertResource(entry: ResourceEntry): void;
}

/** Dependencies of the entries of one mount. */
export interface MountDeps {
  readonly prefix: string;
  readonly source: MountSource;
  readonly scopes: DefaultScopes;
  readonly report: FaultReporter;
  /** Counts the schemas of operations, in characters of JSON; the key is the prefix. */
  readonly schemas: Budget;
  /** @default in memory */
  readonly contexts?: ContextSource | undefined;
  /** The client of the app's surface. */
  readonly client: SurfaceClient<unknown>;
  /** The start of the URIs of resources. */
  readonly uriPrefix: string;
  /** Each may refuse an entry. @default none */
  readonly gates?: readonly (MountedGate | undefined)[] | undefined;
}

function hintsOf({ type, destructive, idempotent, openWorld }: MountedOperation): ToolEntry["hints"] {
  return toToolHints("unstated", toDefined({ mutates: type !== "query", destructive, idempotent, openWorld }));
}

/** Lets a source check whether an operation is still as it was listed. */
function lookAt(name: string, { prefix, source, report }: MountDeps): void {
  if (source.look === undefined) return;
  runUnawaited(
    () => source.look?.(name),
    (cause) => void internalError(cause, operationOrigin(mountedId(prefix, name)), report),
  );
}

type Run = ToolEntry["run"];

/** Validates the details of declared codes. */
function withDetails(run: Run, details: MountedSchemas["details"], check: Parameters<typeof checkRefusal>[2]): Run {
  return async (input: unknown, call: EntryCall) => {
    try {
      return await run(input, call);
    } catch (cause) {
      // The refusal of a nested call is a fault, even if its code is declared.
      const isOwn = cause instanceof Refusal && unreachedFault(cause) === undefined;
      throw isOwn ? await checkRefusal(cause, details, check) : cause;
    }
  };
}

/**
 * Creates the tool of an operation. The call validates its input and output.
 *
 * @param find - returns the tool that the source lists at present under a name on the wire.
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION` or `SCHEMA_UNSUPPORTED`.
 */
export function toMountedEntry(
  operation: MountedOperation,
  deps: MountDeps,
  find: (name: string) => ToolEntry | undefined,
): ToolEntry {
  const { prefix, scopes, report } = deps;
  const { name, title, description, version, tags } = operation;
  const id = mountedId(prefix, name);
  const origin = operationOrigin(id);
  const hints = hintsOf(operation);
  const guard = toGuard(hints.readOnlyHint ? scopes.read : scopes.write, operation);
  const { owner, input, output, details, errors } = toMountedSchemas(operation, origin);
  assertResourceArgument(guard, input, origin);
  const wireName = toWireName(id, { origin, allowDash: true });
  const now = (): ToolEntry | undefined => {
    lookAt(name, deps);
    return find(wireName);
  };
  const run: Run = (value, call) => {
    // The input was validated against the schemas of this entry, and of no other.
    if (now() !== entry) throw createNotFound();
    return runInContext(call, deps, (context) => deps.source.invoke(name, value, context));
  };
  const entry: ToolEntry = Object.freeze({
    id,
    name: wireName,
    origin,
    ...{ title, description, version, hints, input, output, owner, errors, tags },
    ...guard,
    isInternal: operation.visibility === "internal",
    ...freezeNesting(operation, hints.readOnlyHint ? [scopes.read] : [scopes.read, scopes.write]),
    timeoutMs: operation.timeoutMs ?? defaultTimeoutMs,
    countsQuestions: operation.timeoutMs !== undefined,
    onDisconnect: defaultOnDisconnect,
    ...confirmFields(operation.confirm, deps.client, origin),
    now,
    run: errors === undefined ? run : withDetails(run, details, { where: origin, report }),
  });
  return entry;
}

function textOfGuard({ scopes, requires }: EntryGuard): string {
  return JSON.stringify([scopes, requires]);
}

/**
 * Observes a path. Yields an item after each change; `undefined` for a source without `watch()`. `return()` ends it without waiting.
 *
 * @param fail - receives the error of ending it. Must not throw.
 * @throws the error of `watch()`; SurfaceError `INVALID_OPTION` if it does not return a function.
 */
function openChanges(
  source: MountSource,
  { path, caller }: { readonly path: string; readonly caller: Caller },
  fail: (cause: unknown) => void,
): AsyncIterable<unknown> | undefined {
  if (source.watch === undefined) return undefined;
  const changes = new Newest<undefined>(() => {
    // Changes are returned only if `stop` is a function.
    runUnawaited(() => Reflect.apply(stop as () => unknown, undefined, []), fail);
  });
  const stop: unknown = source.watch(path, () => changes.tell(undefined), { caller });
  if (typeof stop === "function") return changes;
  handleRejection(stop, fail);
  throw new SurfaceError("INVALID_OPTION", `Cannot watch "${path}": its source's watch() must return a function`);
}

/** Reads and watches one resource of a source. */
class Reader {
  readonly #deps: MountDeps;
  readonly #path: string;
  readonly #origin: string;
  /** Returns the entry that the source lists at present. */
  readonly #listed: () => ResourceEntry | undefined;

  constructor(path: string, deps: MountDeps, listed: () => ResourceEntry | undefined) {
    this.#deps = deps;
    this.#path = path;
    this.#origin = mountedResourceOrigin(deps.prefix, path);
    this.#listed = listed;
  }

  /** Reads it; `undefined` if the source has removed it meanwhile, or requires other scopes. */
  async read(call: EntryCall): Promise<ResourceContent | undefined> {
    const before = this.#listed();
    const content = await this.readListed(call);
    const now = this.#listed();
    return now !== undefined && before !== undefined && textOfGuard(now) === textOfGuard(before) ? content : undefined;
  }

  /** Reads it; `undefined` if the source has removed it meanwhile. */
  async readListed(call: EntryCall): Promise<ResourceContent | undefined> {
    const listed = this.#listed();
    if (listed === undefined) return undefined;
    const run = (): unknown =>
      runInContext(call, this.#deps, (context) => this.#deps.source.read?.(this.#path, context));
    const content = await runHandler(async () => toResourceContent(await run(), listed.mimeType), this.#origin);
    return this.#listed() === undefined ? undefined : content;
  }

  /** Yields the content, and each different content after it. The list announces that the resource is removed. */
  async *follow(use: LocalUse, failure: FailureState): AsyncGenerator<ResourceContent | undefined> {
    const { source, report } = this.#deps;
    const where = this.#origin;
    const fail = (cause: unknown): void => {
      if (!failure.isFailing) internalError(cause, where, report);
    };
    const contents = followChanges({
      read: (call) => this.readListed(call),
      open: ({ caller }) => runHandler(() => openChanges(source, { path: this.#path, caller }, fail), where),
      ...{ signal: use.signal, caller: use.caller, where, report, failure },
    });
    let last: { readonly content: ResourceContent | undefined } | undefined;
    for await (const content of contents) {
      const isSame = last !== undefined && isSameContent(last.content, content);
      if (isSame || (last !== undefined && this.#listed() === undefined)) continue;
      last = { content };
      yield content;
    }
  }
}

/** Creates the entry of a resource. @param find - returns the resource that the source lists at present under a URI. */
export function toMountedResource(
  { path, title, description, mimeType, ...access }: MountedResource,
  deps: MountDeps,
  find: (uri: string) => ResourceEntry | undefined,
): ResourceEntry {
  const id = mountedPath(deps.prefix, path);
  const uri = `${deps.uriPrefix}${id}`;
  const reader = new Reader(path, deps, () => find(uri));
  return Object.freeze({
    ...{ id, uri, title, description, mimeType },
    origin: mountedResourceOrigin(deps.prefix, path),
    ...toGuard(deps.scopes.read, access),
    read: (call: EntryCall) => reader.read(call),
    // A getter, so that each watcher has its own state of failure.
    get watch() {
      const failure: FailureState = { isFailing: false };
      return {
        windowMs: undefined,
        followHere: (use: LocalUse) => reader.follow(use, failure),
        // follow() yields contents.
        render: (content: unknown) => content as ResourceContent | undefined,
      };
    },
  });
}
