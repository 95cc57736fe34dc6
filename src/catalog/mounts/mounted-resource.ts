import { SurfaceError } from "../../errors.ts";
import { Newest } from "../../spine/pushing.ts";
import { internalError, onRejection, runUnawaited } from "../../surface/fault.ts";
import { toGuard } from "../entry-scopes.ts";
import type { EntryCall, EntryGuard, LocalUse, LocalWatch, ResourceContent, ResourceEntry } from "../entry.ts";
import { followChanges } from "../resources/follow-changes.ts";
import { runHandler } from "../context/tool-context.ts";
import type { MountedResource, MountSource } from "./mount.ts";
import { runMounted } from "./mounted-context.ts";
import type { MountDeps } from "./mounted-entry.ts";
import { mountedPath, mountedResourceOrigin } from "./mounted-names.ts";
import { toResourceContent, isSameContent } from "../content/resource-body.ts";

/** Returns the resource that the source lists at present under a URI. */
type Find = (uri: string) => ResourceEntry | undefined;

function textOfGuard({ scopes, requires }: EntryGuard): string {
  return JSON.stringify([scopes, requires]);
}

/**
 * Listens to the changes of a path. Returns an item for each time that its source has told of some, or `undefined` for a source
 * that tells of none. `return()` ends it, and waits for nothing.
 *
 * @param fail - receives what ending it fails with. Must not throw.
 * @throws what `watch()` throws; SurfaceError `INVALID_OPTION` if it does not return a function.
 */
function openChanges(
  source: MountSource,
  path: string,
  fail: (cause: unknown) => void,
): AsyncIterable<unknown> | undefined {
  if (source.watch === undefined) return undefined;
  const changes = new Newest<undefined>(() => {
    // Only what was found to be a function is handed out.
    runUnawaited(() => Reflect.apply(stop as () => unknown, undefined, []), fail);
  });
  const stop: unknown = source.watch(path, () => changes.tell(undefined));
  if (typeof stop === "function") return changes;
  onRejection(stop, fail);
  throw new SurfaceError("INVALID_OPTION", `Watching "${path}": its source's watch() must return a function`);
}

type Spell = Parameters<typeof followChanges>[0]["spell"];

/** Reads and watches one resource of a source. */
class Reader {
  readonly #deps: MountDeps;
  readonly #find: Find;
  readonly #path: string;
  readonly #origin: string;
  readonly #uri: string;

  constructor(path: string, deps: MountDeps, find: Find) {
    this.#deps = deps;
    this.#find = find;
    this.#path = path;
    this.#uri = `${deps.uriPrefix}${mountedPath(deps.prefix, path)}`;
    this.#origin = mountedResourceOrigin(deps.prefix, path);
  }

  /** Reads it; `undefined` if the source has removed it meanwhile, or requires other scopes. */
  async read(call: EntryCall): Promise<ResourceContent | undefined> {
    const listed = this.#find(this.#uri);
    const content = await this.#look(call);
    const now = this.#find(this.#uri);
    return now !== undefined && listed !== undefined && textOfGuard(now) === textOfGuard(listed) ? content : undefined;
  }

  watch(): LocalWatch {
    const spell = { isFailing: false };
    return {
      windowMs: undefined,
      followHere: (use) => this.#follow(use, spell),
      // #follow() yields contents.
      render: (content) => content as ResourceContent | undefined,
    };
  }

  async #look(call: EntryCall): Promise<ResourceContent | undefined> {
    const { source, contexts } = this.#deps;
    const listed = this.#find(this.#uri);
    if (listed === undefined) return undefined;
    const run = (): unknown => runMounted(call, contexts, (context) => source.read?.(this.#path, context));
    const content = await runHandler(async () => toResourceContent(await run(), listed.mimeType), this.#origin);
    // It may have been removed while it was read.
    return this.#find(this.#uri) === undefined ? undefined : content;
  }

  /** Yields the content, and each other one after it. The list announces that the resource is removed. */
  async *#follow({ signal, caller }: LocalUse, spell: Spell): AsyncGenerator<ResourceContent | undefined> {
    const { source, report } = this.#deps;
    const [where, path] = [this.#origin, this.#path];
    const fail = (cause: unknown): void => {
      if (!spell.isFailing) internalError(cause, where, report);
    };
    const contents = followChanges({
      read: (call) => this.#look(call),
      open: (_call) => runHandler(() => openChanges(source, path, fail), where),
      ...{ signal, caller, where, report, spell },
    });
    let last: { readonly content: ResourceContent | undefined } | undefined;
    for await (const content of contents) {
      const isNews = last === undefined || !isSameContent(last.content, content);
      if (!isNews || (last !== undefined && this.#find(this.#uri) === undefined)) continue;
      last = { content };
      yield content;
    }
  }
}

/** Creates the entry of a resource. */
export function toMountedResource(
  { path, title, description, mimeType, ...access }: MountedResource,
  deps: MountDeps,
  find: Find,
): ResourceEntry {
  const id = mountedPath(deps.prefix, path);
  const reader = new Reader(path, deps, find);
  return Object.freeze({
    ...{ id, uri: `${deps.uriPrefix}${id}`, title, description, mimeType },
    origin: mountedResourceOrigin(deps.prefix, path),
    ...toGuard(deps.scopes.read, access),
    read: (call: EntryCall) => reader.read(call),
    // A getter, so that each watcher has its own state of failure.
    get watch() {
      return reader.watch();
    },
  });
}
