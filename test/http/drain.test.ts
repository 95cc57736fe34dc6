import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { head, RawClient } from "./node/raw-client.ts";
import { modernPost } from "./support/modern-post.ts";

const script = await bundleScript(new URL("fixtures/server.ts", import.meta.url), "http-server");
const children: ChildProcess[] = [];
const clients: RawClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.socket.destroy();
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Served {
  readonly child: ChildProcess;
  readonly ports: readonly number[];
  /** What it wrote to standard error, and how it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

async function start(count = 1): Promise<Served> {
  const child = spawn(process.execPath, [script, String(count)], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  const said = text(child.stderr);
  const ended = once(child, "exit").then(async ([code]: unknown[]) => ({
    code: typeof code === "number" ? code : null,
    stderr: await said,
  }));
  const [line]: unknown[] = await once(child.stdout, "data");
  return { child, ended, ports: String(line).trim().split(" ").map(Number) };
}

function connect(port: number): RawClient {
  const client = new RawClient(port);
  clients.push(client);
  return client;
}

async function post(port: number, method: string, params: Readonly<Record<string, unknown>>): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, modernPost(method, params));
}

/** Waits for a server to have come so far with an answer. */
async function reached(response: Response, words: string): Promise<{ readonly rest: Promise<string> }> {
  if (response.body === null) throw new TypeError("there is no answer");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const read = async (isEnough: (heard: string) => boolean): Promise<string> => {
    for (let heard = ""; ;) {
      const { done, value = "" } = await reader.read();
      heard += value;
      if (done || isEnough(heard)) return heard;
    }
  };
  await read((heard) => heard.includes(words));
  return { rest: read(() => false) };
}

describe("http() in its own process", () => {
  it("ends subscriptions with their result, answers calls, accepts no new requests and exits with 0 on SIGTERM", async () => {
    const { child, ports, ended } = await start();
    const [port = 0] = ports;
    const idle = connect(port);
    idle.send(head("GET"));
    await idle.until("\r\n\r\n");
    const filter = { notifications: { resourceSubscriptions: ["surface://demo/count"] } };
    const listen = await reached(await post(port, "subscriptions/listen", filter), "acknowledged");
    const slow = post(port, "tools/call", { name: "sleep", arguments: { ms: 1_500 } });
    // The slow call has come in once one that came later was answered.
    await (await post(port, "tools/call", { name: "add", arguments: { by: 1 } })).text();
    child.kill("SIGTERM");
    expect(await listen.rest).toContain('"result":');
    await idle.closed();
    const late = connect(port);
    expect(await once(late.socket, "error")).toMatchObject([{ code: "ECONNREFUSED" }]);
    expect(await (await slow).text()).toContain("slept");
    expect(await ended).toMatchObject({ code: 0, stderr: "exit: 0\n" });
  });

  it("exits at once with 130 when SIGINT comes twice and a call runs", async () => {
    const { child, ports, ended } = await start();
    const [port = 0] = ports;
    const slow = post(port, "tools/call", { name: "sleep", arguments: { ms: 20_000 } }).catch(() => "cut off");
    await (await post(port, "tools/call", { name: "add", arguments: { by: 1 } })).text();
    child.kill("SIGINT");
    const idle = connect(port);
    await idle.closed();
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
    expect(await slow).toBe("cut off");
  });

  it("ends many servers in good order, with no warning of listeners, when SIGTERM arrives", async () => {
    const { child, ports, ended } = await start(15);
    const calls = ports.map((port) =>
      post(port, "tools/call", { name: "sleep", arguments: { ms: 300 + (port % 7) * 50 } }),
    );
    await Promise.all(
      ports.map(async (port) => (await post(port, "tools/call", { name: "add", arguments: { by: 1 } })).text()),
    );
    child.kill("SIGTERM");
    const answers = await Promise.all(calls.map(async (call) => (await call).text()));
    expect(answers.filter((answer) => answer.includes("slept"))).toHaveLength(15);
    expect(await ended).toEqual({ code: 0, stderr: "exit: 0\n" });
  });
});
