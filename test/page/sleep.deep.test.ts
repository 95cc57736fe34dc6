import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { toBytes, toDuration } from "../../page/text/format.ts";
import { PageAccess } from "../../src/http/inspector/page-access.ts";
import { toPageAddress } from "../../src/http/inspector/page-address.ts";
import { readPageFiles } from "../../src/http/inspector/page-files.ts";
import { PageRoutes } from "../../src/http/inspector/page-routes.ts";
import { Connections } from "../../src/http/node/connections.ts";
import { createNodeListener } from "../../src/http/node/node-request.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource } from "../../src/index.ts";
import { Inspector } from "../../src/inspector/inspector.ts";
import { kInspected } from "../../src/mcp/inspected-app.ts";
import { Budget } from "../../src/spine/budget.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { ManualClock } from "../links/manual-clock.ts";
import { collectProblems, launchBrowser } from "./browser.ts";

const hourMs = 3_600_000;
const start = Date.UTC(2026, 10, 28, 12);

/** Creates an app whose tool returns a text of a length, and one whose calls run until they are aborted. */
function createApp() {
  const surface = defineSurface("sleeper", { level: mcpResource(cell({ schema: z.int() })) });
  return mcp(surface)
    .implement({ level: cellSource(1) })
    .tools({
      text: { mutates: false, input: z.object({ length: z.int() }), handler: ({ length }) => "x".repeat(length) },
      wait: {
        mutates: false,
        handler: (_args, { signal }) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve("over"))),
      },
    });
}

/** A live page whose clocks a test moves: the one of timers, and the one of the day. */
class Served {
  readonly clock = new ManualClock();
  readonly #sockets = new Set<Socket>();
  readonly #app = createApp();
  readonly #client = createTestClient(this.#app);
  readonly #server: Server = createServer().on("connection", (socket) => {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
  });
  readonly inspector: Inspector;
  #link = "";

  constructor() {
    const inspected = this.#app[kInspected];
    if (inspected === undefined) throw new Error("it cannot be inspected");
    const { clock } = this;
    this.inspector = new Inspector(inspected, { clock, report: () => {}, values: (value) => value });
  }

  /** Listens, and returns the link of the page. */
  async listen(): Promise<string> {
    const { clock, inspector } = this;
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    // A server on a port has an address of this form.
    const { port } = this.#server.address() as AddressInfo;
    const address = toPageAddress(new URL(`http://127.0.0.1:${port}/`));
    const access = new PageAccess(address, clock);
    const fail = (cause: unknown): void => expect.fail(String(cause));
    const files = await readPageFiles();
    const routes = new PageRoutes({ inspector, address, access, files, approve: false, clock, fail });
    const unread = new Budget({ total: 2 ** 26, perKey: 2 ** 26 });
    const connections = new Connections({ clock, stallMs: 30_000, unread, delaysAnswers: false });
    this.#server.on("request", createNodeListener(routes.serve, connections));
    this.#link = access.createLink();
    return this.#link;
  }

  /** Bytes that wait for a browser that does not read. */
  get unread(): number {
    return [...this.#sockets].reduce((sum, socket) => sum + socket.writableLength, 0);
  }

  /** Moves both clocks. */
  async pass(ms: number): Promise<void> {
    vi.setSystemTime(Date.now() + ms);
    await this.clock.pass(ms);
  }

  /** Makes as many calls as one update has rows, and then lets it be written. */
  async work(length: number): Promise<void> {
    await Promise.all(Array.from({ length: 100 }, (_, index) => this.#client.tools.text({ length: length + index })));
    await this.pass(100);
  }

  /** Starts a call that runs until the end. */
  wait(): void {
    void this.#client.tools.wait();
  }

  async close(): Promise<void> {
    this.inspector.close();
    await this.#client.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

describe.runIf(hasBrowser)(`a live page whose time is not even${whyNoBrowser}`, () => {
  let browser: Browser;
  let served: Served;
  let page: Page;
  let problems: string[];
  let stopped: number[] = [];

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    served = new Served();
    const link = await served.listen();
    page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    problems = collectProblems(page);
    await page.goto(link);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "History" }).click();
  });
  afterEach(async () => {
    wake();
    await page.close();
    await served.close();
    vi.useRealTimers();
  });

  /** Stops every process of the browser, as a machine that falls asleep. */
  const sleep = async (): Promise<void> => {
    const cdp = await browser.newBrowserCDPSession();
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    for (const { id } of processInfo) process.kill(id, "SIGSTOP");
    stopped = processInfo.map(({ id }) => id);
  };
  const wake = (): void => {
    for (const id of stopped.splice(0)) process.kill(id, "SIGCONT");
  };
  const newest = (): string[] =>
    served.inspector
      .history({ limit: 10 })
      .rows.map(({ ms = 0, bytesOut = 0 }) => `${toDuration(ms)} ${toBytes(bytesOut)}`);
  const shown = async (): Promise<string[]> => {
    const texts = await page.locator(".open-row").evaluateAll((rows) =>
      rows.map((row) => {
        const textOf = (name: string): string => row.closest(".row")?.querySelector(name)?.textContent ?? "";
        return `${textOf(".ms")} ${textOf(".out")}`;
      }),
    );
    return texts.slice(0, 10);
  };
  const agrees = (): Promise<void> => expect.poll(shown).toEqual(newest());
  /** Works until the system takes no more for the browser, and a little longer. */
  const overflow = async (): Promise<void> => {
    for (let round = 0; served.unread === 0; round += 1) {
      if (round > 100) throw new Error("the browser goes on reading");
      await served.work(8000);
    }
    for (let round = 0; round < 5; round += 1) await served.work(8000);
  };

  it("shows the state of the server when its tab was frozen", async () => {
    const cdp = await page.context().newCDPSession(page);
    await served.work(10);
    await agrees();
    await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
    for (let round = 0; round < 20; round += 1) await served.work(500);
    await cdp.send("Page.setWebLifecycleState", { state: "active" });
    await agrees();
    expect(problems).toEqual([]);
  });

  it("shows the state of the server when it slept for some seconds, and missed updates", async () => {
    await served.work(10);
    await agrees();
    await sleep();
    await overflow();
    await served.work(500);
    const { unread } = served;
    wake();
    await agrees();
    await served.work(700);
    await agrees();
    expect(unread).toBeGreaterThan(0);
    expect(unread).toBeLessThan(4_000_000);
    expect(problems).toEqual([]);
  });

  it("connects again, and shows the state of the server, when it slept for an hour", async () => {
    await served.work(10);
    await agrees();
    await sleep();
    await overflow();
    await served.pass(hourMs);
    expect([served.unread, served.clock.size]).toEqual([0, 0]);
    await served.work(500);
    wake();
    await agrees();
    await page.getByText("Live", { exact: true }).waitFor();
    await served.work(700);
    await agrees();
  });

  it("stays right when the clock of the server jumps an hour back", async () => {
    served.wait();
    await served.work(10);
    await agrees();
    await served.pass(120_000);
    const elapsed = page.getByRole("region", { name: "Running calls" }).locator(".elapsed");
    await page.getByRole("tab", { name: "Now" }).click();
    await expect.poll(() => elapsed.textContent()).toMatch(/^2 min/);
    vi.setSystemTime(start - hourMs);
    await served.work(500);
    await served.pass(500);
    await expect.poll(() => elapsed.textContent()).toBe("0 s");
    const calls = page.locator("dl > div").filter({ hasText: "Calls, last 10 s" });
    await calls.getByText("100", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "History" }).click();
    await agrees();
    expect(problems).toEqual([]);
  });
});
