import { SurfaceError } from "../errors.ts";
import { Newest } from "../spine/newest.ts";
import { internalError, onRejection, runUnawaited } from "../surface/fault.ts";
import { mountedResourceOrigin } from "./assert-mounted-resource.ts";
import { toGuard } from "./entry-scopes.ts";
import type { EntryCall, EntryGuard, LocalUse, LocalWatch, ResourceContent, ResourceEntry } from "./entry.ts";
import { followChanges } from "./follow-changes.ts";
import { runHandler } from "./handler-fault.ts";
import { mountedPath } from "./mount-prefix.ts";
import type { MountedResource, MountSource } from "./mount.ts";
import { runMounted } from "./mounted-context.ts";
import type { MountParts } from "./mounted-entry.ts";
import { toResourceContent } from "./resource-body.ts";
import { isSameContent } from "./resource-content.ts";

/** Where the resources of a mount come from. */
export interface MountedReading extends MountParts {
  /** What the source lists now under a URI. */
  readonly find: (uri: string) => ResourceEntry | undefined;
}

function isSameGuard(one: EntryGuard, other: EntryGuard): boolean {
  const [left, right] = [one, other].map(({ scopes, requires }) => JSON.stringify([scopes, requires]));
  return left === right;
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

/** One mounted resource, and how its source is asked for it. */
class Reader {
  readonly #setting: MountedReading;
  readonly #path: string;
  readonly #origin: string;
  readonly #uri: string;

  constructor(setting: MountedReading, path: string, uri: string) {
    this.#setting = setting;
    this.#path = path;
    this.#uri = uri;
    this.#origin = mountedResourceOrigin(setting.prefix, path);
  }

  /** What is there now; nothing, where the source lists it no more, or asks something else of its readers by then. */
  async read(call: EntryCall): Promise<ResourceContent | undefined> {
    const listed = this.#setting.find(this.#uri);
    const content = await this.#look(call);
    const now = this.#setting.find(this.#uri);
    return now !== undefined && listed !== undefined && isSameGuard(now, listed) ? content : undefined;
  }

  async #look(call: EntryCall): Promise<ResourceContent | undefined> {
    const { source, contexts, find } = this.#setting;
    const listed = find(this.#uri);
    if (listed === undefined) return undefined;
    const run = (): unknown => runMounted(call, contexts, (context) => source.read?.(this.#path, context));
    const content = await runHandler(async () => toResourceContent(await run(), listed.mimeType), this.#origin);
    // It may have gone while it was read.
    return find(this.#uri) === undefined ? undefined : content;
  }

  watch(): LocalWatch {
    const spell = { isFailing: false };
    return {
      windowMs: undefined,
      followHere: (use) => this.#follow(use, spell),
      // What it follows are contents.
      render: (content) => content as ResourceContent | undefined,
    };
  }

  /** What is there now, and whatever else comes. That it is listed no more is told to those who hear of the list. */
  async *#follow({ signal, caller }: LocalUse, spell: Spell): AsyncGenerator<ResourceContent | undefined> {
    const { source, report, find } = this.#setting;
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
      if (!isNews || (last !== undefined && find(this.#uri) === undefined)) continue;
      last = { content };
      yield content;
    }
  }
}

/** Turns a resource that was looked at into an entry. */
export function toMountedResource(resource: MountedResource, setting: MountedReading): ResourceEntry {
  const { path, title, description, mimeType } = resource;
  const id = mountedPath(setting.prefix, path);
  const uri = `${setting.uriPrefix}${id}`;
  const reader = new Reader(setting, path, uri);
  return Object.freeze({
    ...{ id, uri, title, description, mimeType },
    origin: mountedResourceOrigin(setting.prefix, path),
    ...toGuard(setting.scopes.read, resource),
    read: (call: EntryCall) => reader.read(call),
    // Made for each who watches: what has failed for one has not for another.
    get watch() {
      return reader.watch();
    },
  });
}
