import { type Era, questions } from "../driver/requests.ts";
import { type HttpClient, openAll, openClient, openStream } from "../http/http-client.ts";
import { HttpConnection } from "../http/http-connection.ts";
import { firstId, toPost } from "../http/http-requests.ts";

/** How many large answers each of them asks for, and never reads: more than any buffer between the two processes takes. */
const unread = 2_000;

/**
 * Opens clients that listen and read nothing: not their stream, and not what they ask for on a second connection, one
 * request behind the other. Whoever opened them closes what is returned.
 */
export async function openStuckReaders(port: number, era: Era, count: number): Promise<readonly HttpConnection[]> {
  const opened = await openAll(count, async () => {
    const client: HttpClient = await openClient(port, { era });
    await openStream(client, () => {});
    client.connection.stick();
    const asking = await HttpConnection.open(port);
    asking.stick();
    const request = toPost(questions.big, client.sender);
    for (let id = 1; id <= unread; id += 1) asking.write(request(firstId + id));
    return [client.connection, asking];
  });
  return opened.flat();
}
