import { once } from "node:events";
import { connect } from "node:net";
import { modern } from "../post.ts";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { tenants } from "../targets.ts";

const connections = 300;
const requestsEach = 16;

/** Asks for the large resource again and again on one connection, and reads nothing. */
async function askUnread(url: URL, token: string): Promise<ReturnType<typeof connect>> {
  const { headers, body } = modern("resources/read", { uri: "surface://ci/large" });
  const lines = Object.entries({ ...headers, host: url.host, authorization: `Bearer ${token}` });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\r\n");
  const text = `POST /mcp HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(Number(url.port), url.hostname);
  socket.on("error", () => {});
  socket.pause();
  await once(socket, "connect").catch(() => undefined);
  socket.write(text.repeat(requestsEach));
  return socket;
}

async function run({ target }: Attack): Promise<Finding> {
  const [greedy, , , other] = tenants;
  const breaks: string[] = [];
  const sockets = await Promise.all(Array.from({ length: connections }, () => askUnread(target.url, greedy.token)));
  let most = 0;
  // Long enough for every request to be read and answered.
  for (let round = 0; round < 50 && target.isAlive; round += 1) {
    const { status } = await target.ask("tools/list", {}, { token: other.token });
    if (target.isAlive && status !== 200) breaks.push(`another caller was answered ${status}`);
    most = Math.max(most, (await target.report())?.heapMb ?? 0);
  }
  for (const socket of sockets) socket.destroy();
  if (!target.isAlive) breaks.push("one token that only reads ended the process");
  return {
    tried: `${connections} connections of one token, ${requestsEach} unread answers of 1 MB each; heap ${most} MB`,
    breaks,
  };
}

/** Answers that nobody reads must not fill the memory. */
export const unreadAnswers: Scenario = { name: "unread answers", run };
