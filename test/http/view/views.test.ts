import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { http, type HttpServing } from "../../../src/http/http.ts";
import { createFleet, firstRules, type Fleet } from "../support/fleet-app.ts";
import { modernPost } from "../support/modern-post.ts";
import { httpClients, type HttpClient, type HttpClientEntry } from "../support/http-clients.ts";

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

interface Served extends Fleet {
  readonly serving: HttpServing;
  readonly connect: (query?: string) => Promise<HttpClient>;
}

async function serve(client: HttpClientEntry): Promise<Served> {
  const fleet = createFleet();
  const serving = await http({ port: 0, exit: false, drainMs: 0 }).serve(fleet.app);
  ending.push(() => serving.close());
  const connect = async (query = ""): Promise<HttpClient> => {
    const connected = await client.connect({ url: `${serving.url}${query}` });
    ending.push(() => connected.close());
    return connected;
  };
  return { ...fleet, serving, connect };
}

async function namesOf(client: HttpClient): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** What a call came to, with the name taken out of it. */
async function outcomeOf(client: HttpClient, name: string, args: Record<string, unknown> = {}): Promise<string> {
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

/** Longer than a window, in which something would have been told. */
const quiet = (): Promise<void> => delay(400);

const hubNames = ["hub_task_fail", ...Array.from({ length: 20 }, (_, at) => `hub_task_step_${at}`)].toSorted();

/** What the clients of an SDK say when they are not let in: one that takes no version but its own says nothing of why. */
function refusalIn(entry: HttpClientEntry, why: RegExp): RegExp {
  return entry.name === "SDK 2.x, modern" ? /^Version negotiation failed/ : why;
}

describe.each(httpClients)("$name, by the view of its address,", (entry) => {
  it("without a view name sees all entries of an anonymous caller", async () => {
    const { connect } = await serve(entry);
    for (const query of ["", "?surface=", "?surface=default", "?surface=&surface=default", "?other=1"]) {
      expect(await namesOf(await connect(query))).toEqual([...hubNames, "node_show", "node_stop"]);
    }
  });

  it("sees the entries of its view only, byte for byte", async () => {
    const { connect, ran } = await serve(entry);
    const reader = await connect("?surface=readonly");
    expect(await namesOf(reader)).toEqual([...hubNames.filter((name) => name !== "hub_task_fail"), "node_show"]);
    const unknown = await outcomeOf(reader, "node_none", { node: "a" });
    expect(unknown).toMatch(/there is no such tool/);
    for (const name of ["node_stop", "hub_task_fail", "site_drop", "repo_push"]) {
      expect(await outcomeOf(reader, name, { node: "a" })).toBe(unknown);
    }
    const read = async (uri: string): Promise<string> =>
      reader.readResource({ uri }).then(
        () => "read",
        (cause: unknown) => String(cause).replaceAll(uri, "…"),
      );
    expect(await read("surface://fleet/state")).toBe("read");
    expect(await read("surface://fleet/secrets")).toBe(await read("surface://fleet/nothing"));
    expect(ran).toEqual([]);
    expect(await outcomeOf(reader, "node_show", { node: "a" })).toContain('"structuredContent":{"node":"a"}');
    const executor = await connect("?surface=executor");
    expect(await namesOf(executor)).toEqual(["node_show", "node_stop"]);
    expect(await outcomeOf(executor, "node_stop", { node: "a" })).toContain('"structuredContent":{"node":"a"}');
  });

  it("is refused for a denied or unknown view, with the reason", async () => {
    const { connect, serving } = await serve(entry);
    const locked = refusalIn(entry, /tool surface denied: it is being repaired/);
    const unknown = refusalIn(entry, /tool surface denied: unknown MCP surface/);
    await expect(connect("?surface=locked")).rejects.toThrow(locked);
    await expect(connect("?surface=nothing")).rejects.toThrow(unknown);
    await expect(connect("?surface=__proto__")).rejects.toThrow(unknown);
    const discovered = await fetch(`${serving.url}?surface=locked`, modernPost("server/discover"));
    const error = { code: -32_603, message: "tool surface denied: it is being repaired" };
    expect([discovered.status, await discovered.json()]).toEqual([200, { jsonrpc: "2.0", id: 1, error }]);
    expect(serving.stats().sessions).toBe(0);
  });

  it.each([
    ["a bad escape", "%ZZ"],
    ["half of a character", "%C3"],
    ["a line break", "a%0D%0Ab"],
    ["10 kB", "a".repeat(10_000)],
  ])("is refused with the name of the parameter when the address has %s", async (_, value) => {
    const { connect } = await serve(entry);
    await expect(connect(`?surface=${value}`)).rejects.toThrow(refusalIn(entry, /surface.*percent-encoded/));
  });

  it("has four tools before a gateway, and finds, reads and calls operations by them", async () => {
    const { connect, ran } = await serve(entry);
    const client = await connect("?surface=hub");
    expect(await namesOf(client)).toEqual(["call", "list", "schema", "search"]);
    const found = await client.callTool({ name: "search", arguments: { q: "step_7" } });
    const { tools } = Object(found["structuredContent"]);
    expect(tools[0]).toMatchObject({ tool: "hub.task.step_7" });
    const batch = ["hub.task.step_7", "hub.task.fail", "node.show"].map((tool) => ({ tool, input: { by: 2 } }));
    const called = await client.callTool({ name: "call", arguments: { calls: batch } });
    expect(called["structuredContent"]).toMatchObject({
      results: [
        { success: true, result: { at: 7, by: 2 } },
        { success: false, error: { code: "NO_ROOM" } },
        { success: false, error: { code: "OPERATION_NOT_FOUND" } },
      ],
    });
    expect(ran).toEqual(["step 7"]);
    expect(await outcomeOf(client, "node_show", { node: "a" })).toBe(await outcomeOf(client, "node_none"));
  });

  it("is notified of a changed list when the rules are replaced, and only then", async () => {
    const { connect, rules } = await serve(entry);
    const [reader, executor] = [await connect("?surface=readonly"), await connect("?surface=executor")];
    const told = { reader: 0, executor: 0 };
    await reader.watchTools(() => (told.reader += 1));
    await executor.watchTools(() => (told.executor += 1));
    await quiet();
    rules.set(
      firstRules.map((rule) =>
        rule.id === "readonly" ? { ...rule, verdict: { kind: "tool_surface", allow: ["node.*"] } } : rule,
      ),
    );
    await until(() => told.reader > 0);
    expect(await namesOf(reader)).toEqual(["node_show", "node_stop"]);
    await quiet();
    expect(told).toEqual({ reader: 1, executor: 0 });
    // Other words for the same.
    rules.set([...rules.get()]);
    await quiet();
    expect(told).toEqual({ reader: 1, executor: 0 });
  });

  it("is notified of mounted tools, and not behind a gateway, which finds them with the next request", async () => {
    const { connect, hub } = await serve(entry);
    const [direct, gateway] = [await connect(), await connect("?surface=hub")];
    const told = { direct: 0, gateway: 0 };
    await direct.watchTools(() => (told.direct += 1));
    await gateway.watchTools(() => (told.gateway += 1));
    await quiet();
    const take = hub.register({ name: "late", type: "query" }, () => ({ late: true }));
    const search = { name: "search", arguments: { q: "late" } };
    expect(await gateway.callTool(search)).toMatchObject({ structuredContent: { tools: [{ tool: "hub.late" }] } });
    expect(await namesOf(direct)).toContain("hub_late");
    await until(() => told.direct > 0);
    take();
    expect(await gateway.callTool(search)).toMatchObject({ structuredContent: { tools: [] } });
    expect(await outcomeOf(direct, "hub_late")).toBe(await outcomeOf(direct, "hub_none"));
    await until(() => told.direct > 1);
    await quiet();
    expect(told).toEqual({ direct: 2, gateway: 0 });
  });

  it("is served no more when its view is denied meanwhile, hears nothing more, and is served again after that", async () => {
    const { connect, rules, change } = await serve(entry);
    const client = await connect("?surface=readonly");
    let updated = 0;
    await client.watch("surface://fleet/state", () => (updated += 1));
    change();
    await until(() => updated > 0);
    await quiet();
    const before = updated;
    rules.set([{ verdict: { kind: "deny", reason: "closed for today" } }]);
    await expect(client.listTools()).rejects.toThrow("tool surface denied: closed for today");
    expect(await outcomeOf(client, "node_show", { node: "a" })).toContain("tool surface denied: closed for today");
    change();
    await quiet();
    expect(updated).toBe(before);
    rules.set(firstRules);
    expect(await namesOf(client)).toContain("node_show");
    await until(() => updated > before);
  });
});
