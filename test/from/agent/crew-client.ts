import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernHttpTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdioTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

type Params = Readonly<Record<string, unknown>>;

/** A report of progress, as it came. */
export interface Told {
  readonly progress: number;
  readonly message?: string | undefined;
  readonly _meta?: Params | undefined;
}

/** The part of a client that both SDKs have. Its model writes "a rose", and its user agrees. */
export interface CrewClient {
  callTool(
    name: string,
    args?: Params,
    options?: { readonly signal?: AbortSignal; readonly onprogress?: (told: Told) => void },
  ): Promise<Params>;
  /** What came in since it was asked last: the params of each notification, or `"result"`. */
  heard(): readonly unknown[];
  close(): Promise<void>;
}

/** Where a server is: a script, or a URL. */
export interface CrewEnd {
  readonly script?: string;
  readonly url?: string;
}

export interface CrewEntry {
  readonly name: string;
  readonly connect: (end: CrewEnd) => Promise<CrewClient>;
}

const info = { name: "crew", version: "1" };
const capabilities = { sampling: {}, elicitation: {} };
const sampled = { model: "echo-1", role: "assistant" as const, content: { type: "text" as const, text: "a rose" } };
const agreed = { action: "accept" as const, content: { title: "A rose" } };

interface Heard {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** Notes what comes in, before a client sees it. */
function listenTo(transport: Heard): () => readonly unknown[] {
  const heard: unknown[] = [];
  const { onmessage } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK, which is no event target
  transport.onmessage = (message: object, extra) => {
    heard.push("params" in message ? message.params : "result");
    // It goes to whom it came from the SDK for.
    onmessage?.(message as never, extra);
  };
  return () => heard.splice(0);
}

async function connectV1({ script, url }: CrewEnd): Promise<CrewClient> {
  const client = new LegacySdkClient(info, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ElicitRequestSchema, () => agreed);
  const transport =
    script === undefined
      ? new LegacyHttpTransport(new URL(url ?? ""))
      : new LegacyStdioTransport({ command: process.execPath, args: [script], stderr: "ignore" });
  await client.connect(transport);
  return {
    heard: listenTo(transport),
    callTool: (name, args = {}, options) => client.callTool({ name, arguments: { ...args } }, undefined, options),
    close: () => client.close(),
  };
}

function connectV2(mode: "legacy" | { readonly pin: string }): CrewEntry["connect"] {
  return async ({ script, url }) => {
    const client = new ModernSdkClient(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("sampling/createMessage", () => sampled);
    client.setRequestHandler("elicitation/create", () => agreed);
    const transport =
      script === undefined
        ? new ModernHttpTransport(new URL(url ?? ""))
        : new ModernStdioTransport({ command: process.execPath, args: [script], stderr: "ignore" });
    await client.connect(transport);
    return {
      heard: listenTo(transport),
      callTool: (name, args = {}, options) => client.callTool({ name, arguments: { ...args } }, options),
      close: () => client.close(),
    };
  };
}

/** Every client and way of negotiating. */
export const crewClients: readonly CrewEntry[] = [
  { name: "SDK 1.x", connect: connectV1 },
  { name: "SDK 2.x, legacy", connect: connectV2("legacy") },
  { name: "SDK 2.x, modern", connect: connectV2({ pin: "2026-07-28" }) },
];
