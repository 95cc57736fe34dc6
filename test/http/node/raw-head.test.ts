import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpHandler, type HttpHandler, http, type HttpServing } from "../../../src/http/http.ts";
import { modernLine } from "../../fixtures/envelope.ts";
import { createDemo } from "../support/demo-app.ts";
import { RawClient } from "./raw-client.ts";

const body = modernLine(1, "tools/list");
const usual = [
  "Host: localhost",
  "Connection: close",
  "Content-Type: application/json",
  "Accept: application/json, text/event-stream",
  "MCP-Protocol-Version: 2026-07-28",
  "Mcp-Method: tools/list",
];

let serving: HttpServing;
let handler: HttpHandler;
let foreign: Server;
const ports: Record<"http()" | "a server with maxHeadersCount", number> = {
  "http()": 0,
  "a server with maxHeadersCount": 0,
};

beforeAll(async () => {
  serving = await http({ exit: false, headersTimeoutMs: 200, requestTimeoutMs: 400 }).serve(createDemo().app);
  ports["http()"] = serving.port;
  handler = httpHandler(createDemo().app);
  const listener: RequestListener = (request, response) => handler.node(request, response);
  foreign = createServer({}, listener).listen(0, "127.0.0.1");
  foreign.maxHeadersCount = 40;
  await once(foreign, "listening");
  // A server on a port has an address of this form.
  ports["a server with maxHeadersCount"] = (foreign.address() as AddressInfo).port;
});

afterAll(async () => {
  foreign.close();
  await Promise.all([serving.close(), handler.close()]);
});

/** Sends a POST of `tools/list`, byte by byte as given, and reads until the server closes the connection. */
async function send(port: number, target: string, headers: readonly string[]): Promise<string> {
  const client = new RawClient(port);
  const length = headers.some((line) => /^transfer-encoding/i.test(line)) ? [] : [`Content-Length: ${body.length}`];
  const sent = length.length === 0 ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  client.send([`POST ${target} HTTP/1.1`, ...headers, ...length, "", sent].join("\r\n"));
  return client.closed();
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

const smuggled = {
  "a second Host": "Host: evil.example",
  "an Origin": "Origin: https://evil.example",
  "a Content-Encoding": "Content-Encoding: gzip",
  "an Mcp-Method": "Mcp-Method: tools/call",
};

describe.each(Object.keys(ports) as (keyof typeof ports)[])("a head with many headers, at %s,", (server) => {
  it.each(Object.entries(smuggled))(
    "is refused with 431 when %s follows the headers that Node reads",
    async (_what, hidden) => {
      const filler = Array.from({ length: 2000 }, () => "a:");
      const answer = await send(ports[server], "/mcp", [...usual, ...filler, hidden]);
      expect(statusOf(answer)).toBe(431);
      expect(answer).toContain('"code":-32600');
    },
  );

  it("is served where Node has read all of it", async () => {
    const filler = Array.from({ length: server === "http()" ? 900 : 20 }, () => "a:");
    expect(statusOf(await send(ports[server], "/mcp", [...usual, ...filler]))).toBe(200);
    const wrong = [...usual, ...filler, smuggled["an Origin"]];
    expect(statusOf(await send(ports[server], "/mcp", wrong))).toBe(403);
  });
});

describe("an absolute-form target", () => {
  it.each([
    ["http://localhost/mcp", 200],
    ["HTTP://LOCALHOST/mcp?surface=default", 200],
    ["https://localhost/mcp", 200],
    ["http://localhost", 404],
    ["http://localhost?x=/mcp", 404],
    ["http://localhost:80/mcp", 400],
    ["http://evil.example/mcp", 400],
    ["http://localhost@evil.example/mcp", 400],
    ["http://user@localhost/mcp", 400],
    ["ftp://localhost/mcp", 400],
    ["//localhost/mcp", 404],
  ])("%s is answered with %d where the Host is localhost", async (target, status) => {
    expect(statusOf(await send(serving.port, target, usual))).toBe(status);
  });

  it("is refused where it names a Host that is not served", async () => {
    const headers = ["Host: evil.example", ...usual.slice(1)];
    expect(statusOf(await send(serving.port, "http://evil.example/mcp", headers))).toBe(403);
    expect(statusOf(await send(serving.port, "http://localhost/mcp", headers))).toBe(403);
  });
});

describe("a transfer coding", () => {
  it.each([
    [["Transfer-Encoding: chunked"], 200],
    [["Transfer-Encoding: Chunked"], 200],
    [["Transfer-Encoding: gzip, chunked"], 501],
    [["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], 501],
  ])("%s is answered with %d", async (coding, status) => {
    const answer = await send(serving.port, "/mcp", [...usual, ...coding]);
    expect(statusOf(answer)).toBe(status);
    expect(answer.includes('"code":-32600')).toBe(status !== 200);
  });
});

describe("a body that does not come in time", () => {
  it("is answered with 408 as JSON-RPC says it, and nothing runs", async () => {
    const client = new RawClient(serving.port);
    client.send(
      ["POST /mcp HTTP/1.1", ...usual.filter((line) => !/^conn/i.test(line)), "Content-Length: 500", "", "{"].join(
        "\r\n",
      ),
    );
    const answer = await client.closed();
    expect(statusOf(answer)).toBe(408);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('"message":"Invalid request: the body did not arrive in time"');
  });
});
