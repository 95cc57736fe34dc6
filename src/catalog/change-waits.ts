import { Refusal, SurfaceError } from "../errors.ts";
import type { Caller } from "../surface/caller.ts";
import { readCursor } from "./change-cursor.ts";
import { ChangeWait, type ChangeAnswer, type ChangeWaitSetting } from "./change-wait.ts";
import type { EntryCall } from "./entry.ts";
import { LingeringWatches } from "./lingering-watches.ts";
import type { ResourceWatches } from "./resource-watches.ts";
import type { Resolved } from "./resolve-uri.ts";

/** What a caller asks of one wait. */
export interface ChangeRequest {
  readonly uris: readonly string[];
  /** The cursor of an earlier answer. */
  readonly since: string | undefined;
  readonly timeoutMs: number;
}

/** What {@link ChangeWaits} are made of. */
export interface ChangeWaitsSetting {
  readonly watches: ResourceWatches;
  /** Finds what a URI names for a caller: what they may not read is not there. */
  readonly find: (uri: string, caller: Caller) => Resolved | undefined;
  /** Tells when other resources may be found, and why. Returns what stops that. */
  readonly onShown: ChangeWaitSetting["onShown"];
}

/** The refusal of a URI that names nothing: one text whether it is unknown, not exposed or malformed. */
export function noSuchResource(uri: string): Refusal {
  return new Refusal("NOT_FOUND", `there is no resource "${uri}": the description of read_resource lists them`);
}

/**
 * Lets callers wait until a resource has changed, and go on where they left off. A watch is kept for a while after a wait,
 * so that one who waits again and again sees every change. Its maker closes it.
 */
export class ChangeWaits {
  readonly #setting: ChangeWaitsSetting;
  readonly #lingering: LingeringWatches;
  readonly #running = new Set<ChangeWait>();
  #isClosed = false;

  constructor(setting: ChangeWaitsSetting) {
    this.#setting = setting;
    this.#lingering = new LingeringWatches(setting.watches);
  }

  /**
   * Waits until one of the resources has changed, or time is up.
   *
   * @throws Refusal `NOT_FOUND` naming the first URI that names nothing.
   * @throws SurfaceError `OVERFLOW` when too much is watched already, `ABORTED` when the signal fires, `CLOSED` when this is closed.
   */
  async wait(request: ChangeRequest, { caller, signal }: Pick<EntryCall, "caller" | "signal">): Promise<ChangeAnswer> {
    if (this.#isClosed) throw createClosed();
    const { since, timeoutMs } = request;
    const { watches, onShown, find } = this.#setting;
    const resources = this.#resolve(request.uris, caller);
    if (!watches.hasRoom(resources.keys(), caller)) {
      throw new SurfaceError("OVERFLOW", "Waiting for a change: too many resources are watched");
    }
    const marks = since === undefined ? undefined : readCursor(since);
    const wait = new ChangeWait({
      resources,
      caller,
      marks,
      timeoutMs,
      reset: since !== undefined && marks === undefined,
      signal,
      watches,
      onShown,
      isShown: (uri) => find(uri, caller) !== undefined,
      answered: (wanted) => this.#lingering.keep(wanted),
    });
    this.#running.add(wait);
    try {
      const { gone, ...answer } = await wait.run();
      // What came to be hidden meanwhile is told as what was never there.
      const left = answer.changed.filter((uri) => !gone.has(uri));
      this.#resolve(left, caller);
      return answer;
    } finally {
      this.#running.delete(wait);
    }
  }

  /** Ends every wait and every watch. Callable twice. */
  close(): void {
    this.#isClosed = true;
    for (const wait of this.#running) wait.fail(createClosed());
    this.#lingering.close();
  }

  /** What URIs name, each once, as they were written. */
  #resolve(uris: readonly string[], caller: Caller): ReadonlyMap<string, Resolved> {
    const found = new Map<string, Resolved>();
    for (const uri of uris) {
      const resolved = this.#setting.find(uri, caller);
      if (resolved === undefined) throw noSuchResource(uri);
      found.set(uri, resolved);
    }
    return found;
  }
}

function createClosed(): SurfaceError {
  return new SurfaceError("CLOSED", "Waiting for a change: the app is closed");
}
