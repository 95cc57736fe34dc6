import type { BusListener, Cluster } from "../../cluster/cluster.ts";
import { SurfaceError } from "../../errors.ts";
import type { ResponseFrame } from "../../mcp/parse-frame.ts";
import { rpcCodes, toInternalAnswer, toRpcError, type RpcError } from "../../mcp/protocol.ts";
import { isJsonObject, parseJson, toList } from "../../schema/json.ts";
import type { Caller } from "../../surface/caller.ts";
import type { HttpDeps } from "../http-deps.ts";
import type { HttpReply } from "../message.ts";
import { readRecord, type SessionRecord, type SharedState } from "./session-record.ts";

/** The error while the store of sessions cannot be reached. */
export const storeAway: RpcError = toRpcError(
  rpcCodes.busy,
  "Server busy: the store of sessions cannot be reached; try again shortly",
);

/** Reports a fault behind a wait for the store, and answers with its correlation id. */
export function answerFault({ responder, runtime }: HttpDeps, reply: HttpReply, cause: unknown): void {
  responder.answer(reply, toInternalAnswer(cause, "a request in a session", runtime.report), { status: 500 });
}

/** The session on this replica, as its other copies reach it. The methods must not throw. */
export interface SessionCopy {
  /** Ids of the questions that were asked here. */
  readonly asked: Iterable<string>;
  /** Takes over a state that another copy may have changed. */
  refreshed(state: SharedState): void;
  /** Ends the copy: the session has ended. */
  ended(): void;
  /** Takes an answer to a question, by a caller of these rights. */
  answered(frame: ResponseFrame, rights: Pick<Caller, "scopes" | "resources">): void;
  /** Takes any other message. */
  told(kind: unknown, what: unknown): void;
}

/** Dependencies of {@link SessionPeers}. */
export interface SessionPeersDeps {
  readonly cluster: Cluster;
  /** Key of the record, and topic on the bus. */
  readonly key: string;
  /** Milliseconds without activity after which the session ends. */
  readonly ttlMs: number;
  /** Receives errors of the store that no request waits for. */
  readonly failed: (cause: unknown) => void;
  /** Called after messages may have been lost. Calls {@link SessionPeers.catchUp}, perhaps later. */
  readonly lost: (peers: SessionPeers) => void;
}

/** Changes the state of a session. Applied again if another replica was faster. */
export type StateChange = (state: SharedState) => SharedState;

/** Milliseconds until an answer is dropped that the replica of its question has not taken. */
const answerMs = 60_000;

/** Answers of one caller that wait for the replicas of their questions. All anonymous callers count as one. */
const maxAnswers = 64;

/** Attempts to save a record that other replicas change at the same time. */
const maxAttempts = 16;

/** Changes that are kept while the store is away, about. */
const maxUnsaved = 2048;

/**
 * What this replica shares with the others about one session: its record in the store and its topic on the bus. Messages on the bus
 * say that something has changed, and have no data of the app. Call {@link leave} when done.
 */
export class SessionPeers implements BusListener {
  readonly #deps: SessionPeersDeps;
  readonly #unsaved = new Map<string, StateChange>();
  #copy: SessionCopy | undefined;
  /** As it was last saved. */
  #record: SessionRecord | undefined;
  #queued: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;
  /** Whether no other replica is known to have served the session. */
  isAlone = true;
  readonly #unsubscribe: () => void;

  constructor(deps: SessionPeersDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.cluster.bus.subscribe(deps.key, this);
  }

  get cluster(): Cluster {
    return this.#deps.cluster;
  }

  get key(): string {
    return this.#deps.key;
  }

  get ttlMs(): number {
    return this.#deps.ttlMs;
  }

