import type { Caller } from "../../../src/surface/caller.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import type { McpOptions } from "../../../src/index.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { callOf, type FakeReply, SessionHarness, type Sent } from "../sessions/session-harness.ts";
import { type AskingApp, openAskingApp } from "./asking-app.ts";

/** Everything that a client can be asked. */
export const able = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

/** An answer of a user's. */
export const accept = (name: string): object => ({ action: "accept", content: { name } });

/** A question as it was sent. */
export interface Question {
  readonly id: string;
  readonly method: string;
  readonly params?: { readonly message?: string } | undefined;
}

/** The questions among what a stream was sent. */
export function questionsOf({ messages }: Pick<FakeReply, "messages">): readonly Question[] {
  // A message of ours with an id and a method is a question.
  return messages.filter((message) => "id" in message && "method" in message) as unknown as readonly Question[];
}

/** The result of a call that was answered by a stream, or in one piece. */
export function resultOf(reply: FakeReply): unknown {
  return reply.given === undefined ? reply.messages.at(-1)?.["result"] : reply.plain.body["result"];
}

/** Sessions whose clients can be asked, without a network. */
export class AskHarness extends SessionHarness {
  readonly did: AskingApp["asked"];

  constructor(
    bounds: Partial<HttpBounds> = {},
    more: Pick<McpOptions, "asking"> & { readonly change?: (runtime: AppRuntime) => AppRuntime } = {},
  ) {
    const { change = (runtime) => runtime, ...options } = more;
    const app = openAskingApp(options);
    super(change(app.runtime), { keepAliveMs: 0, sessionIdleMs: 0, ...bounds });
    this.did = app.asked;
  }

  /** Opens a session whose client can be asked everything. */
  openAble(more: { readonly version?: string; readonly caller?: Caller } = {}): Promise<string> {
    return this.open({ capabilities: able, ...more });
  }

  /** Calls a tool, and waits until a stream was sent a question; says which. */
  async asked(
    name: string,
    sent: Sent,
    on?: FakeReply,
  ): Promise<{ readonly reply: FakeReply; readonly question: Question }> {
    const reply = this.post(callOf(`call ${(this.#calls += 1)}`, name), sent);
    return { reply, question: await this.question(on ?? reply) };
  }

  /** The first question that a stream was sent, once there is one. */
  async question(reply: FakeReply): Promise<Question> {
    await this.until(() => questionsOf(reply).length > 0);
    const [question] = questionsOf(reply);
    if (question === undefined) throw new TypeError("nothing was asked");
    return question;
  }

  /** Answers a question. */
  answer({ id }: Pick<Question, "id">, result: object, sent: Sent): FakeReply {
    return this.post({ id, result }, sent);
  }

  /** Waits for the end of an answer. */
  async answered(reply: FakeReply): Promise<unknown> {
    await this.until(() => reply.given !== undefined || (reply.sink !== undefined && reply.sink.state !== "open"));
    return resultOf(reply);
  }

  #calls = 0;
}
