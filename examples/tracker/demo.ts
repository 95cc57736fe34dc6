/**
 * `npm start`: starts the tracker with its live page, shows in one screen what agents of two users may do with it, and keeps them at
 * work until Ctrl-C. `npm start -- --once` ends after the screen.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { DemoAgent } from "./demo-agent.ts";
import { addDemoData } from "./demo-data.ts";
import { runTraffic } from "./demo-traffic.ts";
import { startServer, type TrackerServer } from "./server.ts";

type Tokens = Awaited<ReturnType<typeof addDemoData>>;

async function showMaintainer({ url }: TrackerServer, tokens: Tokens): Promise<number> {
  const questions: string[] = [];
  const agent = await DemoAgent.connect({
    url: `${url}/mcp`,
    token: tokens.ada,
    onQuestion: (question) => (questions.push(question), "accept"),
  });
  const tools = await agent.tools();
  console.log("Ada is a maintainer. Her agent signs in with her token, and may use");
  console.log(`  tools      ${tools.filter((name) => name.startsWith("issue_")).join(", ")},`);
  console.log(`             ${tools.filter((name) => !name.startsWith("issue_")).join(", ")}`);
  console.log(`  resources  ${(await agent.resources()).join(", ")}`);

  const reason = await agent.refusal("issue_delete", { id: 1 });
  assert.match(reason ?? "", /there is no such tool/);
  console.log("It tries to delete an issue. People can do that by REST; for agents there is no such tool.");

  const issue = await agent.call("issue_create", { title: "Search ignores umlauts" });
  console.log(`It creates issue ${issue.id}, "${issue.title}".`);

  const closed = await agent.call("issue_close", { id: issue.id, comment: "Fixed in 1.4" });
  const [question = "", ...lines] = (questions[0] ?? "").split("\n");
  assert.equal(closed.state, "closed");
  console.log("It closes that issue. Before anything happens Ada is asked; this demo answers for her:");
  console.log(`  ${question}`);
  console.log(`  ${lines.join(", ")}`);
  console.log("  Ada: yes. Now the issue is closed.");

  const uri = "surface://tracker/open";
  const { changed } = await agent.watch(uri);
  const before = await agent.read(uri);
  const reported = await fetch(`${url}/api/issues`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.ada}`, "content-type": "application/json" },
    body: JSON.stringify({ title: "Dark mode is too bright" }),
  });
  assert.equal(reported.status, 201);
  await changed;
  console.log(`It watches ${uri}: ${String(before)} open issues. Then a person reports one by REST.`);
  console.log(`  The agent is notified, reads again, and finds ${String(await agent.read(uri))}.`);
  const { items } = await agent.call("issue_search", { text: "password" });
  await agent.close();
  return items.length;
}

async function showReviewer({ url }: TrackerServer, tokens: Tokens, seenByAda: number): Promise<void> {
  const agent = await DemoAgent.connect({ url: `${url}/mcp`, token: tokens.bob, onQuestion: () => "decline" });
  const tools = await agent.tools();
  const { items } = await agent.call("issue_search", { text: "password" });
  console.log("Bob is a reviewer. His agent signs in with his token, and may use less:");
  console.log(`  tools      ${tools.join(", ")}`);
  console.log(
    `  It finds ${items.length} issues about a password. Ada's agent finds ${seenByAda}: reviewers see nothing confidential.`,
  );
  await agent.close();
}

/** Resolves when the process is asked to end. */
async function untilStopped(signal: AbortSignal): Promise<void> {
  await Promise.race([once(process, "SIGINT", { signal }), once(process, "SIGTERM", { signal })]);
}

async function keepBusy(server: TrackerServer, tokens: Tokens): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([untilStopped(over.signal), runTraffic({ url: server.url, tokens, signal: over.signal })]);
  } finally {
    over.abort();
  }
}

const { DATABASE_URL: databaseUrl } = process.env;
const isOnce = process.argv.includes("--once");
const server = await startServer({ databaseUrl });
try {
  const tokens = await addDemoData(server.db);
  const database = databaseUrl === undefined ? "Postgres, embedded in this process" : "the server of DATABASE_URL";
  if (!isOnce) console.log(`See it live, by a link that opens once:\n  ${await server.inspect()}\n`);
  console.log(`An issue tracker: Express and REST over a database (${database}).`);
  console.log(`Agents may use the part that examples/tracker/surface.ts names, by MCP at ${server.url}/mcp\n`);
  await showReviewer(server, tokens, await showMaintainer(server, tokens));
  console.log("\nGo on:");
  console.log("  npm run tracker              serves the tracker, and says how to connect your agent");
  console.log("  docs/guide/existing-app.md   builds this step by step, in ten minutes");
  if (!isOnce) {
    console.log("\nThe agents go on, so that the page has something to show. Ctrl-C ends it.");
    await keepBusy(server, tokens);
  }
} finally {
  await server.close();
}
