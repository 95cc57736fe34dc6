import { createServer, request, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { http } from "../../../src/http/http.ts";
import { openSteps } from "./app.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Stands between a client and a server, and cuts their connections when it is told to. */
class Cutter {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly lastIds: string[] = [];

  constructor(port: number) {
    this.#server = createServer((req, res) => {
      const lastId = req.headers["last-event-id"];
      if (typeof lastId === "string") this.lastIds.push(lastId);
      const { url: path, method, headers } = req;
      const host = `127.0.0.1:${port}`;
      const passed = request({ port, path, method, headers: { ...headers, host } }, (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        res.flushHeaders();
        answer.pipe(res);
        answer.on("error", () => res.destroy());
      });
      passed.on("error", () => res.destroy());
      res.on("close", () => passed.destroy());
      req.pipe(passed);
    });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  async listen(): Promise<URL> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    closers.push(() => this.close());
    // It listens on a port.
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): Promise<unknown> {
    this.cut();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

async function until(done: () => boolean): Promise<void> {
  const start = performance.now();
  while (!done()) {
    if (performance.now() - start > 20_000) throw new Error("it did not come to that");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("Streams of a session", () => {
  it("are resumed by the SDK's client when its socket is cut, with each report once and the result", async () => {
    const steps = openSteps();
    const serving = await http({ port: 0, exit: false }).serve({ open: () => steps.runtime });
    closers.push(() => serving.close());
    const cutter = new Cutter(serving.port);
    const transport = new StreamableHTTPClientTransport(await cutter.listen());
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    closers.push(() => client.close());
    const heard: number[] = [];
    const calling = client.callTool({ name: "walk", arguments: {} }, CallToolResultSchema, {
      onprogress: ({ progress }) => void heard.push(progress),
    });
    await until(() => steps.waiting === 1);
    const step = async (): Promise<void> => {
      steps.step();
      await until(() => steps.waiting === 1);
    };
    await step();
    await until(() => heard.length === 1);
    cutter.cut();
    await step();
    await step();
    await until(() => cutter.lastIds.some((id) => id.endsWith(".1.1")));
    await until(() => heard.length === 3);
    cutter.cut();
    await step();
    steps.arrive();
    const answer = await calling;
    expect(heard).toEqual([1, 2, 3, 4]);
    expect(answer.structuredContent).toEqual({ done: true });
    expect(steps.counts).toEqual({ aborted: 0, arrived: 1 });
  });
});
