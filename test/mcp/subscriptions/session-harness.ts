import type { WatchListener } from "../../../src/catalog/resources/watched-resource.ts";
import { authorise } from "../../../src/call/authorise.ts";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import { SubscriptionSession } from "../../../src/mcp/subscriptions/subscription-session.ts";
import { createAnswerRenderer } from "../../../src/mcp/protocol.ts";
import type { ListName } from "../../../src/mcp/lists.ts";
import type { Era, RequestId, RpcAnswer } from "../../../src/mcp/protocol.ts";
import type { AppResources } from "../../../src/mcp/servable-app.ts";
import type { Clock } from "../../../src/spine/clock.ts";
import type { Fault } from "../../../src/surface/fault.ts";

/** Time that passes when a test says so. */
export class ManualClock implements Clock {
  readonly #timers = new Map<object, { readonly at: number; readonly run: () => void }>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): () => void {
    const key = {};
    this.#timers.set(key, { at: this.#now + delayMs, run });
    return () => void this.#timers.delete(key);
  }

  get pending(): number {
    return this.#timers.size;
  }

  pass(ms: number): void {
    this.#now += ms;
    for (const [key, { at, run }] of this.#timers) {
      if (at > this.#now) continue;
      this.#timers.delete(key);
      run();
    }
  }
}

/** Resources that change, and open, when a test says so. */
export class FakeResources implements AppResources {
  /** What is there: known at once, known when {@link open} says so, or nothing. */
  readonly known: Record<string, "open" | "late"> = {};
  readonly watching = new Map<string, Set<WatchListener>>();
  /** For whom something was watched, one after the other. */
  readonly watchers: Caller[] = [];

  /** How often a URI was looked up for its scopes. */
  lookups = 0;

  /** Scopes that URIs ask for. */
  readonly guarded: Record<string, readonly string[]> = {};

  watch(caller: Caller, uri: string, told: WatchListener): (() => void) | undefined {
    this.watchers.push(caller);
    const kind = this.known[uri];
    if (kind === undefined) return undefined;
    const end = this.#join(uri, told);
    if (kind === "open") told.opened?.(true);
    return end;
  }

  has(_caller: Caller, uri: string): boolean {
    return uri in this.known;
  }

  hasRoom(): boolean {
    return true;
  }

  lacking(caller: Caller, uri: string): readonly string[] | undefined {
    this.lookups += 1;
    return authorise(caller, { scopes: this.guarded[uri] ?? [] })?.scopes;
  }

  watchList(caller: Caller, list: ListName, changed: () => void): () => void {
    this.watchers.push(caller);
    return this.#join(list === "resources" ? "list" : `list of ${list}`, { changed });
  }

  /** How many watch anything. */
  get count(): number {
    return [...this.watching.values()].reduce((sum, { size }) => sum + size, 0);
  }

  change(uri: string): void {
    for (const told of this.watching.get(uri) ?? []) told.changed();
  }

  open(uri: string, isThere = true): void {
    for (const told of this.watching.get(uri) ?? []) told.opened?.(isThere);
  }

  #join(uri: string, watching: WatchListener): () => void {
    const all = this.watching.get(uri) ?? new Set();
    this.watching.set(uri, all.add(watching));
    return () => void all.delete(watching);
  }
}

/** A message that a session sent. */
export type SessionFrame = Readonly<Record<string, unknown>>;

/** A session without a gate. */
export class SessionHarness {
  readonly clock = new ManualClock();
  readonly resources = new FakeResources();
  readonly lines: string[] = [];
  readonly faults: Fault[] = [];
  /** Runs at each frame that is written. */
  onSend: () => void = () => {};
  /** Runs at each answer, before it is rendered. */
  onAnswer: (answer: RpcAnswer) => void = () => {};
  readonly session: SubscriptionSession;
  /** Who asks. */
  caller: Caller = anonymous;

  constructor(known: Record<string, "open" | "late"> = {}) {
    Object.assign(this.resources.known, known);
    const render = createAnswerRenderer({ name: "test", version: "1" });
    const send = (json: string): void => {
      this.lines.push(json);
      this.onSend();
    };
    this.session = new SubscriptionSession({
      runtime: {
        resources: this.resources,
        changing: new Set(["resources"]),
        report: (fault) => this.faults.push(fault),
      },
      send,
      answer: (id, answer, era) => {
        this.onAnswer(answer);
        send(render(id, answer, era));
      },
      clock: this.clock,
      stallMs: 30_000,
    });
  }

  /** What was sent since the last call. */
  take(): SessionFrame[] {
    return this.lines.splice(0).map((line) => JSON.parse(line));
  }

  request(era: Era, id: RequestId, ask: { readonly method: string; readonly params: object }): boolean {
    const { method, params } = ask;
    const frame = { kind: "request", id, method, params: { ...params } } as const;
    return this.session.serve({ frame, era, caller: this.caller });
  }

  subscribe(id: RequestId, uri: string): SessionFrame[] {
    this.request("legacy", id, { method: "resources/subscribe", params: { uri } });
    return this.take();
  }

  unsubscribe(id: RequestId, uri: string): SessionFrame[] {
    this.request("legacy", id, { method: "resources/unsubscribe", params: { uri } });
    return this.take();
  }

  listen(id: RequestId, ...uris: string[]): SessionFrame[] {
    const params = { notifications: { resourceSubscriptions: uris } };
    this.request("modern", id, { method: "subscriptions/listen", params });
    return this.take();
  }
}

/** The notice of a change. */
export function updated(uri: string, id?: RequestId): SessionFrame {
  const meta = id === undefined ? {} : { _meta: { "io.modelcontextprotocol/subscriptionId": id } };
  return { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri, ...meta } };
}

/** The acknowledgement of a subscription. */
export function acknowledged(id: RequestId, notifications: object): SessionFrame {
  return {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications, _meta: { "io.modelcontextprotocol/subscriptionId": id } },
  };
}

/** The answer by which a subscription is ended. */
export function ended(id: RequestId): SessionFrame {
  return {
    jsonrpc: "2.0",
    id,
    result: {
      resultType: "complete",
      _meta: {
        "io.modelcontextprotocol/serverInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/subscriptionId": id,
      },
    },
  };
}
