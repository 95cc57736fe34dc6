/** A plain round-robin proxy: each request goes to the next replica, wherever the one before went. */
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** A request, and the number of replicas that were tried for it. */
interface Forwarded {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: Buffer;
  readonly tries: number;
}

/** Creates a proxy in front of the ports that `targets` returns. A request is sent once: an answer that was lost stays lost. */
export function createProxy(targets: () => readonly number[]): Server {
  let turn = 0;
  const forward = ({ incoming, outgoing, body, tries }: Forwarded): void => {
    const ports = targets();
    turn += 1;
    const port = ports[turn % ports.length];
    const { method, url: path, headers } = incoming;
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    sent.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (outgoing.headersSent) outgoing.destroy();
      // The connection was never made: another replica may take the request.
      else if (code === "ECONNREFUSED" && tries < ports.length) forward({ incoming, outgoing, body, tries: tries + 1 });
      else outgoing.writeHead(502).end();
    });
    outgoing.on("close", () => sent.destroy());
    sent.end(body);
  };
  // Longer than any pause of a client: a request on a connection that is just closing would be lost.
  return createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => forward({ incoming, outgoing, body: Buffer.concat(chunks), tries: 1 }));
  });
}
