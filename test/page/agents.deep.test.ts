import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as SessionTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer } from "../../src/http/auth/http-auth.ts";
import { http, type HttpServing } from "../../src/http/index.ts";
import { mcp, unixSocket } from "../../src/index.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { collectProblems, launchBrowser } from "./browser.ts";
import { plant } from "./plant.ts";

const resource = "https://plant.example/mcp";
const uri = "surface://plant/level";

/** The process that has the plant, and what it has written. */
class Owner {
  readonly #child: ChildProcess;
  out = "";

  constructor(script: string, socket: string, level: number) {
    const child = spawn(process.execPath, [script, socket, String(level)], { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.out += text));
    this.#child = child;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

describe.runIf(hasBrowser)(`agents on the live page${whyNoBrowser}`, () => {
  let folder: string;
  let script: string;
  let owner: Owner;
  let serving: HttpServing;
  let browser: Browser;
  let page: Page;
  let problems: readonly string[];
  /** An agent of ada, with a session. She answers questions when {@link answer} is called. */
  let ada: SessionClient;
  let answer = (_action: "accept" | "decline"): void => {};
  /** An agent of bob, without a session, who sees another view. */
  let bob: ModernClient;

  const startOwner = (level: number): Owner => new Owner(script, join(folder, "plant.sock"), level);
  const headersOf = (name: string) => ({ requestInit: { headers: { authorization: `Bearer ${name}` } } });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plant-"));
    script = await bundleScript(new URL("plant-owner.ts", import.meta.url), "plant-owner");
    owner = startOwner(40);
    const app = mcp(plant, { onFault: () => {} })
      .bridge(unixSocket(join(folder, "plant.sock")))
      .views({ guest: { disallow: ["empty"] } });
    const verify = async (id: string) =>
      id === "mallory" ? undefined : { id, scopes: ["plant:read", "plant:write"], resource };
    const auth = bearer({ resource, verify });
    serving = await app.serve(http({ port: 0, exit: false, auth, inspector: { approve: true } }));
    ada = new SessionClient({ name: "editor", version: "1.2.3" }, { capabilities: { elicitation: {} } });
    ada.setRequestHandler(
      ElicitRequestSchema,
      () => new Promise((resolve) => (answer = (action) => resolve({ action, content: {} }))),
    );
    await ada.connect(new SessionTransport(new URL(serving.url), headersOf("ada")));
    const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;
    bob = new ModernClient({ name: "reader", version: "4.5.6" }, modern);
    await bob.connect(new ModernTransport(new URL(`${serving.url}?surface=guest`), headersOf("bob")));
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    problems = collectProblems(page);
    await page.goto(serving.inspector?.link() ?? "");
  });
  afterAll(async () => {
    await Promise.all([browser.close(), ada.close(), bob.close()]);
    await serving.close();
    await owner.kill();
    await rm(folder, { recursive: true, force: true });
  });

  const show = (panel: string): Promise<void> => page.getByRole("tab", { name: panel }).click();
  const card = (name: string): Locator => page.getByRole("region", { name });
  const item = (name: string, text: string | RegExp): Locator =>
    card(name).getByRole("listitem").filter({ hasText: text });

  it("have their program, protocol, caller and view", async () => {
    await bob.listTools();
    const facts = [
      "editor 1.2.3",
      "ada",
      "view default",
      "2025-11-25",
      "reader 4.5.6",
      "bob",
      "view guest",
      "2026-07-28",
    ];
    for (const text of facts) await card("Clients").getByText(text, { exact: true }).waitFor();
    expect(await card("Clients").getByRole("listitem").count()).toBe(2);
  });

  it("run a call, whose progress is shown and which the page cancels", async () => {
    const result = ada.callTool({ name: "fill" });
    const call = card("Running calls");
    await call.getByText("3 of 8").waitFor();
    await call.getByText("Opening the valve").waitFor();
    await call.getByRole("button", { name: "Cancel fill" }).click();
    await call.getByRole("button", { name: "Cancel call of fill" }).click();
    await card("Running calls").getByText("No call runs.").waitFor();
    expect(await result).toMatchObject({ isError: true });
    await expect.poll(() => owner.out).toContain("aborted");
  });

  it("wait for their users, until these answer", async () => {
    const result = ada.callTool({ name: "empty" });
    await item("Questions in clients", "empty").filter({ hasText: "confirmation" }).waitFor();
    answer("accept");
    await card("Questions in clients").getByText("No client is asking its user.").waitFor();
    expect(await result).toMatchObject({ structuredContent: { value: "empty" } });
  });

  it("see two views, whose difference is shown", async () => {
    await show("Exposure");
    await page.getByLabel("Compare view").selectOption("default");
    await page.getByLabel("with view").selectOption("guest");
    await page.getByText("1 only in the first, 0 only in the second, 0 shown differently").waitFor();
    expect(await page.locator(".open-row").allTextContents()).toEqual(["empty"]);
    const { tools } = await bob.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["fill"]);
  });

  it("watch a value of a process, which is killed and comes back", async () => {
    await ada.subscribeResource({ uri });
    await show("Now");
    await item("Links", "plant").getByText("up", { exact: true }).waitFor();
    await card("Stale values").getByText("No watched value is stale.").waitFor();
    await owner.kill();
    await item("Links", "plant").getByText("down", { exact: true }).waitFor();
    await item("Links", "plant")
      .getByText(/^(its process has ended|does not answer|cannot be reached)$/)
      .waitFor();
    await item("Stale values", uri).waitFor();
    await show("Values");
    await page.getByText("stale", { exact: true }).waitFor();
    owner = startOwner(41);
    await page.getByText("fresh", { exact: true }).waitFor();
    await show("Now");
    await item("Links", "plant").getByText("up", { exact: true }).waitFor();
    // A busy machine may have lost the link more than once.
    await item("Links", "plant")
      .getByText(/^reconnects: [1-9]/)
      .waitFor();
    await card("Stale values").getByText("No watched value is stale.").waitFor();
    expect(await ada.readResource({ uri })).toMatchObject({ contents: [{ text: "41" }] });
  });

  it("are refused at the door, which is counted by stage", async () => {
    const { body, ...post } = modernPost("tools/call", { name: "fill" });
    const send = async (changes: Readonly<Record<string, string>>, query = "", sent = body): Promise<number> => {
      const headers = new Headers(post.headers);
      for (const [name, value] of Object.entries({ authorization: "Bearer ada", ...changes })) headers.set(name, value);
      const response = await fetch(serving.url + query, { ...post, body: sent ?? "", headers });
      await response.text();
      return response.status;
    };
    const statuses = [
      await send({ origin: "http://evil.example" }),
      await send({ origin: "http://evil.example" }),
      await send({ authorization: "Bearer mallory" }),
      await send({}, "?surface=absent"),
      await send({}, "", "{"),
      await send({ "mcp-name": "empty" }),
    ];
    // The response to an unknown view is a JSON-RPC error.
    expect(statuses).toEqual([403, 403, 401, 200, 400, 400]);
    await show("History");
    const bars = page.getByRole("figure").filter({ hasText: "Refusals at the door" });
    for (const [stage, count] of Object.entries({ head: 2, token: 1, view: 1, frame: 1, envelope: 1 }))
      await bars.getByRole("listitem").filter({ hasText: stage }).getByText(String(count), { exact: true }).waitFor();
    await page.getByLabel("Outcome").selectOption("refused");
    await expect.poll(() => page.locator(".open-row").count()).toBe(6);
    expect(problems).toEqual([]);
  });
});
