import { setTimeout as delay } from "node:timers/promises";
import { envelope, handshake } from "../fixtures/envelope.ts";
import { modernPost } from "../http/support/modern-post.ts";

/** A connection in bytes: what a request is answered with, to the letter. */
export interface RawClient {
  readonly era: "legacy" | "modern";
  ask(method: string, params: Readonly<Record<string, unknown>>): Promise<string>;
  /** What is said first of watching a URI. */
  watch(uri: string): Promise<string>;
}

/** Who asks says that it is the same program as the clients of the SDKs do. */
const clientInfo = { name: "scenario", version: "1" };
const meta = { ...envelope, "io.modelcontextprotocol/clientInfo": clientInfo };

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The message in a body, whether it came by itself or as an event. */
function messageIn(body: string): string {
  const data = body.split("\n").filter((line) => line.startsWith("data: {"));
  return data.length === 0 ? body : data.map((line) => line.slice("data: ".length)).join("\n");
}

async function toText(answer: Response): Promise<string> {
  const challenge = answer.headers.get("www-authenticate") ?? "-";
  return `${answer.status} ${answer.headers.get("content-type")} ${challenge}\n${messageIn(await answer.text())}`;
}

/** The first message of a stream that would go on. */
async function firstOf(answer: Response): Promise<string> {
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true) return toText(answer);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n\n") || messageIn(text) === text) {
    const read = await Promise.race([reader?.read(), delay(5000, undefined, { ref: false })]);
    if (read === undefined || read.done) break;
    text += read.value;
  }
  await reader?.cancel();
  return `${answer.status}\n${messageIn(text)}`;
}

async function openLegacy(url: string, token: object): Promise<RawClient> {
  const post = (message: object, more: object = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...json, ...token, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const greeted = await post({ id: 0, method: "initialize", params: { ...handshake, clientInfo } });
  await greeted.text();
  const session = {
    "mcp-session-id": greeted.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await (await post({ method: "notifications/initialized" }, session)).text();
  const ask: RawClient["ask"] = async (method, params) => toText(await post({ id: 7, method, params }, session));
  return { era: "legacy", ask, watch: (uri) => ask("resources/subscribe", { uri }) };
}

function openModern(url: string, token: object): RawClient {
  const post = (method: string, params: Readonly<Record<string, unknown>>): Promise<Response> => {
    const init = modernPost(method, { ...params, _meta: meta }, 7);
    return fetch(url, { ...init, headers: { ...Object(init.headers), ...token } });
  };
  return {
    era: "modern",
    ask: async (method, params) => toText(await post(method, params)),
    watch: async (uri) =>
      firstOf(await post("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } })),
  };
}

/** Opens a connection in an era, by a token if there is one. */
export async function openRaw(url: string, era: RawClient["era"], token: string | undefined): Promise<RawClient> {
  const header = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return era === "legacy" ? openLegacy(url, header) : openModern(url, header);
}
