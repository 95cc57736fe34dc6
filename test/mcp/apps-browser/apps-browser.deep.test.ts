import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { httpHandler } from "../../../src/http/http.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { hasBrowser, whyNoBrowser } from "../../fixtures/chromium.ts";
import { launchBrowser, type Browser } from "./browser.ts";
import { bundleScript } from "./bundle.ts";

const closing: (() => unknown)[] = [];

/** Serves on a free port of this machine. Returns the origin. */
async function listen(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  // It listens on a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const html = (script: string, body = ""): string =>
  `<!doctype html><meta charset="utf-8">${body}<script type="module">${script}</script>`;

const row = ["input", "result", "called", "leaked"].map((id) => `<p id="${id}"></p>`).join("");
const buttons = `<button id="more">more</button><button id="leak">leak</button>`;

/** Returns the policy of a sandbox, as the specification builds it from the origins that a page declares. */
function toPolicy(url: string | undefined): string {
  const csp = new URL(url ?? "", "http://host").searchParams.get("csp") ?? "{}";
  // Written by host.js.
  const { connectDomains = [] } = JSON.parse(csp) as { connectDomains?: string[] };
  return `default-src 'none'; script-src 'unsafe-inline'; connect-src ${connectDomains.join(" ") || "'none'"}; frame-src 'self'`;
}

let browser: Browser;
let origin: string;
let sandbox: string;
const leaks: string[] = [];

describe.skipIf(!hasBrowser)(`MCP Apps in a browser${whyNoBrowser}`, () => {
  beforeAll(async () => {
    const [host, page, proxy] = await Promise.all((["host", "page", "sandbox"] as const).map(bundleScript));
    sandbox = await listen((request, response) => {
      if (request.url === "/leak") leaks.push(request.url);
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("content-security-policy", toPolicy(request.url));
      response.end(html(proxy ?? ""));
    });
    const text = html(`location.hash = ${JSON.stringify(sandbox)};${page ?? ""}`, row + buttons);
    const input = z.object({ of: z.string() });
    const surface = defineSurface("shop", {
      cart: mcpTool(procedure({ input, output: z.object({ items: z.number() }) }), {
        mutates: false,
        ui: { html: () => text },
      }),
      wide: mcpTool(procedure({ input, output: z.object({ items: z.number() }) }), {
        mutates: false,
        ui: { html: text, csp: { connectDomains: [sandbox] } },
      }),
      add: mcpTool(procedure({ input: z.object({ items: z.number() }), output: z.string() }), {
        ui: { visibility: ["app"] },
      }),
    });
    let items = 2;
    const app = mcp(surface).implement({
      cart: () => ({ items }),
      wide: () => ({ items }),
      add: (more) => `now ${(items += more.items)}`,
    });
    const handler = httpHandler(app, { allowAnonymous: true });
    closing.push(() => handler.close());
    origin = await listen((request, response) => {
      if (request.url === "/mcp") handler.node(request, response);
      else response.end(html(host ?? ""));
    });
    browser = await launchBrowser();
    closing.unshift(() => browser.close());
  });

  afterAll(async () => {
    for (const close of closing.splice(0)) await close();
  });

  it.each([
    { era: "legacy", name: "cart", leaked: "no" },
    { era: "modern", name: "cart", leaked: "no" },
    { era: "modern", name: "wide", leaked: "yes" },
  ])("shows the page of $name, which calls another tool, to a host of the era $era", async ({ era, name, leaked }) => {
    leaks.length = 0;
    const tab = await browser.newPage();
    const problems: string[] = [];
    tab.on("pageerror", (error) => problems.push(error.message));
    await tab.goto(origin);
    const call = JSON.stringify({ era, name, args: { of: "ann" }, sandbox });
    expect(await tab.evaluate(`showTool(${call})`)).toEqual({
      declared: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
      uri: `ui://shop/${name}`,
      mimeType: "text/html;profile=mcp-app",
      version: era === "modern" ? "2026-07-28" : "2025-11-25",
    });
    const page = tab.frameLocator("iframe").frameLocator("iframe");
    await page.locator("#result", { hasText: `{"items":` }).waitFor();
    expect(await page.locator("#input").textContent()).toBe('{"of":"ann"}');
    await page.locator("#more").click();
    await page.locator("#called", { hasText: "now" }).waitFor();
    // A page reaches the origins that its tool declares, and no other.
    await page.locator("#leak").click();
    await page.locator("#leaked", { hasText: leaked }).waitFor();
    expect(leaks).toEqual(leaked === "yes" ? ["/leak"] : []);
    expect(problems).toEqual([]);
    await tab.close();
  });
});
