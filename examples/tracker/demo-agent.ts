/** An agent of the demo: a client of the MCP SDK, over HTTP. */
import { EventEmitter, once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { Issue } from "./schemas.ts";

/** Milliseconds until the demo gives up to wait for a notification. */
const patienceMs = 10_000;

/** The fields of the answers that the demo shows. */
const Answer = Issue.partial().extend({ items: z.array(Issue).default([]) });
type Answer = z.infer<typeof Answer>;

export interface AgentOptions {
  readonly url: string;
  /** The token of the user whom the agent works for. */
  readonly token: string;
  /** Answers the questions that the server asks the user. */
  readonly onQuestion: (question: string) => "accept" | "decline";
}

export class DemoAgent {
  readonly #updates = new EventEmitter();
  readonly #client = new Client(
    { name: "tracker-demo", version: "1.0.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );

  private constructor(onQuestion: AgentOptions["onQuestion"]) {
    this.#client.setRequestHandler("elicitation/create", ({ params }) => {
      const action = onQuestion(params.message);
      return action === "accept" ? { action, content: {} } : { action };
    });
    this.#client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      this.#updates.emit(params.uri);
    });
  }

  static async connect({ url, token, onQuestion }: AgentOptions): Promise<DemoAgent> {
    const agent = new DemoAgent(onQuestion);
    const headers = { authorization: `Bearer ${token}` };
    await agent.#client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return agent;
  }

  async tools(): Promise<readonly string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  async resources(): Promise<readonly string[]> {
    return (await this.#client.listResources()).resources.map(({ uri }) => uri);
  }

  /** Calls a tool. @throws Error with the text of a refusal. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    const { isError, content, structuredContent } = await this.#client.callTool({ name, arguments: args });
    if (isError === true) throw new Error(content.map((block) => ("text" in block ? block.text : "")).join(" "));
    return Answer.parse(structuredContent);
  }

  /** Calls a tool that must be refused, and returns the reason. */
  async refusal(name: string, args: Record<string, unknown>): Promise<string> {
    try {
      await this.call(name, args);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    throw new Error(`${name} was not refused`);
  }

  async read(uri: string): Promise<unknown> {
    const { contents } = await this.#client.readResource({ uri });
    return JSON.parse(contents.map((content) => ("text" in content ? content.text : "")).join(""));
  }

  /** Subscribes to a resource. The promise that it returns within another settles at the next change. */
  async watch(uri: string): Promise<{ readonly changed: Promise<unknown> }> {
    const changed = once(this.#updates, uri, { signal: AbortSignal.timeout(patienceMs) });
    await this.#client.listen({ resourceSubscriptions: [uri] });
    return { changed };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
