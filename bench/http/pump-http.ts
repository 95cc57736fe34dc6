import type { Question } from "../driver/requests.ts";
import type { HttpClient } from "./http-client.ts";
import { firstId, toPost } from "./http-requests.ts";

/** What a load took, in milliseconds. */
export interface PumpedHttp {
  readonly elapsedMs: number;
  /** From a request to its answer, one a request. */
  readonly latenciesMs: readonly number[];
}

/** Asks one question again and again on every connection, one at a time on each, until there are as many answers as said. */
export async function pumpHttp(clients: readonly HttpClient[], question: Question, total: number): Promise<PumpedHttp> {
  const latenciesMs: number[] = [];
  let sent = 0;
  const start = performance.now();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("Benchmark: a server did not answer within a minute")), 60_000);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    for (const { connection, sender } of clients) {
      const request = toPost(question, sender);
      let sentAt = 0;
      const next = (): void => {
        if (sent >= total) return;
        sent += 1;
        sentAt = performance.now();
        connection.write(request(firstId + sent));
      };
      const answered = (): void => {
        latenciesMs.push(performance.now() - sentAt);
        timer.refresh();
        if (latenciesMs.length === total) done();
        else next();
      };
      connection.attend(answered, reject);
      next();
    }
  });
  return { elapsedMs: performance.now() - start, latenciesMs };
}
