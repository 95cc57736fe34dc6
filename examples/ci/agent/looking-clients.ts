import { Client as ModernSdkClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

/** A call of a tool that waits. */
export interface Wait {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Told that it goes on. */
  readonly onprogress: () => void;
}

/** What somebody who looks on needs of an MCP client, whose ever it is. */
export interface LookingClient {
  /** Which client it is, and as what it is served. */
  readonly title: string;
  /** Lists resources, and finds the one whose URI ends like this. */
  find(end: string): Promise<string | undefined>;
  watch(uri: string, changed: () => void): Promise<void>;
  read(uri: string): Promise<unknown>;
  /** Calls a tool with a progress token; the answer is for the caller to look at. */
  wait(call: Wait): Promise<unknown>;
  close(): Promise<void>;
}

const info = { name: "ci-onlooker", version: "1.0.0" };
const legacy = "era up to 2025-11-25, a session";

async function connectV1(url: string): Promise<LookingClient> {
  const client = new LegacySdkClient(info);
  await client.connect(new LegacySdkTransport(new URL(url)));
  return {
    title: `SDK 1.x, ${legacy}`,
    find: async (end) => (await client.listResources()).resources.find(({ uri }) => uri.endsWith(end))?.uri,
    async watch(uri, changed) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => changed());
      await client.subscribeResource({ uri });
    },
    read: async (uri) => (await client.readResource({ uri })).contents[0],
    wait: ({ name, args, ...options }) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { ...options, ...patience }),
    close: () => client.close(),
  };
}

async function connectV2(url: string): Promise<LookingClient> {
  const client = new ModernSdkClient(info, { versionNegotiation: { mode: "legacy" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    title: `SDK 2.x, ${legacy}`,
    find: async (end) => (await client.listResources()).resources.find(({ uri }) => uri.endsWith(end))?.uri,
    async watch(uri, changed) {
      client.setNotificationHandler("notifications/resources/updated", () => changed());
      await client.subscribeResource({ uri });
    },
    read: async (uri) => (await client.readResource({ uri })).contents[0],
    wait: ({ name, args, ...options }) =>
      client.callTool({ name, arguments: { ...args } }, { ...options, ...patience }),
    close: () => client.close(),
  };
}

/** A wait is as long as the server's, and each word of it says that it goes on. */
const patience = { timeout: 90_000, resetTimeoutOnProgress: true } as const;

/** Connects a client of the earlier era with each SDK. Whoever called it closes them. */
export function connectLookers(url: string): Promise<readonly LookingClient[]> {
  return Promise.all([connectV1(url), connectV2(url)]);
}
