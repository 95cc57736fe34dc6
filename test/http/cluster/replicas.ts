import * as z from "zod";
import type { Cluster } from "../../../src/cluster/cluster.ts";
import { bearer, http, type HttpOptions, type HttpServing } from "../../../src/http/index.ts";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
} from "../../../src/index.ts";
import { memoryHub, type MemoryHub } from "../../cluster/memory-hub.ts";

const resource = "https://ci.example/mcp";

const surface = defineSurface("steps", {
  state: mcpResource(cell({ schema: z.object({ count: z.number() }), description: "The state" })),
  items: mcpResource(collection({ key: z.string(), schema: z.object({ label: z.string() }) }), { listItems: true }),
  walk: readOnly(
    mcpTool(
      procedure({
        input: z.object({}),
        output: z.object({ done: z.boolean(), text: z.string().optional() }),
        progress: z.object({ progress: z.number(), total: z.number(), message: z.string().optional() }),
      }),
    ),
  ),
});

/** Tokens and what they are granted. Both of ada's are of one caller. */
const tokens: ReadonlyMap<string, { readonly id: string; readonly scopes: readonly string[] }> = new Map([
  ["ada", { id: "ada", scopes: ["steps:read", "steps:write"] }],
  ["ada-reads", { id: "ada", scopes: ["steps:read"] }],
  ["bob", { id: "bob", scopes: ["steps:read", "steps:write"] }],
]);

/** One server of the app, and the calls that run on it. */
export class Replica {
  readonly serving: HttpServing;
  readonly id: string;
  readonly walks: Walks;

  constructor(serving: HttpServing, id: string, walks: Walks) {
    this.serving = serving;
    this.id = id;
    this.walks = walks;
  }

  get url(): string {
    return this.serving.url;
  }
}

/** Calls that go a step when they are told to. */
export class Walks {
  readonly #next = new Set<(isLast: boolean) => void>();
  aborted = 0;
  /** A part of each answer. */
  fill: string | undefined;
  /** A part of each notification. */
  message: string | undefined;
  greeted: string[] = [];

  get waiting(): number {
    return this.#next.size;
  }

  go(isLast = false): void {
    const all = [...this.#next];
    this.#next.clear();
    for (const next of all) next(isLast);
  }

  async *walk(_input: object, { signal }: { readonly signal: AbortSignal }) {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => void (this.aborted += 1));
    for (let progress = 1; ; progress += 1) {
      const isLast = await Promise.race([aborted, new Promise<boolean>((resolve) => this.#next.add(resolve))]);
      if (isLast) return { done: true, text: this.fill };
      yield { progress, total: 100, message: this.message };
    }
  }
}

/** The replicas of one app in this process, over real HTTP, with one state. */
export interface Replicas {
  readonly hub: MemoryHub;
  readonly all: readonly Replica[];
  readonly faults: unknown[];
  /** Changes the state, which each replica watches by itself. */
  change(this: void): void;
  close(): Promise<void>;
}

const auth = bearer({
  resource,
  verify: async (token) => {
    const known = tokens.get(token);
    return known && { resource, ...known };
  },
});

/** Returns a cluster whose store waits before one of its methods. */
export function withStore(cluster: Cluster, wait: () => Promise<void>, method: "get" | "swap" | "delete"): Cluster {
  const { bus, limiter, log, replica, store } = cluster;
  const waiting =
    <TArgs extends unknown[], TResult>(run: (...args: TArgs) => Promise<TResult>) =>
    async (...args: TArgs): Promise<TResult> => {
      await wait();
      return run(...args);
    };
  return {
    ...{ bus, limiter, log, replica },
    store: { ...store, [method]: waiting<never[], unknown>(store[method]) },
    get isAvailable() {
      return cluster.isAvailable;
    },
    get lapses() {
      return cluster.lapses;
    },
    isAlive: (other) => cluster.isAlive(other),
    open: (options) => cluster.open(options),
  };
}

/** Options of {@link openReplicas}. */
export interface ReplicasOptions extends HttpOptions {
  readonly count?: number;
  /** Whether callers have tokens. */
  readonly isKnown?: boolean;
  /** Puts something before the cluster of each replica. */
  readonly wrap?: (cluster: Cluster) => Cluster;
}

export async function openReplicas({
  count = 2,
  isKnown = false,
  wrap = (cluster) => cluster,
  ...options
}: ReplicasOptions = {}): Promise<Replicas> {
  const hub = memoryHub();
  const state = cellSource({ count: 0 });
  const faults: unknown[] = [];
  const open = async (): Promise<Replica> => {
    const walks = new Walks();
    const app = mcp(surface, { uriPrefix: "app://", onFault: ({ cause }) => void faults.push(cause) })
      .implement({
        state,
        items: cellSource(new Map([["a", { label: "the first" }]])),
        walk: (input, context) => walks.walk(input, context),
      })
      .tools({
        fill: { handler: () => "x".repeat(200_000) },
        greet: {
          handler: async (_args, context) => {
            const answer = await context.ask.elicit("name", z.object({ name: z.string() }), "Name?");
            const name = answer.action === "accept" ? answer.content.name : answer.action;
            walks.greeted.push(name);
            return { name };
          },
        },
      });
    const cluster = wrap(hub.join());
    const serving = await http({
      exit: false,
      drainMs: 100,
      ...(isKnown ? { auth, rateLimit: false as const } : {}),
      ...options,
      cluster,
    }).serve(app);
    return new Replica(serving, cluster.replica, walks);
  };
  const all: Replica[] = [];
  for (let at = 0; at < count; at += 1) all.push(await open());
  return {
    hub,
    all,
    faults,
    change: () => state.set({ count: state.get().count + 1 }),
    close: async () => void (await Promise.all(all.map(({ serving }) => serving.close()))),
  };
}

/** What one HTTP request of a session says. */
export interface Sent {
  readonly session?: string | undefined;
  readonly token?: string | undefined;
  readonly lastId?: string | undefined;
}

function headersOf({ session, token, lastId }: Sent): Record<string, string> {
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(lastId === undefined ? {} : { "last-event-id": lastId }),
  };
}

/** Waits until something has come about. */
export async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await done())) {
    if (performance.now() - start > 20_000) throw new Error("it did not come to that");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** One event. */
export interface Heard {
  readonly id: string | undefined;
  readonly message: Readonly<Record<string, unknown>> | undefined;
}

/** An answer, whose events are read as they come. */
export class Reading {
  readonly status: number;
  readonly headers: Headers;
  readonly events: Heard[] = [];
  isOver = false;
  text = "";
  readonly #abort: AbortController;

  constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#abort = abort;
    void this.#read(response);
  }

  get messages(): readonly Readonly<Record<string, unknown>>[] {
    return this.events.flatMap(({ message }) => (message === undefined ? [] : [message]));
  }

  get methods(): readonly string[] {
    return this.messages.map(({ method, result }) => {
      if (typeof method === "string") return method;
      return result === undefined ? "error" : "result";
    });
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The message of an answer in one piece. */
  get json(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.text === "" ? "{}" : this.text) as Record<string, unknown>;
  }

  cut(): void {
    this.#abort.abort();
  }

  over(): Promise<void> {
    return until(() => this.isOver);
  }

  async #read(response: Response): Promise<void> {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const bytes of response.body ?? []) {
        const text = decoder.decode(bytes, { stream: true });
        this.text += text;
        if (!isStream) continue;
        const parts = (rest + text).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) this.#hear(part);
      }
    } catch {
      // The connection was cut.
    }
    this.isOver = true;
  }

  #hear(part: string): void {
    const field = (name: string): string | undefined =>
      part.split("\n").flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []))[0];
    const data = field("data");
    if (data === undefined) return;
    const message = data === "" ? undefined : (JSON.parse(data) as Record<string, unknown>);
    this.events.push({ id: field("id"), message });
  }
}

