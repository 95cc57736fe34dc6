import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { bearer, http, tokenRegistry, type HttpServing, type TokenGrant } from "../../../src/http/index.ts";
import { createFleet, type Fleet } from "../support/fleet-app.ts";
import { httpClients, type HttpClient, type HttpClientEntry } from "../support/http-clients.ts";
import { modernPost } from "../support/modern-post.ts";

const resource = "https://fleet.example/mcp";
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const both = ["fleet:read", "fleet:write"];

interface Served extends Fleet {
  readonly serving: HttpServing;
  readonly tokens: ReturnType<typeof tokenRegistry>;
  readonly enter: (grant: Partial<TokenGrant>) => Promise<{ client: HttpClient; token: string; tokenId: string }>;
}

async function serve(entry: HttpClientEntry): Promise<Served> {
  const fleet = createFleet();
  const tokens = tokenRegistry({ resource });
  const auth = bearer({ resource, verify: tokens.verify });
  const serving = await http({ port: 0, exit: false, drainMs: 0, rateLimit: false, auth }).serve(fleet.app);
  ending.push(() => serving.close());
  const enter: Served["enter"] = async (grant) => {
    const minted = await tokens.mint({ id: "runner", scopes: both, ...grant });
    const withToken: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${minted.token}`);
      return fetch(input, { ...init, headers });
    };
    const client = await entry.connect({ url: `${serving.url}?surface=executor`, fetch: withToken });
    ending.push(() => client.close());
    return { client, ...minted };
  };
  return { ...fleet, serving, tokens, enter };
}

async function namesOf(client: HttpClient): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

async function outcomeOf(client: HttpClient, name: string, args: Record<string, unknown>): Promise<string> {
  try {
    return JSON.stringify(await client.callTool({ name, arguments: args })).replaceAll(name, "…");
  } catch (cause) {
    return String(cause).replaceAll(name, "…");
  }
}

async function until(done: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!done()) {
    if (performance.now() > deadline) throw new Error("it did not come to that");
    await delay(5);
  }
}

/** A request of the modern era by who has a token. */
function by(token: string, method: string, params?: Readonly<Record<string, unknown>>): RequestInit {
  const init = modernPost(method, params);
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

describe.each(httpClients)("$name, with a token of a registry,", (entry) => {
  it("sees no entry that requires a scope it lacks, and gets the name of the scope when it calls the entry", async () => {
    const { enter, serving, ran } = await serve(entry);
    const { client, token } = await enter({});
    expect(await namesOf(client)).toEqual(["node_show", "node_stop"]);
    expect(await outcomeOf(client, "site_drop", { repo: "web" })).toMatch(/403|scope/i);
    const drop = { name: "site_drop", arguments: { repo: "web" } };
    const answer = await fetch(serving.url, by(token, "tools/call", drop));
    expect(answer.status).toBe(403);
    expect(answer.headers.get("www-authenticate")).toMatch(/error="insufficient_scope", scope="[^"]*fleet:admin/);
    const { client: admin } = await enter({ scopes: [...both, "fleet:admin"] });
    expect(await namesOf(admin)).toEqual(["node_show", "node_stop", "site_drop"]);
    expect(ran).toEqual([]);
    expect(await outcomeOf(admin, "site_drop", { repo: "web" })).toContain('"value":"web"');
  });

  it("is answered as where there is nothing when no consent would help", async () => {
    const { enter, serving, ran } = await serve(entry);
    const { client, token } = await enter({});
    expect(await outcomeOf(client, "repo_push", { repo: "web" })).toBe(
      await outcomeOf(client, "repo_none", { repo: "web" }),
    );
    const statusOf = async (name: string): Promise<unknown> => {
      const answer = await fetch(serving.url, by(token, "tools/call", { name, arguments: { repo: "web" } }));
      const text = (await answer.text()).replaceAll(name, "…");
      return [answer.status, answer.headers.get("www-authenticate"), text];
    };
    expect(await statusOf("repo_push")).toEqual(await statusOf("repo_none"));
    expect(ran).toEqual([]);
  });

  it("gets no scope of an entry that its view hides, but the answer for an unknown one", async () => {
    const { enter, serving } = await serve(entry);
    const { token } = await enter({});
    const answerTo = async (name: string): Promise<unknown> => {
      const call = by(token, "tools/call", { name, arguments: { repo: "web" } });
      const answer = await fetch(`${serving.url}?surface=readonly`, call);
      return [answer.status, answer.headers.get("www-authenticate"), (await answer.text()).replaceAll(name, "…")];
    };
    const unknown = await answerTo("site_none");
    expect(unknown).toEqual([200, null, expect.stringContaining("there is no such tool")]);
    expect(await answerTo("site_drop")).toEqual(unknown);
  });

  it("may act on the granted resources, and on no other", async () => {
    const { enter, ran } = await serve(entry);
    const { client } = await enter({ resources: { "repo:web": ["write"], "repo:app": ["read"] } });
    expect(await namesOf(client)).toEqual(["node_show", "node_stop", "repo_push"]);
    expect(await outcomeOf(client, "repo_push", { repo: "web" })).toContain('"value":"web"');
    expect(await outcomeOf(client, "repo_push", { repo: "app" })).not.toContain('"value"');
    expect(await outcomeOf(client, "repo_push", { repo: "__proto__" })).not.toContain('"value"');
    expect(ran).toEqual(["repo.push"]);
    const { client: all } = await enter({ resources: { "repo:*": ["write"] } });
    expect(await outcomeOf(all, "repo_push", { repo: "app" })).toContain('"value":"app"');
  });

  it("is refused from its revocation on, and its streams end at once", async () => {
    const { enter, serving, tokens, change } = await serve(entry);
    const [one, other] = [await enter({}), await enter({})];
    const told = { one: 0, other: 0 };
    await one.client.watch("surface://fleet/state", () => (told.one += 1));
    await other.client.watch("surface://fleet/state", () => (told.other += 1));
    await until(() => serving.stats().streams === 2);
    change();
    await until(() => told.one > 0 && told.other > 0);
    const before = told.one;
    await tokens.revoke(one.tokenId);
    await until(() => serving.stats().streams === 1);
    await expect(one.client.listTools()).rejects.toThrow(/401|unauthorized|token/i);
    expect((await fetch(serving.url, by(one.token, "tools/list"))).status).toBe(401);
    expect((await fetch(serving.url, by(other.token, "tools/list"))).status).toBe(200);
    change();
    await until(() => told.other > 1);
    expect(told.one).toBe(before);
  });
});

describe("an anonymous caller", () => {
  it("gets the answer for an unknown entry from each entry whose author requires a scope", async () => {
    const { app } = createFleet();
    const serving = await http({ port: 0, exit: false, drainMs: 0 }).serve(app);
    ending.push(() => serving.close());
    const ask = async (name: string): Promise<unknown> => {
      const answer = await fetch(serving.url, modernPost("tools/call", { name, arguments: { repo: "web" } }));
      return [answer.status, answer.headers.get("www-authenticate"), (await answer.text()).replaceAll(name, "…")];
    };
    const unknown = await ask("site_none");
    expect(await ask("site_drop")).toEqual(unknown);
    expect(await ask("repo_push")).toEqual(unknown);
  });
});
