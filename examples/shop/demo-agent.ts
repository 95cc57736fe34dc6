/** An agent of one user, who agrees to every question: a client of the MCP SDK. */
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const options = { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } };

export class DemoAgent {
  /** The questions that the user was asked. */
  readonly questions: string[] = [];
  readonly #client = new Client({ name: "shop-demo", version: "1.0.0" }, options);
  readonly #updates = new EventTarget();

  static async connect(url: string, token: string): Promise<DemoAgent> {
    const agent = new DemoAgent();
    agent.#client.setRequestHandler("elicitation/create", ({ params }) => {
      agent.questions.push(params.message);
      return { action: "accept", content: {} };
    });
    agent.#client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      agent.#updates.dispatchEvent(new Event(params.uri));
    });
    const headers = { authorization: `Bearer ${token}` };
    await agent.#client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return agent;
  }

  /** Lists the names of all tools, and the URIs of all resources. */
  async list(): Promise<{ readonly tools: readonly string[]; readonly resources: readonly string[] }> {
    const [{ tools }, { resources }] = await Promise.all([this.#client.listTools(), this.#client.listResources()]);
    return { tools: tools.map(({ name }) => name), resources: resources.map(({ uri }) => uri) };
  }

  /** Calls a tool. @throws Error with the text that a model reads of a refusal. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
    const { isError, content, structuredContent } = await this.#client.callTool({ name, arguments: args });
    if (isError === true) throw new Error(content.map((block) => ("text" in block ? block.text : "")).join(" "));
    return structuredContent;
  }

  async read(uri: string): Promise<unknown> {
    const { contents } = await this.#client.readResource({ uri });
    return JSON.parse(contents.map((content) => ("text" in content ? content.text : "")).join(""));
  }

  /** Subscribes to a resource. The promise in the result resolves at the next change. */
  async watch(uri: string): Promise<{ readonly changed: Promise<unknown> }> {
    const changed = once(this.#updates, uri, { signal: AbortSignal.timeout(60_000) });
    await this.#client.listen({ resourceSubscriptions: [uri] });
    return { changed };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