async function send(replica: Pick<Replica, "url">, init: RequestInit, sent: Sent): Promise<Reading> {
  const abort = new AbortController();
  const response = await fetch(replica.url, { ...init, headers: headersOf(sent), signal: abort.signal });
  return new Reading(response, abort);
}

/** Sends one message; resolves when the answer has begun. */
export function post(replica: Pick<Replica, "url">, message: object, sent: Sent = {}): Promise<Reading> {
  return send(replica, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", ...message }) }, sent);
}

/** Sends one message, and waits for the whole answer. */
export async function ask(replica: Pick<Replica, "url">, message: object, sent: Sent = {}): Promise<Reading> {
  const reading = await post(replica, message, sent);
  await reading.over();
  return reading;
}

export const get = (replica: Pick<Replica, "url">, sent: Sent): Promise<Reading> =>
  send(replica, { method: "GET" }, sent);

export async function end(replica: Pick<Replica, "url">, sent: Sent): Promise<Reading> {
  const reading = await send(replica, { method: "DELETE" }, sent);
  await reading.over();
  return reading;
}

/** Opens a session; returns its id. */
export async function initialize(
  replica: Pick<Replica, "url">,
  token?: string,
  capabilities: object = {},
): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test", version: "1" } };
  const reading = await ask(replica, { id: 0, method: "initialize", params }, { token });
  if (reading.status !== 200) throw new Error(`initialize: ${reading.status} ${reading.text}`);
  const session = reading.headers.get("mcp-session-id") ?? "";
  await ask(replica, { method: "notifications/initialized" }, { session, token });
  return session;
}

/** A call, which wants progress. */
export function callOf(id: number | string, name: string, args: object = {}): object {
  return { id, method: "tools/call", params: { name, arguments: args, _meta: { progressToken: id } } };
}

let opened: Replicas | undefined;

/** Opens three replicas, until {@link closeThree}. */
export async function openThree(
  options: ReplicasOptions = {},
): Promise<Replicas & { a: Replica; b: Replica; c: Replica }> {
  opened = await openReplicas({ count: 3, ...options });
  const [a, b, c] = opened.all;
  if (a === undefined || b === undefined || c === undefined) throw new Error("too few");
  return { ...opened, a, b, c };
}

/** Closes the replicas that were opened last. */
export async function closeThree(): Promise<void> {
  await opened?.close();
  opened = undefined;
}
