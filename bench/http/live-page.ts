import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

/** A browser's part of the live page: it has entered by the link, and reads the stream. Whoever opened it closes it. */
export interface LivePage {
  /** How many updates it has read. */
  readonly updates: number;
  close(): void;
}

/** Enters by a link, and reads the stream until it is closed. */
export async function openPage(link: string): Promise<LivePage> {
  const { href, hash } = new URL(link);
  const base = href.slice(0, -hash.length);
  const entered = await fetch(`${base}enter`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: hash.replace("#token=", "") }),
  });
  const [cookie = ""] = entered.headers.getSetCookie();
  const request = get(`${base}events`, { headers: { cookie: cookie.split(";")[0] } });
  // The only argument of this event.
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`Benchmark: the live page answered ${response.statusCode}`);
  let isOpen = true;
  const page = {
    updates: 0,
    close() {
      isOpen = false;
      request.destroy();
    },
  };
  response.on("data", (chunk: Buffer) => {
    if (chunk.includes("event: update")) page.updates += 1;
  });
  response.on("error", (cause) => {
    if (isOpen) throw cause;
  });
  return page;
}
