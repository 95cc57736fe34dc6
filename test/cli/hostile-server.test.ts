import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { bench, type Ran } from "./support.ts";

const server = fileURLToPath(new URL("fixtures/hostile-server.mjs", import.meta.url));
const text = "a\u009b31m\u202eb\u{e0041}\u2028\u007f";

async function run(...args: readonly string[]): Promise<Ran> {
  const folder = await bench();
  await mkdir(folder.cwd);
  return folder.run(...args);
}

function urlOf(listening: Server): string {
  // A TCP server has an address and a port.
  const { port } = listening.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}

const atServer = ["--", process.execPath, server];

describe("a command about a hostile server", () => {
  it.each([
    ["call", ["call", "tool", ...atServer]],
    ["read", ["read", "a:b", ...atServer]],
    ["watch", ["watch", "a:b", "--count", "1", ...atServer]],
    ["inspect", ["inspect", ...atServer]],
    ["inspect --json", ["inspect", "--json", ...atServer]],
  ])("prints no character that a terminal acts on or hides, by %s", async (_what, args) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(0);
    expect(out).toMatch(/u\{?202e/);
    expect((out + err).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{DI}]/u);
  });

  it("prints JSON that means what the server sent", async () => {
    const { out } = await run("call", "tool", ...atServer);
    expect(JSON.parse(out)).toMatchObject({ content: [{ type: "text", text }], [text]: text });
  });

  it("survives notifications without their fields", async () => {
    const { code, err } = await run("call", "tool", ...atServer);
    expect(err).toContain("progress null\n");
    expect(err).toContain("null: null\n");
    expect(code).toBe(0);
  });

  it("ends when a response over HTTP has no end", async () => {
    const endless = createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      const chunk = Buffer.alloc(2 ** 20, " ");
      const send = (): void => void response.write(chunk, (error) => error ?? send());
      send();
    }).listen(0, "127.0.0.1");
    atEndOfTest(() => endless.close());
    await once(endless, "listening");
    const { code, err } = await run("read", "a:b", "--url", urlOf(endless));
    expect(err).toContain("more than 67108864 bytes");
    expect(code).toBe(2);
  }, 60_000);

  it("sends nothing to an address that the server redirects to", async () => {
    let requests = 0;
    const other = createServer((_request, response) => {
      requests += 1;
      response.end();
    }).listen(0, "127.0.0.1");
    const redirecting = createServer((_request, response) => {
      response.writeHead(307, { location: urlOf(other) }).end();
    }).listen(0, "127.0.0.1");
    atEndOfTest(() => void [other.close(), redirecting.close()]);
    await Promise.all([once(other, "listening"), once(redirecting, "listening")]);
    const { code, err } = await run("read", "a:b", "--url", urlOf(redirecting));
    expect(err).toContain("it answers HTTP 307");
    expect(code).toBe(2);
    expect(requests).toBe(0);
  });

  it("ends when a process that the server has started keeps its output open", async () => {
    expect((await run("call", "tool", ...atServer, "leave-child")).code).toBe(0);
  }, 60_000);
});
