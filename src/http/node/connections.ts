import type { Socket } from "node:net";
import type { Share } from "../../spine/budget.ts";
import { Connection, type ConnectionEvents, type ConnectionSetting } from "./connection.ts";

/** What is being answered on the connections of one server, or of one handler under a server of somebody else's. */
export class Connections {
  readonly #setting: ConnectionSetting;
  readonly #known = new WeakMap<object, Connection>();
  readonly #places = new WeakMap<object, Share>();
  readonly #waiting: (() => void)[] = [];
  #unread = 0;
  readonly #events: ConnectionEvents = {
    answered: () => void (this.#unread += 1),
    sent: (count) => this.#sent(count),
  };

  constructor(setting: ConnectionSetting) {
    this.#setting = setting;
  }

  /** Sets the place of a connection that is counted. Each request makes it the last to be evicted. */
  bound(socket: Socket, place: Share): void {
    this.#places.set(socket, place);
  }

  /** What is answered on a connection, from its first request on. */
  of(socket: Socket): Connection {
    let connection = this.#known.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket, { ...this.#setting, events: this.#events, place: this.#places.get(socket) });
      this.#known.set(socket, connection);
    }
    return connection;
  }

  /** Whether a request has come on a connection. */
  has(socket: object): boolean {
    return this.#known.has(socket);
  }

  /** Whether a client would take text that is written to a connection for the answer to a request, or for a second one. */
  isAnswering(socket: object): boolean {
    return this.#known.get(socket)?.isAnswering === true;
  }

  /** Whether a request that came completely is being answered on a connection. */
  isBusy(socket: object): boolean {
    return this.#known.get(socket)?.isBusy === true;
  }

  /** Has a request that comes too slowly answered. Returns `false` where nothing waits for its rest. */
  late(socket: object): boolean {
    return this.#known.get(socket)?.late() === true;
  }

  /** Resolves once everything that was answered is with the system, or its connection is closed. */
  async sent(): Promise<void> {
    if (this.#unread > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #sent(count: number): void {
    this.#unread -= count;
    if (this.#unread === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
