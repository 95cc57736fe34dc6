import { type Era, type Question } from "../driver/requests.ts";
import { type HttpClient, openAll, openClient } from "../http/http-client.ts";
import { readMessage } from "../http/http-connection.ts";
import { type HttpProcess, startHttp } from "../http/http-process.ts";
import { firstId, toPost } from "../http/http-requests.ts";

const clientsEach = 16;

/** Starts replicas of one app. Each is to be stopped. */
export function startReplicas(args: readonly string[], count: number): Promise<HttpProcess[]> {
  return Promise.all(Array.from({ length: count }, () => startHttp(args)));
}

/** Connects clients to replicas in turn, each with the token of another user. */
export function connectTo(replicas: readonly HttpProcess[], era: Era, count?: number): Promise<HttpClient[]> {
  return openAll(count ?? clientsEach * replicas.length, (at) =>
    openClient(replicas[at % replicas.length]?.port ?? 0, { era, token: `user${at}` }),
  );
}

/** Connects clients for some work: a server closes connections that are not used for a while. */
export async function withClients<TResult>(
  replicas: readonly HttpProcess[],
  era: Era,
  work: (clients: readonly HttpClient[]) => Promise<TResult>,
): Promise<TResult> {
  const clients = await connectTo(replicas, era);
  try {
    return await work(clients);
  } finally {
    for (const { connection } of clients) connection.close();
  }
}

/** Sends a request, and resolves with the result. */
export async function resultOf<TResult>({ connection, sender }: HttpClient, question: Question): Promise<TResult> {
  // The caller knows the form of the result, and fails where it differs.
  const { result } = readMessage(await connection.ask(toPost(question, sender)(firstId))) as { result?: TResult };
  if (result === undefined) throw new Error(`Benchmark: a server refused ${question.method}`);
  return result;
}
