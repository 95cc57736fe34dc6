import { afterEach, describe, expect, it } from "vitest";
import { PageAccess } from "../../../src/http/inspector/page-access.ts";
import { toPageAddress } from "../../../src/http/inspector/page-address.ts";
import { codeOf, closePages, cookieOf, openPage, post, tokenOf } from "./page-harness.ts";

afterEach(closePages);

describe("the link of the live page", () => {
  it("has a token of 32 bytes in the fragment, and opens one browser", async () => {
    const { url, link } = await openPage();
    const once = link();
    expect(once).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/#token=[\w-]{43}$/);
    const first = await post(`${url}enter`, { token: tokenOf(once) });
    expect([first.status, await first.text()]).toEqual([204, ""]);
    const second = await post(`${url}enter`, { token: tokenOf(once) });
    expect([second.status, await codeOf(second), second.headers.getSetCookie()]).toEqual([403, "WRONG_TOKEN", []]);
  });

  it("sets a cookie that scripts cannot read, which other sites do not send, and which ends with the browser", async () => {
    const { url, link, port } = await openPage();
    const response = await post(`${url}enter`, { token: tokenOf(link()) });
    const attributes = `HttpOnly; SameSite=Strict; Path=${new URL(url).pathname}`;
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(new RegExp(`^surface-inspect-${port}=[\\w-]{43}; ${attributes}$`)),
    ]);
  });

  it("has a path that is new at each start", async () => {
    const paths = [await openPage(), await openPage()].map(({ url }) => new URL(url).pathname);
    expect(new Set(paths).size).toBe(2);
  });

  it("opens one browser each when several links are made", async () => {
    const { url, link } = await openPage();
    const links = [link(), link(), link()];
    for (const each of links) expect((await post(`${url}enter`, { token: tokenOf(each) })).status).toBe(204);
  });

  it("ends the oldest of more than 16 unused links", async () => {
    const { url, link } = await openPage();
    const links = Array.from({ length: 17 }, link);
    const [oldest = "", next = ""] = links;
    expect((await post(`${url}enter`, { token: tokenOf(oldest) })).status).toBe(403);
    expect((await post(`${url}enter`, { token: tokenOf(next) })).status).toBe(204);
  });

  it("is no cookie, and the cookie is no link", async () => {
    const { url, link, port, enter } = await openPage();
    const cookie = await enter();
    const headers = { cookie: `surface-inspect-${port}=${tokenOf(link())}` };
    expect((await fetch(new URL("exposure", url), { headers })).status).toBe(401);
    const value = cookie.slice(cookie.indexOf("=") + 1);
    expect((await post(`${url}enter`, { token: value })).status).toBe(403);
  });

  it.each([
    ["none", {}],
    ["an empty one", { token: "" }],
    ["a number", { token: 1 }],
    ["a list", { token: ["a"] }],
    ["a further field", { token: "a", extra: 1 }],
    ["a prototype", '{"token":"a","__proto__":{}}'],
    ["a list of bodies", "[]"],
    ["null", "null"],
    ["no JSON", "token=a"],
    ["no body", ""],
  ])("refuses a body with %s for a token", async (_what, body) => {
    const { url } = await openPage();
    const response = await post(`${url}enter`, body);
    expect([response.status, await codeOf(response)]).toEqual([400, "BAD_BODY"]);
  });

  it("answers further wrong tokens of a minute with 429, and opens the link all the same", async () => {
    const { url, link } = await openPage();
    for (let count = 0; count < 30; count += 1) {
      expect((await post(`${url}enter`, { token: `wrong${count}` })).status).toBe(403);
    }
    const response = await post(`${url}enter`, { token: "wrong" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await post(`${url}enter`, { token: tokenOf(link()) })).status).toBe(204);
  });

  it("counts wrong tokens again after that minute", () => {
    let now = 0;
    const clock = { now: () => now, after: () => () => {} };
    const access = new PageAccess(toPageAddress(new URL("http://localhost:1/")), clock);
    for (let count = 0; count < 30; count += 1) access.enter("wrong");
    now = 59_999;
    expect(access.enter("wrong")).toBe("too-many");
    now = 60_000;
    expect(access.enter("wrong")).toBe("wrong");
  });
});

describe("the cookie of the live page", () => {
  it("opens every route for as long as the process runs", async () => {
    const { url, enter } = await openPage();
    const cookie = await enter();
    for (let count = 0; count < 3; count += 1) {
      expect((await fetch(new URL("exposure", url), { headers: { cookie } })).status).toBe(200);
    }
  });

  it("is found among other cookies, also of its own name", async () => {
    const { url, enter, port } = await openPage();
    const headers = { cookie: `a=b; surface-inspect-${port}=x;${await enter()}; c="d"` };
    expect((await fetch(new URL("exposure", url), { headers })).status).toBe(200);
  });

  it("is not accepted by another instance, under either name", async () => {
    const [one, other] = [await openPage(), await openPage()];
    const cookie = await one.enter();
    const renamed = cookie.replace(String(one.port), String(other.port));
    for (const sent of [cookie, renamed, `${cookie}; ${renamed}`]) {
      const response = await fetch(new URL("exposure", other.url), { headers: { cookie: sent } });
      expect([response.status, await codeOf(response)]).toEqual([401, "NO_COOKIE"]);
    }
  });

  it("lets one browser use two instances at once", async () => {
    const [one, other] = [await openPage(), await openPage()];
    const cookie = `${await one.enter()}; ${await other.enter()}`;
    for (const { url } of [one, other]) {
      expect((await fetch(new URL("exposure", url), { headers: { cookie } })).status).toBe(200);
    }
  });

  it.each(["", "=", "=x", "x".repeat(8000)])("is refused where its value is wrong (%#)", async (value) => {
    const { url, port } = await openPage();
    const headers = { cookie: `surface-inspect-${port}${value}` };
    expect((await fetch(new URL("exposure", url), { headers })).status).toBe(401);
  });

  it("is sent over TLS only, and for its own path only, when the page is served so", () => {
    const access = new PageAccess(toPageAddress(new URL("https://ci.example/ops/mcp")), {
      now: () => 0,
      after: () => () => {},
    });
    const link = access.createLink();
    expect(link).toMatch(/^https:\/\/ci\.example\/ops\/mcp\/#token=/);
    const entered = access.enter(tokenOf(link));
    expect(entered).toEqual({
      cookie: expect.stringMatching(
        /^surface-inspect-443=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/ops\/mcp\/; Secure$/,
      ),
    });
  });

  it("is set by no other answer", async () => {
    const { url, enter } = await openPage();
    const cookie = await enter();
    for (const route of ["", "exposure", "history"]) {
      expect(cookieOf(await fetch(new URL(route, url), { headers: { cookie } }))).toBe("");
    }
  });
});
