import { Buffer } from "node:buffer";
import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { generate } from "../send-input.ts";
import type { HttpMessage } from "./http-input.ts";

/** What came back. */
export interface HttpSeen {
  /** `close`: the connection was closed without an answer. */
  readonly status: number | "close";
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const closed: HttpSeen = Object.freeze({ status: "close", headers: {}, text: "" });

/** How long an open stream is listened to. */
const streamMs = 300;

/** Reads an answer; of a stream of events, which may have no end, what comes within a while. */
async function read(response: IncomingMessage, ms: number): Promise<string> {
  let text = "";
  response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const end = new Promise<void>((resolve) =>
    response
      .on("end", resolve)
      .on("close", resolve)
      .on("error", () => resolve()),
  );
  const isStream = response.headers["content-type"] === "text/event-stream";
  await (isStream ? Promise.race([end, sleep(ms)]) : end);
  return text;
}

/** How a request is sent. */
export interface SendOptions {
  readonly port: number;
  /** Closes the connection after so long, whatever has come by then. */
  readonly abortAfterMs?: number;
  /** Leaves the answer unread for as long as this takes. */
  readonly unread?: () => Promise<void>;
  /** Keeps connections for requests to come. Default: a connection for each. */
  readonly agent?: Agent;
}

/** Sends a request, on a connection of its own unless there is an agent. */
export function sendHttp(message: HttpMessage, { port, abortAfterMs, unread, agent }: SendOptions): Promise<HttpSeen> {
  const given = Object.entries(message.headers).filter((pair): pair is [string, string] => pair[1] !== null);
  const body = message.gen === undefined ? (message.body ?? "") : generate(message.gen);
  const length = message.chunked === true ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve) => {
    const { method, path } = message;
    const headers = { ...(method === "POST" || method === "PUT" ? length : {}), ...Object.fromEntries(given) };
    const sent = request({ port, host: "127.0.0.1", method, path, headers, agent: agent ?? false });
    sent.on("error", () => resolve(closed));
    sent.on("response", (response) => {
      const reading = unread === undefined ? read(response, streamMs) : unread().then(() => "");
      void reading.then((text) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        if (agent === undefined) sent.destroy();
      });
    });
    sent.end(body);
    if (abortAfterMs !== undefined) setTimeout(() => sent.destroy(), abortAfterMs);
  });
}

/** Writes bytes to a connection, waits for the first line of an answer or the end, and says which it was. */
export async function sendRaw(text: string, { port }: SendOptions, ms: number): Promise<HttpSeen> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (answer += piece));
  const end = new Promise<void>((resolve) => socket.on("close", resolve).on("error", () => resolve()));
  socket.write(text);
  const came = new Promise<void>((resolve) => socket.once("data", () => resolve()));
  const late = await Promise.race([end.then(() => false), came.then(() => false), sleep(ms, true)]);
  socket.destroy();
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
  if (late) return { ...closed, status: 0 };
  return { ...closed, status: status === undefined ? "close" : Number(status) };
}
