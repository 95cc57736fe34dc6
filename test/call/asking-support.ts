import type { ClientPort } from "../../src/call/asker.ts";
import type { Asking, AskKind, InputRequest } from "../../src/catalog/asking/asking.ts";
import type { ToolOutcome } from "../../src/catalog/outcome.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import type { Tools } from "./nesting-support.ts";

/** Everything that a client can be asked. */
export const everyKind: ReadonlySet<AskKind> = new Set(["elicit", "sample", "roots"]);

/** What a client says to a question. */
export type Reply = (ask: InputRequest, key: string) => JsonObject | Promise<JsonObject>;

/** What a user reads. */
export function messageOf({ params }: InputRequest): string {
  return JSON.stringify(params["message"]);
}

/** A user who fills in every form with this. */
export function accepting(content: JsonObject = {}): Reply {
  return () => ({ action: "accept", content });
}

/** The client of a session, which is asked while the call waits. */
export function pushing(reply: Reply, asked: InputRequest[] = []): ClientPort {
  return {
    kinds: everyKind,
    push: async (ask) => {
      asked.push(ask);
      return reply(ask, "");
    },
  };
}

/** What came of a call that was made again and again until nothing was asked any more. */
export interface Rounds {
  readonly outcome: ToolOutcome;
  /** The keys that were asked, a list a round. */
  readonly rounds: readonly (readonly string[])[];
}

/** Which of the questions of a round are answered; the others are asked again. */
export type Choose = (keys: readonly string[]) => readonly string[];

/** Calls a tool as a client of the modern era does: by retries, each with what the one before came to. */
export async function callInRounds(
  tools: Tools,
  [id, args]: readonly [id: string, args?: JsonObject],
  { reply, choose = (keys) => keys }: { readonly reply: Reply; readonly choose?: Choose },
): Promise<Rounds> {
  const rounds: string[][] = [];
  let resumed: ClientPort["resumed"];
  while (rounds.length < 100) {
    const outcome = await tools.call(id, args, { asking: { kinds: everyKind, resumed } });
    if (outcome.kind !== "asking") return { outcome, rounds };
    // As it comes back: over the wire.
    const { open, record } = JSON.parse(JSON.stringify(outcome)) as Asking;
    rounds.push(Object.keys(open).toSorted());
    const chosen = choose(Object.keys(open));
    const answers: [string, JsonObject][] = [];
    for (const [key, ask] of Object.entries(open)) if (chosen.includes(key)) answers.push([key, await reply(ask, key)]);
    resumed = { record, answers: Object.fromEntries(answers) };
  }
  throw new Error("it asks without end");
}
