import { Client as ModernSdkClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernSdkTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** What is known of a tool call in both SDKs. */
export interface MatrixCallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (report: { progress: number; total?: number | undefined }) => void;
  readonly timeout?: number;
}

type Params = Readonly<Record<string, unknown>>;

interface CompleteParams {
  ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
  argument: { name: string; value: string };
  context?: { arguments: Record<string, string> };
}
type Page = Promise<Params & { readonly nextCursor?: string | undefined }>;

/** The part of a client that the suite uses, and that both SDKs have. Results are what went through their own schemas. */
export interface MatrixClient {
  listTools(params?: { cursor?: string }): Page;
  listResources(): Promise<Params>;
  listResourceTemplates(): Promise<Params>;
  readResource(params: { uri: string }): Promise<Params>;
  listPrompts(): Promise<Params>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<Params>;
  complete(params: CompleteParams): Promise<Params>;
  /** Asks for lines of the log from a level on, in the way of its era, where that is one of the connection. */
  setLoggingLevel(level: "debug" | "error"): Promise<unknown>;
  /** Is told the lines of the log. */
  onLog(heard: (line: Params) => void): void;
  callTool(params: { name: string; arguments?: Record<string, unknown> }, options?: MatrixCallOptions): Promise<Params>;
  /**
   * Watches URIs in the way of its era, all or none; what it returns ends that. In the modern era, which honours what it
   * can of a filter, a URI that is not honoured fails with the code of one that is unknown.
   */
  watchUris(uris: readonly string[], updated: (uri: string) => void): Promise<() => Promise<void>>;
  /** Is told whenever the list of resources has changed, in the way of its era; what it returns ends that, where it can. */
  watchList(changed: () => void): Promise<() => Promise<void>>;
  /** Whether the server has said that it tells of that. */
  announcesList(): boolean;
  getInstructions(): string | undefined;
  getServerVersion(): { name: string; version: string } | undefined;
  close(): Promise<void>;
}

/** How a client is made, and what its era calls things. */
export interface MatrixEntry {
  readonly name: string;
  /** What it makes of a resource that does not exist: in the legacy era SDK 2.x turns -32002 into its own -32602. */
  readonly notFound: number;
  readonly connect: (script: string, args?: readonly string[]) => Promise<MatrixClient>;
}

const info = { name: "matrix", version: "1" };

async function connectV1(script: string, args: readonly string[] = []): Promise<MatrixClient> {
  const client = new LegacySdkClient(info);
  await client.connect(
    new LegacySdkTransport({ command: process.execPath, args: [script, ...args], stderr: "ignore" }),
  );
  return {
    listTools: (params) => client.listTools(params),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (params) => client.readResource(params),
    listPrompts: () => client.listPrompts(),
    getPrompt: (params) => client.getPrompt(params),
    complete: (params) => client.complete(params),
    setLoggingLevel: (level) => client.setLoggingLevel(level),
    onLog: (heard) =>
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => heard({ ...params })),
    callTool: (params, options) => client.callTool(params, undefined, options),
    async watchUris(uris, updated) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updated(params.uri));
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    async watchList(changed) {
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => changed());
      return async () => {};
    },
    announcesList: () => client.getServerCapabilities()?.resources?.listChanged === true,
    getInstructions: () => client.getInstructions(),
    getServerVersion: () => client.getServerVersion(),
    close: () => client.close(),
  };
}

async function watchLegacy(client: ModernSdkClient, uris: readonly string[]): Promise<() => Promise<void>> {
  for (const uri of uris) await client.subscribeResource({ uri });
  return async () => {
    for (const uri of uris) await client.unsubscribeResource({ uri });
  };
}

async function watchModern(client: ModernSdkClient, uris: readonly string[]): Promise<() => Promise<void>> {
  const subscription = await client.listen({ resourceSubscriptions: [...uris] });
  const honoured = subscription.honoredFilter.resourceSubscriptions ?? [];
  if (uris.every((uri) => honoured.includes(uri))) return () => subscription.close();
  await subscription.close();
  throw Object.assign(new Error("Watching: not every URI is honoured"), { code: -32602 });
}

type Mode = "legacy" | "auto" | { readonly pin: string };

function connectV2(mode: Mode): MatrixEntry["connect"] {
  return async (script, args = []) => {
    const client = new ModernSdkClient(info, { versionNegotiation: { mode } });
    await client.connect(
      new ModernSdkTransport({ command: process.execPath, args: [script, ...args], stderr: "ignore" }),
    );
    const era = mode === "legacy" ? "legacy" : "modern";
    if (client.getProtocolEra() !== era) throw new Error(`Connecting: the era is "${client.getProtocolEra()}"`);
    const watch = era === "legacy" ? watchLegacy : watchModern;
    return Object.assign(client, {
      onLog: (heard: (line: Params) => void) =>
        client.setNotificationHandler("notifications/message", ({ params }) => heard({ ...params })),
      watchUris(uris: readonly string[], updated: (uri: string) => void) {
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => updated(params.uri));
        return watch(client, uris);
      },
      async watchList(changed: () => void) {
        client.setNotificationHandler("notifications/resources/list_changed", () => changed());
        if (era === "legacy") return async () => {};
        const subscription = await client.listen({ resourcesListChanged: true });
        return () => subscription.close();
      },
      announcesList: () => client.getServerCapabilities()?.resources?.listChanged === true,
    });
  };
}

/** Every client and way of negotiating. */
export const matrix: readonly MatrixEntry[] = [
  { name: "SDK 1.x", notFound: -32002, connect: connectV1 },
  { name: "SDK 2.x, legacy", notFound: -32602, connect: connectV2("legacy") },
  { name: "SDK 2.x, auto", notFound: -32602, connect: connectV2("auto") },
  { name: "SDK 2.x, modern", notFound: -32602, connect: connectV2({ pin: "2026-07-28" }) },
];
