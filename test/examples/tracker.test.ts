import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addDemoData } from "../../examples/tracker/demo-data.ts";
import { startServer, type TrackerServer } from "../../examples/tracker/server.ts";
import { saveUser } from "../../examples/tracker/users.ts";
import { type AgentSetup, agents } from "./tracker-clients.ts";

const open = "surface://tracker/open";
const issues = "surface://tracker/issues";

let server: TrackerServer;
let tokens = { ada: "", bob: "" };
beforeAll(async () => {
  server = await startServer({});
  tokens = await addDemoData(server.db);
});
afterAll(() => server.close());

/** Makes a REST request as a user. */
async function rest(token: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${server.url}/api${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const stateOf = async (id: unknown) => (await rest(tokens.ada, `/issues/${String(id)}`)).body;

describe("the tracker, by REST", () => {
  it("answers each user with the issues that they may see", async () => {
    const [all, some] = await Promise.all([rest(tokens.ada, "/issues"), rest(tokens.bob, "/issues")]);
    expect(all).toMatchObject({ status: 200, body: { items: [{ id: 3, confidential: true }, { id: 2 }, { id: 1 }] } });
    expect(some).toMatchObject({ status: 200, body: { items: [{ id: 2 }, { id: 1 }] } });
    expect(await rest(tokens.ada, "/issues?limit=1&after=3&text=TYPO")).toEqual({
      status: 200,
      body: { items: [expect.objectContaining({ id: 2, title: "Typo on the login page" })] },
    });
    expect(await rest(tokens.ada, "/issues?limit=1")).toMatchObject({ body: { next: 3 } });
  });

  it.each([
    { what: "a token that is unknown", path: "/issues", status: 401, error: "sign in first" },
    {
      what: "a change by a reviewer",
      as: "bob",
      body: { title: "a" },
      status: 403,
      error: "only maintainers may change issues",
    },
    {
      what: "an issue that does not exist",
      as: "ada",
      path: "/issues/999",
      status: 404,
      error: "there is no issue 999",
    },
    { what: "a confidential issue", as: "bob", path: "/issues/3", status: 404, error: "there is no issue 3" },
    {
      what: "an unknown assignee",
      as: "ada",
      path: "/issues/1/assign",
      body: { assignee: "eve" },
      status: 404,
      error: 'there is no user "eve"',
    },
    { what: "a number that is no id", as: "ada", path: "/issues/4000000000", status: 400, error: expect.any(String) },
    { what: "a body that is not JSON", as: "ada", body: "{", status: 400, error: expect.stringContaining("JSON") },
    { what: "a body that does not fit", as: "ada", body: {}, status: 400, error: expect.stringContaining("title") },
    {
      what: "a body that is too large",
      as: "ada",
      body: { title: "a".repeat(200_000) },
      status: 413,
      error: expect.any(String),
    },
  ] as const)("refuses $what with $status", async ({ status, error, ...request }) => {
    const { as: user, path = "/issues", body } = { as: undefined, body: undefined, ...request };
    expect(await rest(user === undefined ? "unknown" : tokens[user], path, body)).toEqual({ status, body: { error } });
  });
});

describe.each(agents)("the tracker, by MCP with $name", ({ name, connect }) => {
  // Users of their own: calls are limited by user.
  const users = { ada: `Ada, ${name}`, bob: `Bob, ${name}` };
  const secrets = { ada: randomUUID(), bob: randomUUID() };
  beforeAll(async () => {
    await saveUser(server.db, { id: users.ada, name: "Ada", role: "maintainer" }, secrets.ada);
    await saveUser(server.db, { id: users.bob, name: "Bob", role: "reviewer" }, secrets.bob);
  });

  const as = (user: "ada" | "bob", answer: AgentSetup["answer"] = () => "accept") =>
    connect({ url: `${server.url}/mcp`, token: secrets[user], answer });

  it("shows a maintainer what is tagged, and refuses what is not", async () => {
    const ada = await as("ada");
    expect(await ada.tools()).toEqual([
      "issue_assign",
      "issue_close",
      "issue_create",
      "issue_search",
      "issue_show",
      "read_resource",
      "wait_for_change",
    ]);
    expect(await ada.resources()).toEqual([issues, open]);
    await expect(ada.call("issue_delete", { id: 1 })).rejects.toThrow("there is no such tool");
    const page = Object(await ada.read(`${issues}?limit=1`));
    expect(page).toEqual({ items: [{ key: expect.any(Number), item: expect.any(Object) }], next: expect.any(String) });
    expect(await ada.read(`${issues}?limit=2&after=4`)).toEqual({
      items: [
        { key: 2, item: { title: "Typo on the login page", state: "open" } },
        { key: 1, item: { title: "Crash on start", state: "open" } },
      ],
    });
    await expect(ada.read(`${issues}?after=first`)).rejects.toThrow('there is no page after "first"');
    expect(await ada.read(`${issues}/1`)).toMatchObject({ title: "Crash on start", state: "open" });
    expect(await ada.call("read_resource", { uri: `${issues}/1` })).toMatchObject({ isError: false });
    expect(await ada.call("issue_show", { id: 999 })).toMatchObject({
      isError: true,
      text: "NOT_FOUND: there is no issue 999",
    });
  });

  it("shows a reviewer less: no changes, and no confidential issues", async () => {
    const [ada, bob] = await Promise.all([as("ada"), as("bob")]);
    expect(await bob.tools()).toEqual(["issue_search", "issue_show", "read_resource", "wait_for_change"]);
    expect(await ada.call("issue_show", { id: 3 })).toMatchObject({ isError: false, value: { confidential: true } });
    expect(await bob.call("issue_show", { id: 3 })).toMatchObject({
      isError: true,
      text: "NOT_FOUND: there is no issue 3",
    });
    const searches = await Promise.all([ada, bob].map((agent) => agent.call("issue_search", { text: "password" })));
    expect(searches.map(({ value }) => value)).toMatchObject([{ items: [{ id: 3 }] }, { items: [] }]);
    await expect(bob.call("issue_close", { id: 1, comment: "Done" })).rejects.toThrow(/scope|403/i);
    await expect(ada.read(`${issues}/3`)).rejects.toThrow(/nothing under this URI/);
    expect(await stateOf(1)).toMatchObject({ state: "open" });
  });

  it("creates and assigns issues as the user, and closes one once the user has agreed", async () => {
    const questions: string[] = [];
    const answers: ("accept" | "decline")[] = ["decline", "accept"];
    const ada = await as("ada", (question) => (questions.push(question), answers.shift() ?? "decline"));
    const created = await ada.call("issue_create", { title: "No dark mode", body: "At night" });
    expect(created).toMatchObject({ isError: false, value: { author: users.ada, state: "open", confidential: false } });
    const id = Number(Reflect.get(Object(created.value), "id"));
    expect(await ada.call("issue_assign", { id, assignee: "bob" })).toMatchObject({ value: { assignee: "bob" } });

    const closing = { id, comment: "Use your eyelids" };
    expect(await ada.call("issue_close", closing)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^DECLINED/),
    });
    expect(await stateOf(id)).toMatchObject({ state: "open" });
    expect(await ada.call("issue_close", closing)).toMatchObject({ isError: false, value: { state: "closed" } });
    expect(await stateOf(id)).toMatchObject({ state: "closed" });
    const question = `Close issue ${id}, "No dark mode"?\nTool: "issue_close"\nid: ${id}\ncomment: "Use your eyelids"`;
    expect(questions).toEqual([question, question]);
    answers.push("accept");
    expect(await ada.call("issue_close", closing)).toMatchObject({
      isError: true,
      text: `CONFLICT: issue ${id} is closed already`,
    });
  });

  it("does not close an issue for a client that has no user to ask", async () => {
    const alone = await connect({ url: `${server.url}/mcp`, token: secrets.ada });
    const refused = await alone.call("issue_close", { id: 1, comment: "Done" }).catch((error: unknown) => error);
    expect(JSON.stringify(refused instanceof Error ? refused.message : refused)).toMatch(/elicitation/);
    expect(await stateOf(1)).toMatchObject({ state: "open" });
  });

  it("notifies subscribers of a change that a REST request made", async () => {
    const ada = await as("ada");
    const seen = await ada.watch(open);
    const before = Number(await ada.read(open));
    expect(await rest(tokens.ada, "/issues", { title: "Reported by REST" })).toMatchObject({ status: 201 });
    expect(await ada.read(open)).toBe(before + 1);
    await vi.waitFor(() => expect(seen.changed).toBeGreaterThan(0), { timeout: 20_000, interval: 20 });
  });

  it("changes nothing, and says nothing of the database, if a transaction fails", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const ada = await as("ada");
    await server.db.query("ALTER TABLE comments RENAME TO elsewhere");
    try {
      const failed = await ada.call("issue_close", { id: 1, comment: "Done" });
      expect(failed).toMatchObject({ isError: true, text: expect.stringMatching(/^INTERNAL: /) });
      expect(JSON.stringify(failed)).not.toMatch(/comments|relation|INSERT|UPDATE/i);
      expect(JSON.stringify(logged.mock.calls.map((args) => args.map(String)))).toContain("comments");
      expect(await rest(tokens.ada, "/issues/1/close", { comment: "Done" })).toEqual({
        status: 500,
        body: { error: "internal error" },
      });
    } finally {
      await server.db.query("ALTER TABLE elsewhere RENAME TO comments");
      logged.mockRestore();
    }
    expect(await stateOf(1)).toMatchObject({ state: "open" });
  });

  it("lets no agent in with a wrong token", async () => {
    await expect(connect({ url: `${server.url}/mcp`, token: "wrong" })).rejects.toThrow(/401|token is not valid/);
  });
});
