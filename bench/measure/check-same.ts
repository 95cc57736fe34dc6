import { isDeepStrictEqual } from "node:util";
import type { CompiledServers } from "../compile-servers.ts";
import { openSession, type Side } from "../driver/open-session.ts";
import { type Era, eras, type Question, questions, toRequest } from "../driver/requests.ts";
import { openClient } from "../http/http-client.ts";
import { readMessage } from "../http/http-connection.ts";
import { startHttp } from "../http/http-process.ts";
import { firstId, toPost } from "../http/http-requests.ts";

/** The parts of a result that both servers owe alike; stamps and page cursors are their own affair. */
const compared = ["structuredContent", "content", "contents", "isError"] as const;

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
}

/** Asks a server one question and resolves with the message it answered. */
type Ask = (question: Question) => Promise<unknown>;

async function answersOf(ask: Ask): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const [name, question] of Object.entries<Question>(questions)) {
    // The answer is looked at key by key below.
    const { result = {} } = (await ask(question)) as Answer;
    const { tools } = result;
    const names = Array.isArray(tools) ? tools.map((tool: { name: string }) => tool.name).toSorted() : undefined;
    answers.push({ name, names, parts: compared.map((key) => result[key]) });
  }
  return answers;
}

async function overStdio(args: readonly string[], era: Era): Promise<readonly unknown[]> {
  const server = await openSession(args, era);
  try {
    return await answersOf(async (question): Promise<unknown> => {
      const answer: unknown = JSON.parse(await server.ask(toRequest(question, era)(1)));
      return answer;
    });
  } finally {
    await server.stop();
  }
}

async function overHttp(args: readonly string[], era: Era): Promise<readonly unknown[]> {
  const { server, port } = await startHttp([...args, "--era", era]);
  try {
    const { connection, sender } = await openClient(port, { era });
    const answers = await answersOf(async (question) =>
      readMessage(await connection.ask(toPost(question, sender)(firstId))),
    );
    connection.close();
    return answers;
  } finally {
    await server.stop();
  }
}

const ways = { stdio: overStdio, http: overHttp } as const;

/** Refuses to compare servers that do not do the same work. */
export async function checkSame(servers: CompiledServers): Promise<void> {
  for (const way of ["stdio", "http"] as const) {
    for (const era of eras) {
      const { ours, written } = servers[way];
      const answers: Record<Side, readonly unknown[]> = {
        ours: await ways[way](ours, era),
        written: await ways[way](written, era),
      };
      if (isDeepStrictEqual(answers.ours, answers.written)) continue;
      const found = JSON.stringify(answers).slice(0, 2_000);
      throw new Error(`Benchmark: the two servers answer differently (${way}, ${era}): ${found}`);
    }
  }
}
