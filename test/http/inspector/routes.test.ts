import { afterEach, describe, expect, it } from "vitest";
import { checkHost } from "../../../src/http/inspector/page-request.ts";
import { toPageAddress } from "../../../src/http/inspector/page-address.ts";
import type { HttpRequest } from "../../../src/http/message.ts";
import { RawClient } from "../node/raw-client.ts";
import { closePages, codeOf, openPage, post, postRaw, sendRaw, tokenOf } from "./page-harness.ts";

afterEach(closePages);

const secured = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

describe("the routes of the live page", () => {
  it.each([
    ["", "text/html; charset=utf-8"],
    ["page.js", "text/javascript; charset=utf-8"],
    ["page.css", "text/css; charset=utf-8"],
  ])("serve the file %j without a cookie", async (path, type) => {
    const { url } = await openPage();
    const response = await fetch(new URL(path, url));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
  });

  it.each(["events", "history", "exposure", "entry?id=known", "cancel", "decide", "other", "favicon.ico", "page.js/"])(
    "serve nothing at %s without a cookie",
    async (path) => {
      const { url, inspector } = await openPage();
      for (const method of ["GET", "POST"]) {
        const response = await fetch(new URL(path, url), { method });
        expect([response.status, await codeOf(response)]).toEqual([401, "NO_COOKIE"]);
      }
      expect(inspector.heard).toEqual([]);
    },
  );

  it("tell nothing outside the path of the page, also with the cookie", async () => {
    const { url, inspector, enter } = await openPage();
    const { origin, pathname } = new URL(url);
    const headers = { cookie: await enter() };
    const others = ["/", "/page.js", "/enter", "/exposure", "//exposure", "/..%2f", "/?a", `/a${pathname}exposure`];
    for (const path of [...others, pathname.slice(0, -1), `${pathname.slice(0, -1)}a/exposure`, `/${pathname}`]) {
      for (const method of ["GET", "POST"]) {
        const response = await fetch(origin + path, { method, headers });
        expect([path, response.status, await response.text()]).toEqual([path, 404, ""]);
      }
    }
    expect(inspector.heard).toEqual([]);
  });

  it("pass on what the page asks for", async () => {
    const { url, inspector, enter } = await openPage();
    const cookie = await enter();
    const get = async (path: string): Promise<unknown> =>
      (await fetch(new URL(path, url), { headers: { cookie } })).json();
    expect(await get("history?before=7&tool=a%20b&caller=c&outcome=ok&limit=500")).toEqual({ rows: [] });
    expect(await get("exposure")).toMatchObject({ version: 1 });
    expect(await get("entry?id=known")).toEqual({ id: "known", json: null });
    expect(await get("entry?id=known&kind=prompt")).toEqual({ id: "known", json: null });
    const statuses = [
      await post(`${url}cancel`, { call: "known" }, { cookie }),
      await post(`${url}cancel`, { call: "ended" }, { cookie }),
      await post(`${url}decide`, { approval: "known", agree: true, word: "drop" }, { cookie }),
      await post(`${url}decide`, { approval: "ended", agree: false }, { cookie }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([204, 404, 204, 404]);
    expect(inspector.heard).toEqual([
      ["history", { before: 7, tool: "a b", caller: "c", outcome: "ok", limit: 500 }],
      ["exposure"],
      ["entry", "known"],
      ["entry", "known", "prompt"],
      ["cancel", "known"],
      ["cancel", "ended"],
      ["decide", "known", { agree: true, word: "drop" }],
      ["decide", "ended", { agree: false }],
    ]);
  });

  it("have no decisions unless the page may approve", async () => {
    const { url, inspector, enter } = await openPage({ approve: false });
    const cookie = await enter();
    const response = await post(`${url}decide`, { approval: "known", agree: true }, { cookie });
    expect([response.status, inspector.heard]).toEqual([404, []]);
  });

  it.each([
    "history?before=0",
    "history?before=1.5",
    "history?before=-1",
    "history?before=1e3",
    "history?limit=501",
    "history?limit=",
    "history?outcome=good",
    "history?tool=",
    `history?tool=${"x".repeat(2049)}`,
    "history?tool=a&tool=a",
    "history?other=1",
    "history?__proto__=1",
    "entry",
    "entry?id=",
    "entry?id=a&x=b",
    "entry?id=a&kind=member",
    "exposure?x=1",
  ])("refuse the query of %s", async (path) => {
    const { url, enter, inspector } = await openPage();
    const response = await fetch(new URL(path, url), { headers: { cookie: await enter() } });
    expect([response.status, await codeOf(response), inspector.heard]).toEqual([400, "BAD_QUERY", []]);
  });

  it.each([
    ["cancel", {}],
    ["cancel", { call: 7 }],
    ["cancel", { call: "a", tool: "b" }],
    ["cancel", { call: "x".repeat(2049) }],
    ["cancel", "[".repeat(2000)],
    ["cancel", "{}{}"],
    ["decide", { approval: "a" }],
    ["decide", { approval: "a", agree: "true" }],
    ["decide", { approval: "a", agree: true, word: null }],
  ])("refuse the body of %s (%#)", async (route, body) => {
    const { url, enter, inspector } = await openPage();
    const response = await post(`${url}${route}`, body, { cookie: await enter() });
    expect([response.status, await codeOf(response), inspector.heard]).toEqual([400, "BAD_BODY", []]);
  });

  it("answer a fault of the inspector without its text", async () => {
    const { url, enter, inspector, faults } = await openPage();
    const headers = { cookie: await enter() };
    inspector.fault = new TypeError("secret of the app");
    for (const path of ["history", "exposure", "entry?id=known"]) {
      const response = await fetch(new URL(path, url), { headers });
      expect([response.status, await response.text()]).toEqual([
        500,
        '{"error":{"code":"INTERNAL","message":"The server failed; its log has the cause"}}',
      ]);
    }
    expect((await post(`${url}cancel`, { call: "known" }, headers)).status).toBe(500);
    expect(faults).toEqual([inspector.fault, inspector.fault, inspector.fault, inspector.fault]);
  });

  it("answer 503 once the server closes, and end", async () => {
    const { url, close, port } = await openPage();
    const client = new RawClient(port);
    client.send("GET /pa");
    await Promise.all([close(), close()]);
    await client.closed();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });
});

describe("the head of a request to the live page", () => {
  async function statusWith(headers: readonly string[], start = "GET /exposure"): Promise<number> {
    const { url, port, enter } = await openPage();
    const own = headers.map((line) => line.replaceAll("PORT", String(port)));
    return (await sendRaw(url, start, [`cookie: ${await enter()}`, ...own])).status;
  }

  it.each([
    [200, "127.0.0.1:PORT"],
    [200, "localhost:PORT"],
    [200, "LOCALHOST:PORT"],
    [403, "rebound.example:PORT"],
    [403, "rebound.example"],
    [403, "127.0.0.1"],
    [403, "127.0.0.1:1"],
    [403, "localhost.:PORT"],
    [403, "127.0.0.1:PORT@evil.example"],
    [403, "127.0.0.1:PORT, evil.example"],
    [403, "0.0.0.0:PORT"],
    [403, "127.1:PORT"],
    [403, ""],
  ])("is answered %d for the Host %j", async (status, host) => {
    expect(await statusWith([`host: ${host}`])).toBe(status);
  });

  it.each([
    ["http://localhost:1/", true, "remoteClient"],
    ["http://localhost:1/", false, undefined],
    ["http://localhost:1/", undefined, undefined],
    ["https://localhost.example:1/", true, undefined],
  ])("of %s may come from another machine (%s): %s", (url, isRemote, refusal) => {
    const { host } = new URL(url);
    const request: HttpRequest = {
      method: "GET",
      target: "/",
      isRemote,
      header: () => host,
      count: () => 1,
      body() {},
    };
    expect(checkHost(request, toPageAddress(new URL(url)))).toBe(refusal);
  });

  it("must have one Host", async () => {
    expect(await statusWith(["host:"])).toBe(400);
    expect(await statusWith(["host: localhost:PORT", "host: localhost:PORT"])).toBe(400);
  });

  it.each([
    [200, "http://127.0.0.1:PORT"],
    [403, "http://localhost:PORT"],
    [403, "https://127.0.0.1:PORT"],
    [403, "http://127.0.0.1:1"],
    [403, "http://127.0.0.1"],
    [403, "http://evil.example"],
    [403, "null"],
    [403, ""],
    [403, "http://127.0.0.1:PORT, http://evil.example"],
  ])("is answered %d for the Origin %j", async (status, origin) => {
    expect(await statusWith([`origin: ${origin}`])).toBe(status);
  });

  it.each([
    [200, "same-origin", "GET /exposure"],
    [403, "same-site", "GET /exposure"],
    [403, "cross-site", "GET /exposure"],
    [403, "none", "GET /exposure"],
    [403, "none", "GET /events"],
    [403, "none", "GET /page.js"],
    [200, "same-origin", "GET /page.js"],
    [200, "none", "GET /"],
    [403, "cross-site", "GET /"],
    [403, "same-site", "GET /"],
    [403, "same-site", "GET /page.css"],
    [403, "", "GET /exposure"],
    [403, "same-origin, same-origin", "GET /exposure"],
  ])("is answered %d for the Sec-Fetch-Site %j of %s", async (status, site, start) => {
    expect(await statusWith([`sec-fetch-site: ${site}`], start)).toBe(status);
  });

  it("is checked before a token is used up", async () => {
    const { url, link } = await openPage();
    const token = tokenOf(link());
    const body = JSON.stringify({ token });
    for (const line of [
      "host: rebound.example",
      "origin: http://127.0.0.1:1",
      "sec-fetch-site: same-site",
      "sec-fetch-site: none",
      "content-encoding: gzip",
    ]) {
      const { status } = await postRaw(url, ["enter", line], body);
      expect([line, status >= 400]).toEqual([line, true]);
    }
    expect((await postRaw(url, ["enter"], body)).status).toBe(204);
  });

  it.each([
    ["GET", "events", "POST"],
    ["GET", "exposure", "PUT"],
    ["GET", "history", "DELETE"],
    ["GET", "", "POST"],
    ["GET", "", "HEAD"],
    ["GET", "page.js", "OPTIONS"],
    ["GET", "exposure", "OPTIONS"],
    ["GET", "exposure", "HEAD"],
    ["POST", "enter", "GET"],
    ["POST", "enter", "OPTIONS"],
    ["POST", "cancel", "GET"],
    ["POST", "decide", "PATCH"],
  ])("is answered 405 with allow: %s at /%s for %s", async (allow, path, method) => {
    const { url, enter } = await openPage();
    const answer = await sendRaw(url, `${method} /${path}`, [`cookie: ${await enter()}`]);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it.each([
    "/../page.js",
    "/./page.js",
    "//page.js",
    "/%2e%2e/page.js",
    "/page%2ejs",
    "/page.js%00",
    "/PAGE.JS",
    "/index.html",
    "/..%2f..%2fetc/passwd",
    String.raw`/..\..\etc\passwd`,
    "/exposure/",
    "/exposure;x",
    "/enter/",
    "/constructor",
    "/__proto__",
  ])("names nothing by the path %s", async (path) => {
    const { url, enter, inspector } = await openPage();
    expect((await sendRaw(url, `GET ${path}`)).status).toBe(401);
    expect((await sendRaw(url, `GET ${path}`, [`cookie: ${await enter()}`])).status).toBe(404);
    expect(inspector.heard).toEqual([]);
  });

  it("is refused for a target that is no path", async () => {
    const { url } = await openPage();
    expect((await sendRaw(url, "GET http://evil.example/")).status).toBe(404);
    expect((await sendRaw(url, "OPTIONS *")).status).toBe(404);
    expect((await sendRaw(url, `GET ${url}page.js`)).status).toBe(200);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "multipart/form-data",
  ])("is refused for a body of type %s", async (type) => {
    const { url, link } = await openPage();
    const headers = { "content-type": type };
    expect((await post(`${url}enter`, { token: tokenOf(link()) }, headers)).status).toBe(415);
  });

  it("is refused for a body of more than 4 KiB, announced or not", async () => {
    const { url } = await openPage();
    const body = JSON.stringify({ token: "x".repeat(4096) });
    expect((await postRaw(url, ["enter"], body)).status).toBe(413);
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const chunked = await sendRaw(url, "POST /enter", [
      "content-type: application/json",
      "transfer-encoding: chunked",
      "",
      chunk,
    ]);
    expect(chunked.status).toBe(413);
    expect((await postRaw(url, ["enter", "content-length: 999999999"], "")).status).toBeGreaterThanOrEqual(400);
  });

  it("is answered while the body of another is awaited", async () => {
    const { port, url } = await openPage();
    const slow = new RawClient(port);
    slow.send(
      `POST ${new URL(url).pathname}enter HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\n`,
    );
    slow.send("content-length: 21\r\n\r\n{");
    expect((await fetch(url)).status).toBe(200);
    slow.send('"token":"0123456"}  ');
    expect(await slow.until("WRONG_TOKEN")).toContain("403");
    slow.socket.destroy();
  });
});

describe("the answers of the live page", () => {
  it("have the headers that shut out other pages, also when they refuse", async () => {
    const { url, enter, link } = await openPage();
    const cookie = `cookie: ${await enter()}`;
    const answers = [
      await sendRaw(url, "GET /"),
      await sendRaw(url, "GET /page.js"),
      await sendRaw(url, "GET /exposure", [cookie]),
      await sendRaw(url, "GET /other", [cookie]),
      await sendRaw(url, "GET /exposure"),
      await sendRaw(url, "GET /", ["host: evil.example"]),
      await sendRaw(url, "GET /", ["host:"]),
      await sendRaw(url, "GET /", ["origin: null"]),
      await sendRaw(url, "POST /"),
      await sendRaw(url, "HEAD /"),
      await sendRaw(url, "POST /enter"),
      await postRaw(url, ["enter"], "{}"),
      await postRaw(url, ["enter"], '{"token":"wrong"}'),
      await postRaw(url, ["enter"], JSON.stringify({ token: tokenOf(link()) })),
      await postRaw(url, ["enter"], "x".repeat(5000)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 200, 404, 401, 403, 400, 403, 405, 405, 415, 400, 403, 204, 413,
    ]);
    for (const { headers } of answers) expect(Object.fromEntries(headers)).toMatchObject(secured);
  });

  it("repeat no token and no part of a request", async () => {
    const { url, link, enter } = await openPage();
    const cookie = await enter();
    const token = tokenOf(link());
    const unused = tokenOf(link());
    const answers = [
      await postRaw(url, ["enter"], JSON.stringify({ token })),
      await postRaw(url, ["enter"], JSON.stringify({ token })),
      await postRaw(url, ["enter"], JSON.stringify({ token: "echoed" })),
      await sendRaw(url, "GET /"),
      await sendRaw(url, `GET /?${token}`),
      await sendRaw(url, `GET /echoed?echoed=${token}`, [`cookie: ${cookie}`]),
      await sendRaw(url, `GET /exposure`, [`cookie: ${cookie}`, `referer: http://127.0.0.1/#${token}`]),
      await sendRaw(url, "GET /", ["host: echoed", `origin: http://echoed`]),
    ];
    for (const { headers, body } of answers) {
      const text = JSON.stringify([...headers]) + body;
      for (const secret of [token, unused, "echoed"]) expect(text).not.toContain(secret);
      expect(body).not.toContain(cookie.slice(cookie.indexOf("=") + 1));
    }
  });

  it("cost little memory for 10,000 requests without a cookie", async () => {
    const { url, port } = await openPage();
    const flood = async (count: number): Promise<number> => {
      const client = new RawClient(port);
      for (let sent = 0; sent < count; sent += 1) {
        const end = sent === count - 1 ? "connection: close\r\n\r\n" : "\r\n";
        client.send(
          `GET ${new URL(url).pathname}exposure HTTP/1.1\r\nhost: localhost:${port}\r\ncookie: a=${sent}\r\n${end}`,
        );
        if (sent % 32 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return (await client.closed()).split("HTTP/1.1 401 ").length - 1;
    };
    await flood(500);
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 10; round += 1) expect(await flood(1000)).toBe(1000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  });
});
