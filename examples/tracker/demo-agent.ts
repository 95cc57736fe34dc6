/** An agent of the demo: a client of the MCP SDK, over HTTP. */
import { EventEmitter, once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { Issue } from "./schemas.ts";

/** Milliseconds until the demo gives up to wait for a notification. */
const patienceMs = 10_000;

/** Milliseconds until an agent gives up a call. A confirmation may wait for five minutes. */
const callMs = 310_000;

/** The fields of the answers that the demo shows. */
const Answer = Issue.partial().extend({ items: z.array(Issue).default([]) });
type Answer = z.infer<typeof Answer>;

type Answered = "accept" | "decline";

export interface AgentOptions {
  readonly url: string;
  /** The token of the user whom the agent works for. */
  readonly token: string;
  /** Shows to the server as the name of the client program. */
  readonly name?: string;
  /** Answers the questions that the server asks the user. Left out: a program that cannot ask its user. */
  readonly onQuestion?: (question: string) => Answered | Promise<Answered>;
}

export class DemoAgent {
  readonly #updates = new EventEmitter();
  readonly #client: Client;

  private constructor({ name = "tracker-demo", onQuestion }: AgentOptions) {
    this.#client = new Client(
      { name, version: "1.0.0" },
      {
        capabilities: onQuestion === undefined ? {} : { elicitation: {} },
        versionNegotiation: { mode: { pin: "2026-07-28" } },
      },
    );
    this.#client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      this.#updates.emit(params.uri);
    });
    if (onQuestion === undefined) return;
    this.#client.setRequestHandler("elicitation/create", async ({ params }) => {
      const action = await onQuestion(params.message);
      return action === "accept" ? { action, content: {} } : { action };
    });
  }

  static async connect(options: AgentOptions): Promise<DemoAgent> {
    const { url, token } = options;
    const agent = new DemoAgent(options);
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
    const { isError, content, structuredContent } = await this.#client.callTool(
      { name, arguments: args },
      { timeout: callMs },
    );
    if (isError === true) throw new Error(content.map((block) => ("text" in block ? block.text : "")).join(" "));
    return Answer.parse(structuredContent);
  }

  /** Calls a tool that may be refused. Returns the reason; `undefined` if it was not. */
  async refusal(name: string, args: Record<string, unknown>): Promise<string | undefined> {
    try {
      await this.call(name, args);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
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
