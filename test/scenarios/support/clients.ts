import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernHttpTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdioTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

type Params = Readonly<Record<string, unknown>>;

/** A server that is there, and how it is reached. */
export interface HttpTarget {
  readonly url: string;
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
}

/** A server that is started for its client. */
export interface CommandTarget {
  readonly command: string;
  readonly args: readonly string[];
}

/** What an agent's host does with a server: as much of it as the scenarios need, the same for both SDKs. */
export interface Agent {
  tools(): Promise<readonly string[]>;
  /** The listing as it came. */
  toolListing(): Promise<Params>;
  call(name: string, args?: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Params>;
  resources(): Promise<readonly string[]>;
  read(uri: string): Promise<Params>;
  prompts(): Promise<readonly string[]>;
  prompt(name: string): Promise<Params>;
  complete(prompt: string, argument: string): Promise<Params>;
  instructions(): string | undefined;
  /** Whether it was told that the list of tools may become another. */
  announcesTools(): boolean;
  onTools(changed: () => void): Promise<unknown>;
  watch(uri: string, updated: () => void): Promise<unknown>;
  close(): Promise<void>;
}

/** A way of being a client. */
export interface AgentKind {
  readonly name: string;
  readonly era: "legacy" | "modern";
  readonly connect: (target: HttpTarget | CommandTarget) => Promise<Agent>;
}

const info = { name: "scenario", version: "1" };

function toNames(list: readonly { readonly name: string }[]): readonly string[] {
  return list.map(({ name }) => name);
}

function toHttp({ url, token, fetch }: HttpTarget): readonly [URL, { requestInit: RequestInit; fetch?: typeof fetch }] {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return [new URL(url), { requestInit: { headers }, ...(fetch === undefined ? {} : { fetch }) }];
}

async function connectV1(target: HttpTarget | CommandTarget): Promise<Agent> {
  const client = new LegacySdkClient(info);
  const transport =
    "url" in target
      ? new LegacyHttpTransport(...toHttp(target))
      : new LegacyStdioTransport({ command: target.command, args: [...target.args], stderr: "ignore" });
  await client.connect(transport);
  return {
    tools: async () => toNames((await client.listTools()).tools),
    toolListing: () => client.listTools(),
    call: (name, args = {}, signal) =>
      client.callTool({ name, arguments: args }, undefined, signal === undefined ? {} : { signal }),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: (uri) => client.readResource({ uri }),
    prompts: async () => toNames((await client.listPrompts()).prompts),
    prompt: (name) => client.getPrompt({ name, arguments: { tone: "kind" } }),
    complete: (name, argument) =>
      client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value: "" } }),
    instructions: () => client.getInstructions(),
    announcesTools: () => client.getServerCapabilities()?.tools?.listChanged === true,
    onTools: async (changed) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed());
    },
    watch: (uri, updated) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => updated());
      return client.subscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

function connectV2(mode: "legacy" | { readonly pin: string }): AgentKind["connect"] {
  return async (target) => {
    const client = new ModernSdkClient(info, { versionNegotiation: { mode } });
    const transport =
      "url" in target
        ? new ModernHttpTransport(...toHttp(target))
        : new ModernStdioTransport({ command: target.command, args: [...target.args], stderr: "ignore" });
    await client.connect(transport);
    const isModern = mode !== "legacy";
    return {
      tools: async () => toNames((await client.listTools()).tools),
      toolListing: () => client.listTools(),
      call: (name, args = {}, signal) =>
        client.callTool({ name, arguments: args }, signal === undefined ? {} : { signal }),
      resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      read: (uri) => client.readResource({ uri }),
      prompts: async () => toNames((await client.listPrompts()).prompts),
      prompt: (name) => client.getPrompt({ name, arguments: { tone: "kind" } }),
      complete: (name, argument) =>
        client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value: "" } }),
      instructions: () => client.getInstructions(),
      announcesTools: () => client.getServerCapabilities()?.tools?.listChanged === true,
      onTools: async (changed) => {
        client.setNotificationHandler("notifications/tools/list_changed", () => changed());
        if (isModern) await client.listen({ toolsListChanged: true });
      },
      watch: async (uri, updated) => {
        client.setNotificationHandler("notifications/resources/updated", () => updated());
        if (!isModern) return client.subscribeResource({ uri });
        const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
        if (honoredFilter.resourceSubscriptions?.includes(uri) !== true) throw new Error(`"${uri}" is not honoured`);
        return undefined;
      },
      close: () => client.close(),
    };
  };
}

/** Every SDK and era. */
export const agentKinds: readonly AgentKind[] = [
  { name: "SDK 1.x", era: "legacy", connect: connectV1 },
  { name: "SDK 2.x, legacy", era: "legacy", connect: connectV2("legacy") },
  { name: "SDK 2.x, modern", era: "modern", connect: connectV2({ pin: "2026-07-28" }) },
];

/** What asking came to, with the name that was asked for taken out of it. */
export async function outcomeOf(asking: Promise<unknown>, said?: string): Promise<string> {
  const text = await asking.then(
    (answer) => JSON.stringify(answer),
    (cause: unknown) => `failed: ${String(cause)}`,
  );
  return said === undefined ? text : text.replaceAll(said, "…");
}

/** What such a client says of a server that refuses it: the modern one takes no version but its own, and tells nothing of why. */
export function refusalOf({ era }: AgentKind, why: RegExp): RegExp {
  return era === "modern" ? /^Version negotiation failed/ : why;
}
