import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readPageFiles } from "../../src/http/inspector/page-files.ts";
import { closePages, openPage, tokenOf, type OpenPage } from "../http/inspector/page-harness.ts";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { launchBrowser } from "./browser.ts";

/** A server of someone else on the same machine: one page, and what browsers send to it. */
class OtherServer {
  readonly heard: IncomingHttpHeaders[] = [];
  /** Values of `Set-Cookie`. */
  cookies: string[] = [];
  readonly #server: Server = createServer(({ headers, url }, response) => {
    if (url === "/favicon.ico") return void response.writeHead(404).end();
    this.heard.push(headers);
    if (this.cookies.length > 0) response.setHeader("set-cookie", this.cookies);
    return void response.setHeader("content-type", "text/html").end("<!doctype html><title>other</title><body></body>");
  });

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    // A server that listens on a port has such an address.
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** What one way to reach the page gave a script: `error`, or what it could read. */
type Outcome = readonly [way: string, seen: string];

/** Tries every way in which a script reads from another origin. Runs in the browser. */
async function readAll(target: string): Promise<Outcome[]> {
  const seen = (way: string, read: Promise<string>): Promise<Outcome> =>
    read.then(
      (text) => [way, text] as const,
      () => [way, "error"] as const,
    );
  const load = (make: () => HTMLElement): Promise<string> =>
    new Promise((resolve, reject) => {
      const element = make();
      element.addEventListener("load", () => resolve("loaded"));
      element.addEventListener("error", reject);
      document.body.append(element);
    });
  const make = (tag: string, fields: Record<string, string>) => (): HTMLElement =>
    Object.assign(document.createElement(tag), fields);
  const fetched = async (path: string, init: RequestInit): Promise<string> => {
    const response = await fetch(target + path, init);
    return `${response.type} ${response.status}`;
  };
  const opened = (source: EventSource | WebSocket): Promise<string> =>
    new Promise((resolve, reject) => {
      source.addEventListener("open", () => resolve("opened"));
      source.addEventListener("error", reject);
    });
  const paths = ["", "page.js", "page.css", "events", "history?limit=1", "exposure", "entry?id=known"];
  return Promise.all(
    paths.flatMap((path) => [
      seen(`fetch ${path}`, fetched(path, { credentials: "include" })),
      seen(`fetch without CORS ${path}`, fetched(path, { credentials: "include", mode: "no-cors" })),
      seen(`script ${path}`, load(make("script", { src: target + path }))),
      seen(`module ${path}`, load(make("script", { type: "module", src: target + path }))),
      seen(`image ${path}`, load(make("img", { src: target + path }))),
      seen(`style ${path}`, load(make("link", { rel: "stylesheet", href: target + path }))),
      seen(`prefetch ${path}`, load(make("link", { rel: "prefetch", href: target + path }))),
      seen(`events ${path}`, opened(new EventSource(target + path, { withCredentials: true }))),
      seen(`socket ${path}`, opened(new WebSocket(target.replace("http", "ws") + path))),
      seen(`worker ${path}`, (async () => new Promise<string>((_, reject) => reject(new Worker(target + path))))()),
      seen(
        `service worker ${path}`,
        navigator.serviceWorker.register(target + path).then(() => "registered"),
      ),
    ]),
  );
}

