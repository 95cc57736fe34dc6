import { setTimeout as pause } from "node:timers/promises";
import { connectLegacy, connectModern, type Connection, type ConnectionOptions } from "./chaos-connection.ts";
import type { Mutation, Outcome } from "./judge.ts";
import type { Random } from "../attack/random.ts";
import type { WatchingOptions } from "./chaos-watcher.ts";
import { judgeMessage } from "./judge-message.ts";

/** What all clients do. */
export interface Load {
  isOver: boolean;
  /** Whether they change nothing for now. */
  isReadOnly: boolean;
}

/** A client of the run. */
export interface ChaosClientOptions extends WatchingOptions {
  /** Number of entries of each import: no other client has this number. */
  readonly total: number;
  /** Milliseconds of rest between two reads or calls, so that many clients fit into one process. */
  readonly restMs: number;
}

/** Returns the status of the response that refused a request. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  for (const field of ["status", "code"] as const) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === "number" && value >= 400 && value < 600) return value;
  }
  return undefined;
}

/** Returns what became of a call. The proxy answers 502 when it has lost an answer; a server refuses by the other statuses. */
export function outcomeOf(error: unknown): Outcome {
  const status = statusOf(error);
  return status === 404 || status === 503 || status === 429 ? "refused" : "lost";
}

/** A client that adds, imports, reads and watches, and records what it is told. Call `close()` when done. */
export class ChaosClient {
  readonly options: ChaosClientOptions;
  readonly mutations: Mutation[] = [];
  /** Messages that belong to another client. */
  readonly foreign: string[] = [];
  /** Newest value that it has read because of a notification. */
  value: string | undefined;
  notices = 0;
  deliveries = 0;
  reads = 0;
  failedReads = 0;
  failedConnects = 0;
  /** Times at which those sessions began that had ended, so that the client had to begin again. */
  readonly lostSessions: number[] = [];
  /** Whether a call runs. */
  inFlight = false;
  /** Newest id of an event of a request, of the current session. */
  eventId: string | undefined;
  #connection: Connection | undefined;
  #since = 0;
  #beginning: Promise<void> | undefined;
  #isReading = false;
  #isStale = false;
  #isHeld = false;
  #isClosed = false;

  constructor(options: ChaosClientOptions) {
    this.options = options;
  }

  get sessionId(): string | undefined {
    return this.#connection?.sessionId;
  }

  /** Connects, and connects again after a session was lost. */
  async connect(): Promise<void> {
    const { isLegacy, url, user, uri } = this.options;
    const options: ConnectionOptions = {
      url,
      user,
      uri,
      onMessage: (message) => this.#onMessage(message),
      onMissed: () => this.#readAgain(),
    };
    this.eventId = undefined;
    this.#since = performance.now();
    this.#connection = await (isLegacy ? connectLegacy(options) : connectModern(options));
    this.#readAgain();
  }

  /** Works until the load is over. */
  async work(load: Load, random: Random): Promise<void> {
    for (let at = 0; !load.isOver; at += 1) {
      if (load.isReadOnly || at % 4 === 0) await this.read();
      else if (random.below(8) === 0) await this.#import();
      else await this.#add();
      await pause(this.options.restMs / 2 + random.below(this.options.restMs));
    }
  }

  /** Reads once, whatever the client was told. Resolves with `undefined` if that fails. */
  async read(): Promise<string | undefined> {
    this.reads += 1;
    try {
      return await this.#connection?.read();
    } catch (error) {
      this.failedReads += 1;
      await this.#failed(error);
      return undefined;
    }
  }

  /** Does not read after a notification until it is released: a read makes its replica notify others. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    if (this.#isStale) this.#readAgain();
  }

  /** Whether it was notified, and has not read since. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Adds one entry. Returns whether it was answered. */
  async mark(): Promise<boolean> {
    await this.#add();
    return this.mutations.at(-1)?.outcome === "answered";
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  #add(): Promise<void> {
    const id = `${this.options.name}-${this.mutations.length}`;
    return this.#mutate("entry_add", { id, text: id }, [id]);
  }

  #import(): Promise<void> {
    const first = `${this.options.name}-${this.mutations.length}`;
    const ids = Array.from({ length: this.options.total }, (_, index) => `${first}-${index}`);
    return this.#mutate("entry_import", { entries: ids.map((id) => ({ id, text: id })), pauseMs: 5 }, ids);
  }

  async #mutate(name: string, args: Record<string, unknown>, ids: readonly string[]): Promise<void> {
    const mutation: Mutation = { ids, outcome: "lost", count: undefined, told: "" };
    this.mutations.push(mutation);
    this.inFlight = true;
    try {
      const result = await this.#connection?.call(name, args, (id) => (this.eventId = id));
      // Of the output schema of both tools.
      const { isError, structuredContent, content } = result as {
        isError?: boolean;
        structuredContent?: { count: number };
        content: unknown;
      };
      mutation.outcome = isError === true ? "failed" : "answered";
      mutation.count = structuredContent?.count;
      if (isError === true) mutation.told = JSON.stringify(content);
    } catch (error) {
      mutation.outcome = outcomeOf(error);
      mutation.told = error instanceof Error ? error.message : String(error);
      await this.#failed(error);
    } finally {
      this.inFlight = false;
    }
  }

  /** Begins a session again if it has ended. */
  async #failed(error: unknown): Promise<void> {
    if (statusOf(error) !== 404 || !this.options.isLegacy || this.#isClosed) return;
    this.#beginning ??= this.#beginAgain();
    await this.#beginning;
    this.#beginning = undefined;
  }

  async #beginAgain(): Promise<void> {
    this.lostSessions.push(this.#since);
    await this.#connection?.close();
    while (!this.#isClosed && !(await this.#canConnect())) await pause(100);
  }

  async #canConnect(): Promise<boolean> {
    try {
      await this.connect();
      return true;
    } catch {
      this.failedConnects += 1;
      return false;
    }
  }

  #onMessage(message: unknown): void {
    this.deliveries += 1;
    const verdict = judgeMessage(message, this.options);
    if (verdict === "notice") {
      this.notices += 1;
      this.#readAgain();
    } else if (verdict !== undefined) this.foreign.push(verdict);
  }

  /** Reads after a notification; once more after those that arrive meanwhile. */
  #readAgain(): void {
    this.#isStale = true;
    if (!this.#isReading && !this.#isHeld) void this.#readUntilFresh();
  }

  async #readUntilFresh(): Promise<void> {
    this.#isReading = true;
    while (this.#isStale && !this.#isHeld && !this.#isClosed) {
      this.#isStale = false;
      const value = await this.read();
      if (value !== undefined) this.value = value;
      // The notification holds until a read has worked.
      else this.#isStale = true;
      await pause(this.options.restMs);
    }
    this.#isReading = false;
  }
}
