import { isDeepStrictEqual } from "node:util";
import { type Commands, openSession, type Side } from "../driver/open-session.ts";
import { type Era, eras, type Question, questions, toRequest } from "../driver/requests.ts";

/** The parts of a result that both servers owe alike; stamps and page cursors are their own affair. */
const compared = ["structuredContent", "content", "contents", "isError"] as const;

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
}

async function answersOf(args: readonly string[], era: Era): Promise<readonly unknown[]> {
  const server = await openSession(args, era);
  try {
    const answers: unknown[] = [];
    for (const [name, question] of Object.entries<Question>(questions)) {
      // The answer is looked at key by key below.
      const { result = {} } = JSON.parse(await server.ask(toRequest(question, era)(1))) as Answer;
      const { tools } = result;
      const names = Array.isArray(tools) ? tools.map((tool: { name: string }) => tool.name).toSorted() : undefined;
      answers.push({ name, names, parts: compared.map((key) => result[key]) });
    }
    return answers;
  } finally {
    await server.stop();
  }
}

/** Refuses to compare servers that do not do the same work. */
export async function checkSame(commands: Commands): Promise<void> {
  for (const era of eras) {
    const answers: Record<Side, readonly unknown[]> = {
      ours: await answersOf(commands.ours, era),
      written: await answersOf(commands.written, era),
    };
    if (isDeepStrictEqual(answers.ours, answers.written)) continue;
    throw new Error(
      `Benchmark: the two servers answer differently (${era}): ${JSON.stringify(answers).slice(0, 2_000)}`,
    );
  }
}
