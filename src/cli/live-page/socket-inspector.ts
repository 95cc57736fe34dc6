import { SurfaceError } from "../../errors.ts";
import type { PageSource } from "../../http/inspector/page-source.ts";
import { newestRows, type HistoryFilter } from "../../inspector/history.ts";
import type {
  ExposureRow,
  HistoryPage,
  PageEntry,
  PageExposure,
  PageSnapshot,
  PageUpdate,
} from "../../inspector/messages.ts";
import { toDefined } from "../../observe/to-defined.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { SocketConnection, type SocketEvents } from "./socket-connection.ts";

/** Milliseconds between two attempts to connect. */
const retryMs = 1000;

/** Returns the snapshot after an update. */
function toUpdated(snapshot: PageSnapshot, { history = [], ...parts }: PageUpdate): PageSnapshot {
  const last = snapshot.history.at(-1)?.seq ?? 0;
  const rows = [...snapshot.history, ...history.filter(({ seq }) => seq > last)].slice(-newestRows);
  return { ...snapshot, ...parts, history: rows };
}

/** A page that is open. */
interface Listener {
  readonly tell: (json: string) => void;
  readonly lost: () => void;
}

/** The inspector of a server over stdio, behind its socket. It connects again when the server is back. Call {@link close} when done. */
export class SocketInspector implements PageSource {
  readonly #path: string;
  readonly #changed: (isAway: boolean) => void;
  readonly #listeners = new Set<Listener>();
  #connection: SocketConnection | undefined;
  #snapshot: PageSnapshot | undefined;
  #stopRetry: (() => void) | undefined;
  #wasLost = false;
  #isClosed = false;

  /** @param changed - called when the server goes away, and when it is back. */
  constructor(path: string, changed: (isAway: boolean) => void) {
    this.#path = path;
    this.#changed = changed;
  }

  /** Connects for the first time. @throws SurfaceError as `SocketConnection.open()`. */
  async connect(): Promise<void> {
    const connection = await SocketConnection.open(this.#path, this.#events());
    if (this.#isClosed) return connection.close();
    this.#connection = connection;
  }

  get isAway(): boolean {
    return this.#snapshot === undefined;
  }

  snapshot(): PageSnapshot {
    if (this.#snapshot === undefined) throw this.#toAway();
    return this.#snapshot;
  }

  subscribe(tell: (json: string) => void, lost: () => void): () => void {
    const listener: Listener = { tell, lost };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async history(filter: HistoryFilter): Promise<HistoryPage> {
    return this.#ask().request("history", filter);
  }

  async exposure(): Promise<PageExposure> {
    return this.#ask().request("exposure", {});
  }

  async entry(id: string, kind?: ExposureRow["kind"]): Promise<PageEntry | undefined> {
    return this.#ask().request("entry", toDefined({ id, kind }));
  }

  async cancel(call: string): Promise<boolean> {
    return this.#ask().request("cancel", { call });
  }

  /** Decides nothing: the socket has no such request. */
  decide(): boolean {
    return false;
  }

  /** Callable twice. */
  close(): void {
    this.#isClosed = true;
    this.#stopRetry?.();
    this.#connection?.close();
  }

  #ask(): SocketConnection {
    if (this.#connection === undefined) throw this.#toAway();
    return this.#connection;
  }

  #toAway(): SurfaceError {
    return new SurfaceError("UNAVAILABLE", `Cannot read "${this.#path}": its server is away`);
  }

  #events(): SocketEvents {
    return {
      snapshot: (snapshot) => {
        const isBack = this.#snapshot === undefined && this.#wasLost;
        this.#snapshot = snapshot;
        // Open pages get it as an update of all parts.
        this.#tell(snapshot);
        if (isBack) this.#changed(false);
      },
      update: (update) => {
        if (this.#snapshot !== undefined) this.#snapshot = toUpdated(this.#snapshot, update);
        this.#tell(update);
      },
      closed: () => this.#lost(),
    };
  }

  #tell(update: PageUpdate): void {
    const json = JSON.stringify(update);
    for (const { tell } of this.#listeners) tell(json);
  }

  /** Ends all pages, which then connect again: the next server is another instance. */
  #lost(): void {
    if (this.#snapshot === undefined) return;
    this.#snapshot = undefined;
    for (const { lost } of this.#listeners) lost();
    if (this.#isClosed) return;
    this.#wasLost = true;
    this.#changed(true);
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#stopRetry = systemClock.after(retryMs, () => {
      // The server may be away for hours.
      this.connect().catch(() => this.#retryLater());
    });
  }
}