  /** Whether this replica has left. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether changes wait to be saved. */
  get isUnsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  /** Reads the record. Resolves with `undefined` if there is no such session, or if it has ended meanwhile. */
  async load(): Promise<SessionRecord | undefined> {
    const text = await this.#deps.cluster.store.get(this.key);
    const record = text === undefined ? undefined : readRecord(text);
    if (this.#isOver || record === undefined) return undefined;
    this.#record = record;
    this.isAlone = false;
    this.tell("joined");
    return record;
  }

  /** Stores the record of a new session. */
  async create(record: SessionRecord): Promise<void> {
    this.#record = record;
    await this.#deps.cluster.store.set(this.key, JSON.stringify(record), this.ttlMs);
  }

  /** Names the copy of this replica. */
  join(copy: SessionCopy): void {
    this.#copy = copy;
  }

  /** Sends a message to the other copies. */
  tell(...message: readonly (string | number)[]): void {
    if (!this.#isOver) this.#deps.cluster.bus.publish(this.key, JSON.stringify(message));
  }

  /** Changes the state everywhere. A later change of this name replaces one that was not saved yet. */
  change(name: string, change: StateChange): void {
    this.#unsaved.delete(name);
    this.#unsaved.set(name, change);
    for (const oldest of this.#unsaved.keys()) {
      if (this.#unsaved.size <= maxUnsaved) break;
      // The others are few, and the rights of readers are among them.
      if (oldest.startsWith("uri ")) this.#unsaved.delete(oldest);
    }
    this.refresh();
  }

  /** Begins to {@link sync}. */
  refresh(): void {
    if (!this.#isOver) this.sync().catch(this.#deps.failed);
  }

  /** Saves the changes of this copy, and hands it those of the others. Rejects while the store is away. */
  sync(): Promise<void> {
    if (this.#queued !== undefined) return this.#queued;
    const queued = this.#last.then(() => {
      this.#queued = undefined;
      return this.#isOver ? undefined : this.#exchange();
    });
    this.#queued = queued;
    this.#last = queued.catch(() => {});
    return queued;
  }

  /** Gives an answer to the replica of its question. */
  async answer({ id, result, error }: ResponseFrame, { scopes, resources }: Caller): Promise<void> {
    // Only ids of this form are given to questions.
    if (typeof id !== "string" || !/^ask [0-9a-f-]{36}$/.test(id)) return;
    const { store } = this.#deps.cluster;
    const text = JSON.stringify({ id, result, error, scopes, resources });
    // A client may send answers to questions that no replica asked.
    const place = { group: this.#answerGroup, most: maxAnswers };
    if ((await store.take(id, [place], answerMs)) !== undefined)
      throw new SurfaceError("OVERFLOW", "Cannot pass an answer on: too many of the caller wait; try again shortly");
    // The first counts: a token of fewer rights must not replace an answer on its way.
    if (await store.claim(this.#answerKey(id), text, answerMs)) this.tell("answer", id);
  }

  /** Does {@link sync}, and restarts the time after which the session ends. */
  async renew(): Promise<void> {
    await this.sync();
    if (!this.#isOver) await this.#deps.cluster.store.renew(this.key, this.ttlMs);
  }

  message(text: string): void {
    this.isAlone = false;
    const [kind, what] = toList(parseJson(text));
    if (kind === "ended") this.#end();
    else if (kind === "changed") this.refresh();
    else if (kind === "answer" && typeof what === "string") this.#fetch([what]);
    else this.#copy?.told(kind, what);
  }

  gap(): void {
    this.isAlone = false;
    this.#deps.lost(this);
  }

  /** Reads what lost messages would have told. Never rejects. */
  async catchUp(): Promise<void> {
    await this.sync().catch(this.#deps.failed);
    this.#fetch(this.#copy?.asked ?? []);
  }

  /** Leaves the other copies, which go on. Callable twice. */
  leave(): void {
    this.#isOver = true;
    this.#unsubscribe();
  }

  /** The caller's part of the key. */
  get #answerGroup(): string {
    return `answers:${this.key.slice(0, this.key.lastIndexOf(":"))}`;
  }

  #answerKey(id: string): string {
    return `answer:${this.key}:${id}`;
  }

  #end(): void {
    if (this.#isOver) return;
    this.leave();
    this.#copy?.ended();
  }

  async #exchange(): Promise<void> {
    const known = this.#record;
    // Most often no other replica has changed it since: that saves a look.
    if (known !== undefined && this.isUnsaved && (await this.#save(JSON.stringify(known), known, true))) return;
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const before = await this.#deps.cluster.store.get(this.key);
      // A store that lost the record, or was away for too long, gets it again. The end of a session leaves a note.
      const record = before === undefined ? this.#record : readRecord(before);
      if (record === undefined) return this.#end();
      if (await this.#save(before, record)) return;
    }
    throw new SurfaceError("UNAVAILABLE", "Cannot save a session: other replicas change it all the time; try again");
  }

  /**
   * Saves the changes of this copy. Resolves with `false` if another replica was faster.
   *
   * @param isGuess - whether `before` is not read from the store: without a change nothing is learnt.
   */
  async #save(before: string | undefined, record: SessionRecord, isGuess = false): Promise<boolean> {
    const changes = [...this.#unsaved];
    const saved = { ...record, ...changes.reduce<SharedState>((state, [, change]) => change(state), record) };
    const after = JSON.stringify(saved);
    if (before === after ? isGuess : !(await this.#replace(before, after))) return false;
    this.#record = saved;
    for (const [name, change] of changes) if (this.#unsaved.get(name) === change) this.#unsaved.delete(name);
    // Some may have come while these were saved.
    const now = [...this.#unsaved.values()].reduce<SharedState>((state, change) => change(state), saved);
    if (!this.#isOver) this.#copy?.refreshed(now);
    return true;
  }

  /** Resolves with `false` if another replica was faster. */
  async #replace(before: string | undefined, after: string): Promise<boolean> {
    const { key, ttlMs } = this;
    const { store } = this.#deps.cluster;
    const replaced = before === undefined ? store.claim(key, after, ttlMs) : store.swap(key, { before, after }, ttlMs);
    if (!(await replaced)) return false;
    this.tell("changed");
    return true;
  }

  /** Takes answers to questions of this replica. */
  #fetch(ids: Iterable<string>): void {
    const asked = new Set(this.#copy?.asked);
    for (const id of ids) if (asked.has(id)) this.#fetchOne(id).catch(this.#deps.failed);
  }

  async #fetchOne(id: string): Promise<void> {
    const { store } = this.#deps.cluster;
    const text = await store.get(this.#answerKey(id));
    if (text === undefined) return;
    // The question waits for it, however the store goes on.
    try {
      this.#take(id, text);
    } finally {
      await Promise.all([store.delete(this.#answerKey(id)), store.leave(id, [this.#answerGroup])]);
    }
  }

  #take(id: string, text: string): void {
    const read = parseJson(text);
    if (!isJsonObject(read) || !Array.isArray(read["scopes"])) return;
    const { result, error, scopes, resources } = read;
    // Another replica has written them, from a verified token.
    const rights = { scopes, resources } as unknown as Pick<Caller, "scopes" | "resources">;
    this.#copy?.answered({ kind: "response", id, result, error }, rights);
  }
}