/** Tries every way in which a script sends to another origin, also where it sees no answer. Runs in the browser. */
async function postAll({ target, token }: { readonly target: string; readonly token: string }): Promise<void> {
  const bodies = {
    cancel: { call: "known" },
    decide: { approval: "known", agree: true },
    enter: { token },
  };
  for (const [route, body] of Object.entries(bodies)) {
    const url = target + route;
    const json = JSON.stringify(body);
    const init: RequestInit = { method: "POST", credentials: "include", body: json };
    const headers = { "content-type": "application/json" };
    const ignore = (): void => {};
    await fetch(url, { ...init, headers }).catch(ignore);
    await fetch(url, { ...init, headers, mode: "no-cors" }).catch(ignore);
    await fetch(url, { ...init, mode: "no-cors", keepalive: true }).catch(ignore);
    await fetch(url, { ...init, body: new Blob([json], { type: "application/json" }), mode: "no-cors" }).catch(ignore);
    navigator.sendBeacon(url, json);
    navigator.sendBeacon(url, new Blob([json], { type: "application/json" }));
    for (const enctype of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const frame = Object.assign(document.createElement("iframe"), { name: `${route} ${enctype}` });
      const form = Object.assign(document.createElement("form"), { method: "post", enctype, action: url });
      form.target = frame.name;
      // The text of the form is the JSON, with a "=" inside of a further text.
      const name = `${json.slice(0, -1)},"x":"`;
      form.append(Object.assign(document.createElement("input"), { name, value: '"}' }));
      document.body.append(frame, form);
      const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
      form.submit();
      await loaded;
      frame.remove();
    }
  }
}

