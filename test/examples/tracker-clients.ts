import { Client as ModernSdkClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { atEndOfTest } from "../setup/end-of-test.ts";

type Params = Readonly<Record<string, unknown>>;

/** How a client signs in, and how its user answers. */
export interface AgentSetup {
  readonly url: string;
  readonly token: string;
  /** Answers a question. Without it the client has no user. */
  readonly answer?: (question: string) => "accept" | "decline";
}

/** The part of a client that both SDKs have. */
interface SdkClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<Params>;
  readResource(params: { uri: string }): Promise<{ readonly contents: readonly Params[] }>;
  /** Subscribes in the way of the protocol version. */
  watch(uri: string, updated: () => void): Promise<unknown>;
  close(): Promise<void>;
}

/** A tool result: the structured value, or the text of a refusal. */
export interface Result {
  readonly isError: boolean;
  readonly text: string;
  readonly value: unknown;
}

/** An agent of one user. It is closed at the end of the test. */
export class TestAgent {
  readonly #client: SdkClient;

  constructor(client: SdkClient) {
    this.#client = client;
    atEndOfTest(() => client.close());
  }

  async tools(): Promise<readonly string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  async resources(): Promise<readonly string[]> {
    return (await this.#client.listResources()).resources.map(({ uri }) => uri);
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Result> {
    const { isError, content, structuredContent } = await this.#client.callTool({ name, arguments: args });
    const texts = [content].flat().map((block) => String(Reflect.get(Object(block), "text")));
    return { isError: isError === true, text: texts.join("\n"), value: structuredContent };
  }

  async read(uri: string): Promise<unknown> {
    const { contents } = await this.#client.readResource({ uri });
    return JSON.parse(String(contents[0]?.["text"]));
  }

  /** Subscribes to a resource. `changed` counts its notifications. */
  async watch(uri: string): Promise<{ changed: number }> {
    const seen = { changed: 0 };
    await this.#client.watch(uri, () => void (seen.changed += 1));
    return seen;
  }
}

const info = { name: "tracker-test", version: "1.0.0" };

function optionsOf({ url, token, answer }: AgentSetup) {
  return {
    url: new URL(url),
    transport: { requestInit: { headers: { authorization: `Bearer ${token}` } } },
    capabilities: answer === undefined ? {} : { elicitation: {} },
  };
}

async function connectV1(setup: AgentSetup): Promise<TestAgent> {
  const { url, transport, capabilities } = optionsOf(setup);
  const client = new LegacySdkClient(info, { capabilities });
  const { answer } = setup;
  if (answer !== undefined)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: answer(params.message), content: {} }));
  await client.connect(new LegacySdkTransport(url, transport));
  return new TestAgent({
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    callTool: (params) => client.callTool(params),
    readResource: (params) => client.readResource(params),
    watch: (uri, updated) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, updated);
      return client.subscribeResource({ uri });
    },
    close: () => client.close(),
  });
}

function connectV2(mode: "legacy" | { readonly pin: string }) {
  return async (setup: AgentSetup): Promise<TestAgent> => {
    const { url, transport, capabilities } = optionsOf(setup);
    const client = new ModernSdkClient(info, { capabilities, versionNegotiation: { mode } });
    const { answer } = setup;
    if (answer !== undefined)
      client.setRequestHandler("elicitation/create", ({ params }) => ({ action: answer(params.message), content: {} }));
    await client.connect(new StreamableHTTPClientTransport(url, transport));
    return new TestAgent({
      listTools: () => client.listTools(),
      listResources: () => client.listResources(),
      callTool: (params) => client.callTool(params),
      readResource: (params) => client.readResource(params),
      watch: (uri, updated) => {
        client.setNotificationHandler("notifications/resources/updated", updated);
        return mode === "legacy" ? client.subscribeResource({ uri }) : client.listen({ resourceSubscriptions: [uri] });
      },
      close: () => client.close(),
    });
  };
}

/** Both SDKs, in each protocol version that they speak. */
export const agents = [
  { name: "SDK 1.x", connect: connectV1 },
  { name: "SDK 2.x up to 2025-11-25", connect: connectV2("legacy") },
  { name: "SDK 2.x from 2026-07-28", connect: connectV2({ pin: "2026-07-28" }) },
];
