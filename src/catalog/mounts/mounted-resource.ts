import { SurfaceError } from "../../errors.ts";
import { Newest } from "../../spine/pushing.ts";
import { internalError, handleRejection, runUnawaited } from "../../surface/fault.ts";
import { isSameContent, toResourceContent } from "../content/resource-body.ts";
import { runHandler, runInContext } from "../context/tool-context.ts";
import type { EntryCall, EntryGuard, LocalUse, ResourceContent, ResourceEntry } from "../entry.ts";
import { toGuard } from "../entry-scopes.ts";
import { followChanges, type FailureState } from "../resources/follow-changes.ts";
import { mountedPath, mountedResourceOrigin, type MountedResource, type MountSource } from "./mount.ts";
import type { MountDeps } from "./mounted-entry.ts";

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
  path: string,
  fail: (cause: unknown) => void,
): AsyncIterable<unknown> | undefined {
  if (source.watch === undefined) return undefined;
  const changes = new Newest<undefined>(() => {
    // Changes are returned only if `stop` is a function.
    runUnawaited(() => Reflect.apply(stop as () => unknown, undefined, []), fail);
  });
  const stop: unknown = source.watch(path, () => changes.tell(undefined));
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
      open: (_call) => runHandler(() => openChanges(source, this.#path, fail), where),
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