describe.runIf(hasBrowser)(`a page on another port of the machine${whyNoBrowser}`, () => {
  let browser: Browser;
  let context: BrowserContext;
  let victim: Page;
  let page: OpenPage;
  let other: OtherServer;
  let otherPort: number;
  /** The path of the page, which another server does not know. All tests but the first two tell it. */
  let path: string;

  beforeAll(async () => {
    // A name of another site that was bound to this machine.
    browser = await launchBrowser("--host-resolver-rules=MAP rebound.test 127.0.0.1");
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    page = await openPage({ files: await readPageFiles() });
    path = new URL(page.url).pathname;
    other = new OtherServer();
    otherPort = await other.listen();
    context = await browser.newContext();
    victim = await context.newPage();
    await victim.goto(page.link());
    await victim.getByText("Live", { exact: true }).waitFor();
    page.inspector.heard.length = 0;
  });
  afterEach(async () => {
    await context.close();
    other.close();
    await closePages();
  });

  const openOther = async (host = "127.0.0.1", at = "/"): Promise<Page> => {
    const opened = await context.newPage();
    await opened.goto(`http://${host}:${otherPort}${at}`);
    return opened;
  };

  it("gets neither the cookie nor the path of the page", async () => {
    const hostile = await openOther();
    await hostile.evaluate(async () => fetch("exposure", { credentials: "include" }));
    await victim.evaluate((port) => window.open(`http://127.0.0.1:${port}/opened`), otherPort);
    await victim.evaluate((port) => location.assign(`http://127.0.0.1:${port}/left`), otherPort);
    await victim.waitForURL("**/left");
    expect(await victim.evaluate(() => document.referrer)).toBe("");
    await expect.poll(() => other.heard.length).toBe(4);
    expect(other.heard.map(({ cookie }) => cookie)).toEqual([undefined, undefined, undefined, undefined]);
    expect(JSON.stringify(other.heard)).not.toContain(path);
  });

  it("gets the cookie if it knows the path, and is refused even then by the checks of the server", async () => {
    await openOther("127.0.0.1", path);
    expect(other.heard.at(-1)?.cookie).toContain(`surface-inspect-${page.port}=`);
    const own = await victim.evaluate(async () => {
      const init = { method: "POST", headers: { "content-type": "application/json" } };
      return (await fetch("cancel", { ...init, body: JSON.stringify({ call: "known" }) })).status;
    });
    expect([own, page.inspector.heard]).toEqual([204, [["cancel", "known"]]]);
  });

  it.each(["127.0.0.1", "localhost"])("at %s reads nothing, and learns the same of every path", async (host) => {
    const hostile = await openOther(host);
    for (const name of ["127.0.0.1", "localhost"]) {
      const seen = await hostile.evaluate(readAll, `http://${name}:${page.port}${path}`);
      expect(seen.filter(([, what]) => what !== "error")).toEqual([]);
    }
    expect(page.inspector.heard).toEqual([]);
  });

  it("gets the same answer to every request, with and without the cookie, so that there is nothing to time", async () => {
    const cookie = await page.enter();
    const answers = new Set<string>();
    for (const route of [
      "",
      "page.js",
      "events",
      "history",
      "exposure",
      "entry?id=known",
      "entry?id=x",
      "decide",
      "no",
    ]) {
      for (const method of ["GET", "POST"]) {
        for (const sent of [{}, { cookie }, { cookie: `${cookie}x` }]) {
          const headers = { ...sent, "sec-fetch-site": "same-site" };
          const response = await fetch(page.url + route, { method, headers });
          answers.add(`${response.status} ${await response.text()}`);
        }
      }
    }
    expect([...answers]).toEqual([expect.stringMatching(/^403 .*"FOREIGN_PAGE"/)]);
    expect(page.inspector.heard).toEqual([]);
  });

  it.each(["127.0.0.1", "localhost"])("at %s posts nothing, and uses up no link", async (host) => {
    const hostile = await openOther(host);
    const link = page.link();
    for (const name of ["127.0.0.1", "localhost"]) {
      await hostile.evaluate(postAll, { target: `http://${name}:${page.port}${path}`, token: tokenOf(link) });
    }
    expect(page.inspector.heard).toEqual([]);
    const later = await (await browser.newContext()).newPage();
    await later.goto(link);
    await later.getByText("Live", { exact: true }).waitFor();
    await later.context().close();
  });

  it("frames nothing", async () => {
    const hostile = await openOther();
    for (const route of ["", "page.js", "exposure"]) {
      await hostile.evaluate(async (src) => {
        const frame = Object.assign(document.createElement("iframe"), { src });
        const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
        document.body.append(frame);
        await loaded;
      }, page.url + route);
    }
    const inner = hostile.frames().filter((frame) => frame !== hostile.mainFrame());
    expect(inner.map((frame) => frame.url())).toEqual(Array.from(inner, () => "chrome-error://chromewebdata/"));
    expect([inner.length, page.inspector.heard]).toEqual([3, []]);
  });

  it.each(["noopener", ""])("opens no window with the page, which it could move and count (%s)", async (features) => {
    const hostile = await openOther();
    const link = page.link();
    for (const target of [page.url, link, `${page.url}#approvals`, `${page.url}exposure`]) {
      const [popup] = await Promise.all([
        context.waitForEvent("page"),
        hostile.evaluate(([url, how]) => void window.open(url, "", how), [target, features] as const),
      ]);
      await popup.waitForLoadState();
      expect(await popup.locator("body").innerText()).toContain("FOREIGN_PAGE");
    }
    await hostile.evaluate((url) => {
      location.href = url;
    }, link);
    await hostile.getByText("FOREIGN_PAGE").waitFor();
    expect(page.inspector.heard).toEqual([]);
  });

  it("hides no cookie behind its own, and cannot enter by one", async () => {
    const name = `surface-inspect-${page.port}`;
    other.cookies = ["events", "history", "exposure"].map((route) => `${name}=tossed; Path=${path}${route}`);
    await openOther();
    const own = await victim.evaluate(async () => (await fetch("exposure")).status);
    expect([own, page.inspector.heard]).toEqual([200, [["exposure"]]]);
    const fresh = await browser.newContext();
    const opened = await fresh.newPage();
    await opened.goto(`http://127.0.0.1:${otherPort}/`);
    await opened.goto(page.url);
    await opened.getByRole("heading", { name: "No access" }).waitFor();
    await fresh.close();
  });

  it("reaches nothing by a name that it has bound to the machine", async () => {
    const hostile = await context.newPage();
    const response = await hostile.goto(`http://rebound.test:${page.port}${path}`);
    expect([response?.status(), await response?.text()]).toEqual([403, expect.stringContaining("FOREIGN_HOST")]);
    const seen = await hostile.evaluate(async () => (await fetch("exposure")).status);
    expect([seen, page.inspector.heard]).toEqual([403, []]);
  });
});
