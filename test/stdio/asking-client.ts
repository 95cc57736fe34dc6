import { Client as ModernSdkClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernSdkTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

type Params = Readonly<Record<string, unknown>>;

/** What somebody who fills in a form says. */
export interface Filled {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | boolean>;
}

/** What a client says to what it is asked. A message of the form tells which it is. */
export interface Answers {
  readonly fill: (message: string, signal: AbortSignal) => Filled | Promise<Filled>;
  /** The roots that it has now. */
  readonly roots: () => { uri: string }[];
}

/** The part of a client that these tests use, and that both SDKs have. */
export interface AskingClient {
  callTool(params: { name: string; arguments?: Record<string, unknown> }, signal?: AbortSignal): Promise<Params>;
  getPrompt(params: { name: string }): Promise<Params>;
  readResource(params: { uri: string }): Promise<Params>;
  rootsChanged(): Promise<void>;
  close(): Promise<void>;
}

const info = { name: "asked", version: "1" };
const written = { role: "assistant" as const, content: { type: "text" as const, text: "Once" }, model: "m" };

function commandFor({ script }: AskingClientSetting) {
  const args = [script];
  return { command: process.execPath, args, stderr: "ignore" as const };
}

interface Capabilities {
  elicitation?: { form?: Record<string, never> };
  sampling?: Record<string, never>;
  roots?: { listChanged?: boolean };
}

/** How a client is made: with which server, and what it can be asked. */
export interface AskingClientSetting {
  readonly script: string;
  readonly answers: Answers;
  readonly capabilities?: Capabilities;
}

const all: Capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

async function connectV1(setting: AskingClientSetting): Promise<AskingClient> {
  const { answers, capabilities = all } = setting;
  const client = new LegacySdkClient(info, { capabilities });
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
      ...(await answers.fill(params.message, signal)),
    }));
  }
  if (capabilities.sampling !== undefined) client.setRequestHandler(CreateMessageRequestSchema, () => written);
  if (capabilities.roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: answers.roots() }));
  }
  await client.connect(new LegacySdkTransport(commandFor(setting)));
  return {
    callTool: (params, signal) => client.callTool(params, undefined, signal === undefined ? {} : { signal }),
    getPrompt: (params) => client.getPrompt(params),
    readResource: (params) => client.readResource(params),
    rootsChanged: () => client.sendRootsListChanged(),
    close: () => client.close(),
  };
}

type Mode = "legacy" | { readonly pin: string };

function connectV2(mode: Mode): (setting: AskingClientSetting) => Promise<AskingClient> {
  return async (setting) => {
    const { answers, capabilities = all } = setting;
    const client = new ModernSdkClient(info, { capabilities, versionNegotiation: { mode } });
    if (capabilities.elicitation !== undefined) {
      client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => ({
        ...(await answers.fill(params.message, mcpReq.signal)),
      }));
    }
    if (capabilities.sampling !== undefined) client.setRequestHandler("sampling/createMessage", () => written);
    if (capabilities.roots !== undefined) {
      client.setRequestHandler("roots/list", () => ({ roots: answers.roots() }));
    }
    await client.connect(new ModernSdkTransport(commandFor(setting)));
    return {
      callTool: (params, signal) => client.callTool(params, signal === undefined ? {} : { signal }),
      getPrompt: (params) => client.getPrompt(params),
      readResource: (params) => client.readResource(params),
      rootsChanged: () => client.notification({ method: "notifications/roots/list_changed" }),
      close: () => client.close(),
    };
  };
}

/** Every client that can be asked, and the era that it speaks. */
export const askingClients = [
  { name: "SDK 1.x", era: "legacy", connect: connectV1 },
  { name: "SDK 2.x, legacy", era: "legacy", connect: connectV2("legacy") },
  { name: "SDK 2.x, modern", era: "modern", connect: connectV2({ pin: "2026-07-28" }) },
] as const;
