import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernSdkTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

type Params = Readonly<Record<string, unknown>>;
type Answer = (params: Params) => Promise<Params>;

/** How a client answers; what is left out it cannot be asked. */
export interface Answers {
  readonly elicit?: Answer;
  readonly sample?: Answer;
  readonly roots?: Answer;
}

/** The part of a client that both SDKs have. */
export interface AskedClient {
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    options?: { readonly signal?: AbortSignal },
  ): Promise<Params>;
  getPrompt(params: { name: string }): Promise<Params>;
  readResource(params: { uri: string }): Promise<Params>;
  close(): Promise<void>;
}

/** How a client is made. */
export interface AskedClientEntry {
  readonly name: string;
  readonly era: "legacy" | "modern";
  readonly connect: (url: string, answers: Answers) => Promise<AskedClient>;
}

const info = { name: "asked", version: "1" };

function toCapabilities({ elicit, sample, roots }: Answers): object {
  return {
    ...(elicit === undefined ? {} : { elicitation: {} }),
    ...(sample === undefined ? {} : { sampling: {} }),
    ...(roots === undefined ? {} : { roots: { listChanged: true } }),
  };
}

async function connectV1(url: string, answers: Answers): Promise<AskedClient> {
  const client = new LegacySdkClient(info, { capabilities: toCapabilities(answers) });
  const { elicit, sample, roots } = answers;
  if (elicit !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params));
  if (sample !== undefined) client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => sample(params));
  if (roots !== undefined) client.setRequestHandler(ListRootsRequestSchema, () => roots({}));
  await client.connect(new LegacySdkTransport(new URL(url)));
  return {
    callTool: (params, options) => client.callTool(params, undefined, options),
    getPrompt: (params) => client.getPrompt(params),
    readResource: (params) => client.readResource(params),
    close: () => client.close(),
  };
}

function connectV2(mode: "legacy" | { readonly pin: string }): AskedClientEntry["connect"] {
  return async (url, answers) => {
    const client = new ModernSdkClient(info, { capabilities: toCapabilities(answers), versionNegotiation: { mode } });
    const { elicit, sample, roots } = answers;
    // The tests answer as users and models do, and sometimes as they must not: what they give is any object.
    if (elicit !== undefined)
      client.setRequestHandler("elicitation/create", ({ params }) => elicit({ ...params }) as Promise<never>);
    // As above.
    if (sample !== undefined)
      client.setRequestHandler("sampling/createMessage", ({ params }) => sample({ ...params }) as Promise<never>);
    // As above.
    if (roots !== undefined) client.setRequestHandler("roots/list", () => roots({}) as Promise<never>);
    await client.connect(new ModernSdkTransport(new URL(url)));
    return {
      callTool: (params, more) => client.callTool(params, more),
      getPrompt: (params) => client.getPrompt(params),
      readResource: (params) => client.readResource(params),
      close: () => client.close(),
    };
  };
}

/** Every client, in every era that it speaks. */
export const askedClients: readonly AskedClientEntry[] = [
  { name: "SDK 1.x", era: "legacy", connect: connectV1 },
  { name: "SDK 2.x, legacy", era: "legacy", connect: connectV2("legacy") },
  { name: "SDK 2.x, modern", era: "modern", connect: connectV2({ pin: "2026-07-28" }) },
];
