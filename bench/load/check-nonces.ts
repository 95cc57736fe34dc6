import { randomUUID } from "node:crypto";
import type { Era } from "../driver/requests.ts";
import { openSessionOn } from "../http/http-client.ts";
import { HttpConnection, readMessage } from "../http/http-connection.ts";
import { startHttp } from "../http/http-process.ts";
import { firstId, type Sender, toPost } from "../http/http-requests.ts";
import type { Finding } from "./finding.ts";

const connectionsEach = 8;

interface Echoed {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: { readonly text?: string } };
}

/** Calls with these ids, one after the other, each with a nonce; says how many answers have another id or nonce. */
async function callAll(port: number, sender: Sender, ids: readonly number[]): Promise<number> {
  const connection = await HttpConnection.open(port);
  let wrong = 0;
  for (const id of ids) {
    const text = `${sender.token ?? ""} ${randomUUID()}`;
    const question = { method: "tools/call", params: { name: "echo", arguments: { text } } };
    // Looked at key by key.
    const { id: answered, result } = readMessage(await connection.ask(toPost(question, sender)(id))) as Echoed;
    if (answered !== id || result?.structuredContent?.text !== text) wrong += 1;
  }
  connection.close();
  return wrong;
}

async function toSender(port: number, era: Era, token: string): Promise<Sender> {
  if (era === "modern") return { era, token };
  const connection = await HttpConnection.open(port);
  const sender = await openSessionOn(connection, { era, token });
  connection.close();
  return sender;
}

/** Has two principals call at once under the same ids, and counts the answers that are not their own. */
export async function checkNonces(args: readonly string[], era: Era, calls = 10_000): Promise<Finding> {
  const { server, port } = await startHttp([...args, "--auth"]);
  try {
    const senders = [await toSender(port, era, "alice"), await toSender(port, era, "bob")];
    const each = calls / senders.length / connectionsEach;
    const work = senders.flatMap((sender) =>
      Array.from({ length: connectionsEach }, (_, lane) => {
        const ids = Array.from({ length: each }, (_id, index) => firstId + lane * each + index);
        return callAll(port, sender, ids);
      }),
    );
    const wrong = (await Promise.all(work)).reduce((sum, one) => sum + one, 0);
    return { what: `answers of ${calls} that were not the caller's own (${era})`, found: wrong, limit: 0 };
  } finally {
    await server.stop();
  }
}
