import { Agent, request, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { bearer } from "../../src/http/auth/http-auth.ts";
import { http, type HttpServing } from "../../src/http/http.ts";
import { cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";

const resource = "https://n.example/mcp";
const surface = defineSurface("n", { state: cell({ schema: z.string() }) });
const principals = ["alice", "bob"] as const;
const rounds = 2500;
const atOnce = 25;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let serving: HttpServing | undefined;
afterEach(async () => {
  agent.destroy();
  await serving?.close();
});

/** Says back what it was told and who said so, after some turns, which differ: the order of answers is not that of calls. */
function openServer(): Promise<HttpServing> {
  const app = mcp(surface)
    .implement({ state: cellSource("") })
    .tools({
      echo: {
        mutates: false,
        input: z.object({ nonce: z.string(), turns: z.int(), reports: z.boolean() }),
        async handler({ nonce, turns, reports }, { caller, progress }) {
          for (let turn = 1; turn <= turns; turn += 1) {
            if (reports) progress({ progress: turn, message: `${caller.id} ${nonce}` });
            await new Promise((resolve) => setImmediate(resolve));
          }
          return { said: `${caller.id} ${nonce}` };
        },
      },
    });
  const auth = bearer({ resource, verify: async (id) => ({ id, scopes: ["n:read"], resource }) });
  return app.serve(http({ exit: false, auth, rateLimit: false }));
}

interface Heard {
  readonly text: string;
  readonly session: string | undefined;
}

async function read(response: IncomingMessage): Promise<Heard> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  const session = response.headers["mcp-session-id"];
  return { text, session: typeof session === "string" ? session : undefined };
}

function post(port: number, headers: Readonly<Record<string, string>>, body: object): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const accept = "application/json, text/event-stream";
    const all = { host: "localhost", "content-type": "application/json", accept, ...headers };
    const sent = request({ port, agent, method: "POST", path: "/mcp", headers: all }, (response) => {
      read(response).then(resolve, reject);
    });
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

/** One who asks, in one era; the ids of their requests are those of everybody else's. */
interface Asker {
  readonly who: string;
  readonly isModern: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

async function openAskers(port: number): Promise<readonly Asker[]> {
  const askers: Asker[] = [];
  for (const who of principals) {
    const headers = { authorization: `Bearer ${who}` };
    const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: handshake };
    const { session = "" } = await post(port, headers, initialize);
    const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
    askers.push({ who, isModern: true, headers: { ...headers, ...modern } });
    askers.push({ who, isModern: false, headers: { ...headers, "mcp-session-id": session } });
  }
  return askers;
}

/** Every message of an answer, in one piece or as a stream. */
function messagesOf(text: string): readonly string[] {
  if (text.startsWith("{")) return [text];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => json);
}

interface Asked {
  readonly id: number;
  readonly nonce: string;
}

async function call(port: number, asker: Asker, { id, nonce }: Asked): Promise<readonly string[]> {
  const reports = id % 3 === 0;
  const meta = { ...(asker.isModern ? envelope : {}), ...(reports ? { progressToken: id } : {}) };
  const args = { nonce, turns: (id * 7 + nonce.length) % 5, reports };
  const params = { name: "echo", arguments: args, _meta: meta };
  const { text } = await post(port, asker.headers, { jsonrpc: "2.0", id, method: "tools/call", params });
  const messages = messagesOf(text);
  const said = `${asker.who} ${nonce}`;
  const isOwn = messages.length > 0 && messages.every((message) => message.includes(said));
  // What ends it is its answer, and there is one.
  const answers = messages.filter((message) => message.includes(`"id":${id},"result"`));
  return isOwn && answers.length === 1 && messages.at(-1) === answers[0] ? [] : [`${said}: ${text}`];
}

describe("two principals who ask under the same ids", () => {
  it("are each answered with their own nonce, in both eras at once, as often as they ask", async () => {
    serving = await openServer();
    const { port } = serving;
    const askers = await openAskers(port);
    const wrong: string[] = [];
    for (let start = 0; start < rounds; start += atOnce) {
      const ids = Array.from({ length: atOnce }, (_, index) => start + index);
      const answered = ids.flatMap((id) =>
        askers.map((asker, nth) => call(port, asker, { id: id % 100, nonce: `nonce-${id}-${nth}-${id * 31}.` })),
      );
      wrong.push(...(await Promise.all(answered)).flat());
    }
    expect(wrong.slice(0, 3)).toEqual([]);
  }, 120_000);
});
