import { SurfaceError } from "../../src/errors.ts";
import type { CloseReason, Connection, ConnectionState, Link } from "../../src/links/link.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../../src/surface/channel.ts";
import type { UseOptions } from "../../src/surface/client.ts";
import { createClient } from "../../src/surface/create-client.ts";
import type { Surface } from "../../src/surface/define-surface.ts";
import type { Spec } from "../../src/surface/member.ts";

/** A use that is under way: the test answers it. */
export interface Asked {
  readonly use: Operation<RequestVerb>;
  readonly answer: (value: unknown) => void;
  readonly fail: (cause: unknown) => void;
}

/** One connection whose far side is the test. */
export class ScriptedConnection {
  readonly asked: Asked[] = [];
  followed = 0;
  /** How many iterations are open. */
  following = 0;
  closes = 0;
  isLeaving = false;
  isOver = false;
  #reason: CloseReason = { kind: "lost" };
  /** What closing does; by default it ends. */
  onClose: () => Promise<void> = async () => this.end({ kind: "closed" });
  /** What a follow gives; by default it waits for the end. */
  onFollow: (use: Operation<SubscribeVerb>) => AsyncIterable<unknown> = () => this.#values();
  announce: () => void = () => {};
  readonly leaving: Promise<void>;
  closed: Promise<CloseReason>;
  #tellClosed: (reason: CloseReason) => void = () => {};
  #breaks: (() => void)[] = [];

  constructor() {
    this.leaving = new Promise((resolve) => {
      this.announce = () => {
        this.isLeaving = true;
        resolve();
      };
    });
    this.closed = new Promise((resolve) => (this.#tellClosed = resolve));
  }

  /** The end: what is under way has failed by then. */
  end(reason: CloseReason): void {
    this.isOver = true;
    this.#reason = reason;
    for (const { fail } of this.asked) fail(new SurfaceError("DISCONNECTED", "cut"));
    for (const cut of this.#breaks.splice(0)) cut();
    this.#tellClosed(reason);
  }

  toConnection<TSpec extends Spec>(surface: Surface<TSpec>): Connection<TSpec> {
    const channel: SurfaceChannel = {
      request: (use) => this.#ask(use),
      subscribe: (use) => {
        this.followed += 1;
        return this.onFollow(use);
      },
    };
    const close = (): Promise<void> => {
      this.closes += 1;
      return this.onClose();
    };
    const { closed, leaving } = this;
    const state = (): ConnectionState => {
      if (this.isOver) return { kind: "ended", reason: this.#reason };
      return { kind: this.isLeaving ? "leaving" : "open" };
    };
    return { client: createClient(surface, channel), channel, state, closed, leaving, close };
  }

  async #ask(use: Operation<RequestVerb>): Promise<unknown> {
    if (this.isOver || this.isLeaving) throw new SurfaceError("UNAVAILABLE", "not here");
    return new Promise((resolve, reject) => this.asked.push({ use, answer: resolve, fail: reject }));
  }

  /** Gives 1, then waits for its consumer to leave or the connection to end. */
  #values(): AsyncIterable<unknown> {
    return {
      [Symbol.asyncIterator]: () => {
        this.following += 1;
        let count = 0;
        let leave = (): void => {};
        const left = new Promise<IteratorResult<unknown>>((resolve, reject) => {
          leave = () => resolve({ done: true, value: undefined });
          this.#breaks.push(() => reject(new SurfaceError("DISCONNECTED", "cut")));
        });
        left.catch(() => {});
        return {
          next: () => {
            count += 1;
            return count === 1 ? Promise.resolve({ done: false, value: 1 }) : left;
          },
          return: () => {
            this.following -= 1;
            leave();
            return Promise.resolve({ done: true, value: undefined });
          },
        };
      },
    };
  }
}

/** One dial: the test lets it through, or refuses it. */
export interface Dialled {
  readonly signal: AbortSignal | undefined;
  accept(connection?: ScriptedConnection): ScriptedConnection;
  refuse(cause?: unknown): void;
}

/** A link whose far side is the test. Accepts by itself unless told otherwise. */
export class ScriptedLink implements Link {
  readonly dials: Dialled[] = [];
  readonly connections: ScriptedConnection[] = [];
  /** What is answered to a dial; one that is held is answered by the test. */
  answer: "accept" | "hold" | "refuse" = "accept";

  get last(): ScriptedConnection {
    const last = this.connections.at(-1);
    if (last === undefined) throw new Error("there is no connection yet");
    return last;
  }

  get lastDial(): Dialled {
    const last = this.dials.at(-1);
    if (last === undefined) throw new Error("there is no dial yet");
    return last;
  }

  connect<TSpec extends Spec>(surface: Surface<TSpec>, use?: UseOptions): Promise<Connection<TSpec>> {
    return new Promise((resolve, reject) => {
      const dialled: Dialled = {
        signal: use?.signal,
        accept: (connection = new ScriptedConnection()) => {
          this.connections.push(connection);
          resolve(connection.toConnection(surface));
          return connection;
        },
        refuse: (cause = new Error("refused")) => reject(cause),
      };
      this.dials.push(dialled);
      if (this.answer === "accept") dialled.accept();
      if (this.answer === "refuse") dialled.refuse();
    });
  }
}
