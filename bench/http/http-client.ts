import { openings, watchings } from "../driver/requests.ts";
import { HttpConnection, type HttpResponse } from "./http-connection.ts";
import { firstId, type Sender, toGet, toNotification, toPost } from "./http-requests.ts";

/** A client: its connection, and what says who it is. Whoever opened it closes the connection. */
export interface HttpClient {
  readonly connection: HttpConnection;
  readonly sender: Sender;
}

const sessionHeader = /\r\nmcp-session-id: *([^\r]+)/;

function assertStatus({ status, head, body }: HttpResponse, expected: number): void {
  if (status === expected) return;
  throw new Error(`Benchmark: a server answered ${status} and not ${expected}: ${head} ${body.slice(0, 400)}`);
}

/** Opens a session of the legacy era on a connection, as its clients do. */
export async function openSessionOn(connection: HttpConnection, sender: Sender): Promise<Sender> {
  const opened = await connection.ask(toPost(openings.legacy, sender)(firstId));
  assertStatus(opened, 200);
  const session = sessionHeader.exec(opened.head)?.[1];
  if (session === undefined) throw new Error("Benchmark: a server minted no session");
  const known = { ...sender, session };
  assertStatus(await connection.ask(toNotification("notifications/initialized", known)), 202);
  return known;
}

/**
 * Connects, and asks what its era asks first: a connection on which nothing was asked is soon closed. Opens a session where
 * the era has some.
 */
export async function openClient(port: number, sender: Sender): Promise<HttpClient> {
  const connection = await HttpConnection.open(port);
  if (sender.era === "legacy") return { connection, sender: await openSessionOn(connection, sender) };
  assertStatus(await connection.ask(toPost(openings.modern, sender)(firstId)), 200);
  return { connection, sender };
}

/** Opens a client's stream, on which it is told of changes of the counter. What comes is told from then on. */
export async function openStream({ connection, sender }: HttpClient, heard: (chunk: Buffer) => void): Promise<void> {
  const watching = toPost(watchings[sender.era], sender)(firstId + 1);
  if (sender.era === "legacy") assertStatus(await connection.ask(watching), 200);
  const opened = await connection.openStream(sender.era === "legacy" ? toGet(sender) : watching);
  assertStatus(opened, 200);
  connection.follow(heard);
}

/** Opens as many clients as are wanted, so many at a time. */
export async function openAll<TOpened>(count: number, open: (index: number) => Promise<TOpened>): Promise<TOpened[]> {
  const opened: TOpened[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      opened.push(await open(index));
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  return opened;
}
