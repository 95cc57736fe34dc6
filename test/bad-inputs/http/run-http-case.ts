import { Agent } from "node:http";
import { envelope, handshake, legacyLine, modernLine } from "../../fixtures/envelope.ts";
import { stagesBetween, type HostileServer } from "./hostile-server.ts";
import type { HttpBadInput, HttpInput, HttpMessage, Step } from "./http-input.ts";
import type { HttpObserved } from "./judge-http.ts";
import { sendHttp, sendRaw, type HttpSeen, type SendOptions } from "./send-http.ts";

/** What `$NAME` in a case stands for. */
export type Names = Record<string, string>;

const legacyHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
} as const;

/** A message of the legacy era. */
export function legacyPost(body: string, headers: Readonly<Record<string, string>> = {}): HttpMessage {
  return { method: "POST", path: "/mcp", headers: { ...legacyHeaders, ...headers }, body };
}

/** A message of the modern era. */
export function modernPost(method: string, params: object = {}, headers: Record<string, string> = {}): HttpMessage {
  const version = { "mcp-protocol-version": envelope["io.modelcontextprotocol/protocolVersion"], "mcp-method": method };
  const body = modernLine("post", method, params);
  return { method: "POST", path: "/mcp", headers: { ...legacyHeaders, ...version, ...headers }, body };
}

function fillIn(message: HttpMessage, names: Names): HttpMessage {
  const headers = Object.entries(message.headers).map(([name, value]) => [
    name,
    value === null ? null : value.replace(/\$([A-Z0-9_]+)/, (whole, key: string) => names[key] ?? whole),
  ]);
  return { ...message, headers: Object.fromEntries(headers) };
}

/** Opens a session, as somebody where that is said; its id. */
export async function initialize(options: SendOptions, token?: string): Promise<string> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const seen = await sendHttp(legacyPost(legacyLine("init", "initialize", handshake), headers), options);
  const id = String(seen.headers["mcp-session-id"]);
  const ready = legacyPost('{"jsonrpc":"2.0","method":"notifications/initialized"}', headers);
  await sendHttp({ ...ready, headers: { ...ready.headers, "mcp-session-id": id } }, options);
  return id;
}

/** The first id of an event on the stream of a session. */
async function firstEventOf(session: string, options: SendOptions): Promise<string> {
  const headers = { accept: "text/event-stream", "mcp-session-id": session };
  const { text } = await sendHttp({ method: "GET", path: "/mcp", headers }, options);
  return /^id: (.*)$/m.exec(text)?.[1] ?? "no event came";
}

interface Run {
  readonly options: SendOptions;
  readonly names: Names;
}

async function runWords(words: string, { options, names }: Run): Promise<void> {
  const session = { "mcp-session-id": names["SID"] ?? "none" };
  if (words === "initialize") names["SID"] = await initialize(options);
  else if (words === "initialize as alice") names["SID"] = await initialize(options, names["ALICE"]);
  else if (words === "initialize A") names["EVENT_OF_A"] = await firstEventOf(await initialize(options), options);
  else if (words === "initialize B") names["SID_B"] = await initialize(options);
  else if (words === "DELETE") await sendHttp({ method: "DELETE", path: "/mcp", headers: session }, options);
  else throw new Error(`nobody knows how to do "${words}"`);
}

async function runStep(step: Step, run: Run): Promise<HttpSeen | undefined> {
  const { options, names } = run;
  if (typeof step === "string") {
    await runWords(step, run);
    return undefined;
  }
  if (!("call" in step)) return sendHttp(fillIn(step, names), options);
  const body = legacyLine("call", "tools/call", { name: step.call, arguments: { ms: 100 } });
  const message = legacyPost(body, { "mcp-session-id": names["SID"] ?? "none" });
  return sendHttp(message, { ...options, abortAfterMs: step.abortAfterMs });
}

async function runRepeated(message: HttpMessage, repeat: number, options: SendOptions): Promise<HttpSeen> {
  const results: HttpSeen[] = [];
  const agent = new Agent({ keepAlive: true });
  const next = async (): Promise<void> => {
    for (let left = repeat / 16; left > 0; left -= 1) results.push(await sendHttp(message, { ...options, agent }));
  };
  await Promise.all(Array.from({ length: 16 }, next));
  agent.destroy();
  // The last one, and among its status those of all others that nobody expects.
  const odd = results.find(({ status }) => status !== 200 && status !== 409);
  const last = results.at(-1);
  if (last === undefined) throw new Error("nothing was sent");
  return odd ?? last;
}

/** How long a raw connection is held, where the server's own patience was shortened. */
const holdMs = 8000;

async function runInput(input: HttpInput, run: Run, server: HostileServer): Promise<HttpSeen> {
  const { options, names } = run;
  if ("rawSocket" in input) return sendRaw(input.rawSocket, options, holdMs);
  if ("repeat" in input) return runRepeated(input.request, input.repeat, options);
  if ("steps" in input) {
    let last: HttpSeen | undefined;
    for (const step of input.steps) last = (await runStep(step, run)) ?? last;
    if (last === undefined) throw new Error("nothing was sent");
    return last;
  }
  const { backendUpdates = 0, doNotReadBody } = input;
  const unread = async (): Promise<void> => void (await server.stats(backendUpdates));
  return sendHttp(fillIn(input, names), doNotReadBody ? { ...options, unread } : options);
}

async function isAlive(options: SendOptions): Promise<boolean> {
  const { status } = await sendHttp({ method: "GET", path: "/healthz", headers: {} }, options);
  return status === 200;
}

/** Sends one bad input to a running server and says what was seen. */
export async function watchHttp(server: HostileServer, { input }: HttpBadInput, names: Names): Promise<HttpObserved> {
  const before = await server.stats();
  const from = {
    stderr: server.process.stderr.length,
    marks: server.process.marks.length,
    rss: server.process.peakRssMB,
  };
  const options = { port: before.port };
  const start = performance.now();
  const seen = await runInput(input, { options, names: { ...names } }, server);
  const elapsedMs = performance.now() - start;
  const rssDeltaMB = server.process.peakRssMB - from.rss;
  const after = await server.stats();
  return {
    ...seen,
    elapsedMs,
    rssDeltaMB,
    stages: "steps" in input || "repeat" in input ? undefined : stagesBetween(before, after),
    alive: await isAlive(options),
    marks: server.process.marks.slice(from.marks),
    stderr: server.process.stderr.slice(from.stderr),
  };
}
