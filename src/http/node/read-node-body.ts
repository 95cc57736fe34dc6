import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyBuffer } from "../body/body-buffer.ts";
import type { BodyRead } from "../message.ts";
import type { Connection } from "./connection.ts";

/** Where a body comes from. */
export interface BodySource {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
}

const nothing = new Uint8Array(0);

/** What a framework has read and parsed before us, as it may have come; `undefined` where nobody did. */
function toBytes(parsed: unknown): Uint8Array | undefined {
  if (parsed === undefined) return undefined;
  if (parsed instanceof Uint8Array) return parsed;
  try {
    return Buffer.from(typeof parsed === "string" ? parsed : JSON.stringify(parsed));
  } catch {
    return nothing;
  }
}

function readParsed(incoming: IncomingMessage, body: BodyBuffer): BodyRead {
  const bytes = toBytes("body" in incoming ? incoming.body : undefined) ?? nothing;
  return body.append(bytes) ?? body.take();
}

/** Collects what comes. Once it is too much, nothing is kept, and what still comes is let go by. */
function collect({ incoming, connection }: BodySource, body: BodyBuffer, done: (body: BodyRead) => void): void {
  const announced = Number(incoming.headers["content-length"]);
  const settle = (read: BodyRead): void => {
    connection.onLate = undefined;
    incoming.off("data", onData).off("end", onEnd).off("close", onClose).resume();
    body.onEvicted = undefined;
    done(read);
  };
  const onData = (chunk: Buffer): void => {
    const refusal = body.append(chunk, chunk.length === announced);
    if (refusal !== undefined) settle(refusal);
  };
  const onEnd = (): void => settle(body.take());
  const onClose = (): void => settle("gone");
  connection.onLate = onClose;
  body.onEvicted = onClose;
  incoming.on("data", onData).on("end", onEnd).on("close", onClose);
}

/**
 * Reads the body of a request into a buffer, as `HttpRequest.body` says. Where a framework has read it before, its `body` is
 * written as JSON again; where it has read it and keeps none, there is none.
 */
export function readNodeBody(source: BodySource, body: BodyBuffer, done: (body: BodyRead) => void): void {
  const { incoming, response, connection } = source;
  if (incoming.readableEnded) return done(readParsed(incoming, body));
  if (incoming.destroyed || connection.isLate) return done("gone");
  if (body.isTooSmallFor(Number(incoming.headers["content-length"]))) return done("too-large");
  if (incoming.headers.expect !== undefined) response.writeContinue();
  collect(source, body, done);
}
