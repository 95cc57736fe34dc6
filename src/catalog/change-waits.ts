import { Refusal, SurfaceError } from "../errors.ts";
import { readCursor } from "./change-cursor.ts";
import { ChangeWait, type ChangeAnswer } from "./change-wait.ts";
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

/** The refusal of a URI that names nothing: one text whether it is unknown, not exposed or malformed. */
export function noSuchResource(uri: string): Refusal {
  return new Refusal("NOT_FOUND", `there is no resource "${uri}": the description of read_resource lists them`);
}

/**
 * Lets callers wait until a resource has changed, and go on where they left off. A watch is kept for a while after a wait,
 * so that one who waits again and again sees every change. Its maker closes it.
 */
export class ChangeWaits {
  readonly #watches: ResourceWatches;
  readonly #lingering: LingeringWatches;
  readonly #running = new Set<ChangeWait>();
  #isClosed = false;

  constructor(watches: ResourceWatches) {
    this.#watches = watches;
    this.#lingering = new LingeringWatches(watches);
  }

  /**
   * Waits until one of the resources has changed, or time is up.
   *
   * @throws Refusal `NOT_FOUND` naming the first URI that names nothing.
   * @throws SurfaceError `OVERFLOW` when too much is watched already, `ABORTED` when the signal fires, `CLOSED` when this is closed.
   */
  async wait(request: ChangeRequest, signal: AbortSignal): Promise<ChangeAnswer> {
    if (this.#isClosed) throw createClosed();
    const { since, timeoutMs } = request;
    const resources = this.#resolve(request.uris);
    if (!this.#watches.hasRoom(resources.keys())) {
      throw new SurfaceError("OVERFLOW", "Waiting for a change: too many resources are watched");
    }
    const marks = since === undefined ? undefined : readCursor(since);
    const wait = new ChangeWait({
      resources,
      marks,
      timeoutMs,
      reset: since !== undefined && marks === undefined,
      signal,
      watches: this.#watches,
      answered: (uri, resolved) => this.#lingering.keep(uri, resolved),
    });
    this.#running.add(wait);
    try {
      return await wait.run();
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
  #resolve(uris: readonly string[]): ReadonlyMap<string, Resolved> {
    const found = new Map<string, Resolved>();
    for (const uri of uris) {
      const resolved = this.#watches.resolve(uri);
      if (resolved === undefined) throw noSuchResource(uri);
      found.set(uri, resolved);
    }
    return found;
  }
}

function createClosed(): SurfaceError {
  return new SurfaceError("CLOSED", "Waiting for a change: the app is closed");
}
