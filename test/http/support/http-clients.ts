import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernSdkTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

type Params = Readonly<Record<string, unknown>>;

/** The part of a client over HTTP that both SDKs have. */
export interface HttpClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string; readonly _meta?: object | undefined }[] }>;
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    options?: { readonly signal?: AbortSignal; readonly onprogress?: (report: { progress: number }) => void },
  ): Promise<Params>;
  readResource(params: { uri: string }): Promise<Params>;
  /** Returns the extensions that the server has declared. */
  extensions(): unknown;
  /** Watches a URI in the way of its era. */
  watch(uri: string, updated: () => void): Promise<unknown>;
  /** Watches the list of tools in the way of its era. */
  watchTools(changed: () => void): Promise<unknown>;
  close(): Promise<void>;
}

/** Where a client goes, and by which `fetch`. */
export interface HttpEnd {
  readonly url: string;
  readonly fetch?: typeof globalThis.fetch;
  /** The extensions that the client declares, with their settings. @default none */
  readonly extensions?: Readonly<Record<string, Record<string, string[]>>>;
}

/** How a client is made. */
export interface HttpClientEntry {
  readonly name: string;
  readonly connect: (end: HttpEnd) => Promise<HttpClient>;
}

const info = { name: "http", version: "1" };

async function connectV1({ url, extensions, ...end }: HttpEnd): Promise<HttpClient> {
  const client = new LegacySdkClient(info, { capabilities: extensions === undefined ? {} : { extensions } });
  await client.connect(new LegacySdkTransport(new URL(url), end));
  return {
    listTools: () => client.listTools(),
    callTool: (params, options) => client.callTool(params, undefined, options),
    readResource: (params) => client.readResource(params),
    extensions: () => client.getServerCapabilities()?.extensions,
    watch: (uri, updated) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => updated());
      return client.subscribeResource({ uri });
    },
    watchTools: async (changed) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed());
    },
    close: () => client.close(),
  };
}

function connectV2(mode: "legacy" | "auto" | { readonly pin: string }): HttpClientEntry["connect"] {
  return async ({ url, extensions, ...options }) => {
    const capabilities = extensions === undefined ? {} : { extensions };
    const client = new ModernSdkClient(info, { versionNegotiation: { mode }, capabilities });
    await client.connect(new ModernSdkTransport(new URL(url), options));
    const era = mode === "legacy" ? "legacy" : "modern";
    if (client.getProtocolEra() !== era) throw new TypeError(`the era is "${client.getProtocolEra()}"`);
    return {
      listTools: () => client.listTools(),
      callTool: (params, more) => client.callTool(params, more),
      readResource: (params) => client.readResource(params),
      extensions: () => client.getServerCapabilities()?.extensions,
      watch: (uri, updated) => {
        client.setNotificationHandler("notifications/resources/updated", () => updated());
        return era === "legacy" ? client.subscribeResource({ uri }) : client.listen({ resourceSubscriptions: [uri] });
      },
      watchTools: async (changed) => {
        client.setNotificationHandler("notifications/tools/list_changed", () => changed());
        if (era === "modern") await client.listen({ toolsListChanged: true });
      },
      close: () => client.close(),
    };
  };
}

/** Every client and way of negotiating. */
export const httpClients: readonly HttpClientEntry[] = [
  { name: "SDK 1.x", connect: connectV1 },
  { name: "SDK 2.x, legacy", connect: connectV2("legacy") },
  { name: "SDK 2.x, auto", connect: connectV2("auto") },
  { name: "SDK 2.x, modern", connect: connectV2({ pin: "2026-07-28" }) },
];
