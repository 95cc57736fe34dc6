import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../tools/orders.ts";
import type { Era } from "../driver/requests.ts";
import { type HttpClient, openAll, openClient, openStream } from "./http-client.ts";
import type { HttpProcess } from "./http-process.ts";

/** Longer than a window of a server that says nothing else: each change comes after quiet. */
const quietMs = 250;

const notice = Buffer.from("notifications/resources/updated");

/** Clients with a stream each, which are told of changes of the counter. Whoever opened them closes them. */
export class Watchers {
  readonly clients: readonly HttpClient[];
  /** When each notice has arrived, by the clock that all processes share. */
  readonly #arrivals: number[];

  private constructor(clients: readonly HttpClient[], arrivals: number[]) {
    this.clients = clients;
    this.#arrivals = arrivals;
  }

  /** Opens so many of them. */
  static async open(port: number, era: Era, count: number): Promise<Watchers> {
    const arrivals: number[] = [];
    const clients = await openAll(count, async () => {
      const client = await openClient(port, { era });
      await openStream(client, (chunk) => {
        if (chunk.includes(notice)) arrivals.push(monotonicMs());
      });
      return client;
    });
    return new Watchers(clients, arrivals);
  }

  /**
   * Has the counter changed so often, each time after quiet, and resolves with how long each notice took, by change.
   * Fails where not everybody is told.
   */
  async hear({ server }: HttpProcess, changes: number): Promise<readonly (readonly number[])[]> {
    const heard: number[][] = [];
    await server.owner.report();
    for (let count = 0; count < changes; count += 1) {
      server.owner.change();
      await this.#untilAllHave();
      const { times } = await server.owner.report();
      const [at = Number.NaN] = times;
      heard.push(this.#arrivals.splice(0).map((arrival) => arrival - at));
      await sleep(quietMs);
    }
    return heard;
  }

  /** Closes every connection. */
  close(): void {
    for (const { connection } of this.clients) connection.close();
  }

  async #untilAllHave(): Promise<void> {
    const started = performance.now();
    while (this.#arrivals.length < this.clients.length) {
      if (performance.now() - started > 10_000) {
        throw new Error(`Benchmark: ${this.#arrivals.length} of ${this.clients.length} watchers were told`);
      }
      await sleep(5);
    }
  }
}
