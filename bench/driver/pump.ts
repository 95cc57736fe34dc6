import type { ServerProcess } from "./server-process.ts";

/** A load: `total` requests, at most `inFlight` of them unanswered at a time. */
export interface Load {
  readonly total: number;
  readonly inFlight: number;
  /** The line of the request with this id. */
  readonly request: (id: number) => string;
}

/** What a load took. Milliseconds. */
export interface Pumped {
  readonly elapsedMs: number;
  /** From a request to its answer, one a request; only where one is in flight. */
  readonly latenciesMs: readonly number[];
}

let lastId = 1_000;

/**
 * Drives a load. For every answer one more request goes out; those that a chunk of answers allows go out in one write,
 * as they would from a client that handles a chunk in one turn.
 */
export async function pump(server: ServerProcess, load: Load): Promise<Pumped> {
  const { total, inFlight, request } = load;
  const latenciesMs: number[] = [];
  let sent = 0;
  let answered = 0;
  let start = 0;
  let sentAt = 0;
  const send = (count: number): void => {
    let text = "";
    for (let more = Math.min(count, total - sent); more > 0; more -= 1) {
      text += request((lastId += 1));
      sent += 1;
    }
    sentAt = performance.now();
    if (text !== "") server.write(text);
  };
  await server.listen((done) => {
    start = performance.now();
    send(inFlight);
    return (count, chunk) => {
      if (chunk.includes('"error":{'))
        throw new Error(`Benchmark: a server refused: ${chunk.toString("utf8", 0, 400)}`);
      if (count === 0) return;
      answered += count;
      if (inFlight === 1) latenciesMs.push(performance.now() - sentAt);
      if (answered >= total) done();
      else send(count);
    };
  });
  return { elapsedMs: performance.now() - start, latenciesMs };
}
