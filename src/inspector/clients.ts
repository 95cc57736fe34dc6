import type {
  ObservedCaller,
  Origin,
  RequestStart,
  SessionEnd,
  SessionStart,
  StreamEnd,
  StreamStart,
} from "../observe/observation.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { ReadWork } from "../observe/work-records.ts";
import { setNewest } from "../spine/collections.ts";
import type { ClientRow, Cut } from "./messages.ts";
import { cut, toName, toNameIf } from "./texts.ts";

const maxShown = 500;

/** Sessions, and clients without one, that are kept. */
const maxKept = 10_000;

/** Milliseconds for which a client without a session is shown after its last request. */
const idleMs = 60_000;

/** The origin of a record, or of a request without one. */
type From = Origin | ReadWork;

class ConnectedClient {
  readonly id: string;
  readonly #origin: Pick<ReadWork, "transport" | "protocol" | "client" | "caller" | "view">;
  /** Unix time in milliseconds. */
  readonly since: number = Date.now();
  /** The time of the last request, as the clock counts. */
  seenAt: number;
  requests = 0;
  streams = 0;

  constructor(id: string, { transport, protocol, client, caller, view }: From, now: number) {
    this.id = id;
    this.#origin = { transport, protocol, client, caller, view };
    this.seenAt = now;
  }

  /** @param toUnix - converts a time of the clock. */
  toRow(toUnix: (time: number) => number): ClientRow {
    const { id, since, requests, streams } = this;
    const { transport, protocol, client, caller, view } = this.#origin;
    const lastAt = toUnix(this.seenAt);
    return toDefined({
      ...{ id: toName(id), transport, since, lastAt, requests, streams },
      protocol: toNameIf(protocol),
      client: client && { name: toName(client.name), version: toName(client.version) },
      caller: toDefined({
        id: toName(caller.id),
        issuer: toNameIf(caller.issuer),
        clientId: toNameIf(caller.clientId),
        isAnonymous: caller.isAnonymous,
      }),
      view: toName(view),
    });
  }
}

function toKey({ transport, caller, client, view }: From): string {
  const { id, issuer = "", clientId = "", isAnonymous } = caller;
  const name = client === undefined ? "" : `${client.name.length} ${client.name}${client.version}`;
  // Each text with its length, so that no two clients have one key. JSON takes three times as long, in each request.
  return `${transport} ${isAnonymous} ${id.length} ${id}${issuer.length} ${issuer}${clientId.length} ${clientId}${view.length} ${view}${name}`;
}

/** The keys of clients without a session. Records of one client have one caller object, and writing the key costs more than finding it. */
const keys = new WeakMap<ObservedCaller, Pick<ReadWork, "transport" | "view" | "client"> & { readonly key: string }>();

function keyOf(from: From): string {
  const { session, caller, transport, view, client } = from;
  if (session !== undefined) return session;
  const known = keys.get(caller);
  if (known?.transport === transport && known.view === view && known.client === client) return known.key;
  const key = toKey(from);
  keys.set(caller, { transport, view, client, key });
  return key;
}

/** The connected clients: sessions, and clients without one that sent a request in the last minute. */
export class Clients {
  readonly #clients = new Map<string, ConnectedClient>();
  /** The sessions among them. */
  readonly #sessions = new Set<string>();
  #count = 0;

  started(start: SessionStart, now: number): void {
    this.#sessions.add(start.id);
    this.#of(start, now, start.id);
  }

  ended({ id }: SessionEnd): void {
    this.#sessions.delete(id);
    this.#clients.delete(id);
  }

  requested(start: RequestStart | ReadWork, now: number): void {
    // The session that it starts is the client. It would be a second one.
    if (start.method === "initialize") return;
    const client = this.#of(start, now);
    client.requests += 1;
    client.seenAt = now;
  }

  streams(change: StreamStart | StreamEnd, now: number): void {
    const client = change.type === "stream-start" ? this.#of(change, now) : this.#clients.get(keyOf(change));
    if (client === undefined) return;
    client.streams = Math.max(0, client.streams + (change.type === "stream-start" ? 1 : -1));
    client.seenAt = now;
  }

  /** The clients, oldest first; of too many those with the newest requests. @param toUnix - converts a time of the clock. */
  list(now: number, toUnix: (time: number) => number): Cut<ClientRow> {
    for (const [key, client] of this.#clients) {
      if (!this.#sessions.has(key) && client.streams === 0 && now - client.seenAt > idleMs) this.#clients.delete(key);
    }
    const { rows, more } = cut(
      [...this.#clients.values()].toSorted((left, right) => right.seenAt - left.seenAt),
      maxShown,
    );
    return {
      rows: rows.toSorted((left, right) => left.since - right.since).map((client) => client.toRow(toUnix)),
      more,
    };
  }

  #of(from: From, now: number, id?: string): ConnectedClient {
    const key = keyOf(from);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    this.#count += 1;
    const client = new ConnectedClient(id ?? `client-${this.#count}`, from, now);
    const dropped = setNewest(this.#clients, [key, client], maxKept);
    if (dropped !== undefined) this.#sessions.delete(dropped);
    return client;
  }
}
