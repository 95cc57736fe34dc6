import { Client as ModernSdkClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacySdkTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** What came of a call: an answer, or the words in which it was refused. */
export type Reply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly words: string };

/** An agent who came by a view, with a client of somebody else's. Whoever connected it closes it. */
export interface Visitor {
  readonly name: string;
  /** Which client it is, and as what it is served. */
  readonly title: string;
  readonly instructions: string | undefined;
  /** How often it was told that its tools are others. */
  readonly told: number;
  tools(): Promise<readonly string[]>;
  resources(): Promise<readonly string[]>;
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Reply>;
  close(): Promise<void>;
}

/** Who comes, and by which address. */
export interface Visit {
  readonly name: string;
  readonly url: URL;
}

/** The part of a client that is the same in both. */
interface Connected {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

const info = { name: "ci-visitor", version: "1.0.0" };
const Result = z.object({
  isError: z.boolean().default(false),
  structuredContent: z.unknown(),
  content: z.array(z.object({ text: z.string().default("") })),
});

async function tryCall(client: Connected, name: string, args: Readonly<Record<string, unknown>>): Promise<Reply> {
  try {
    const { isError, structuredContent, content } = Result.parse(
      await client.callTool({ name, arguments: { ...args } }),
    );
    if (!isError) return { ok: true, value: structuredContent };
    return { ok: false, words: content.map(({ text }) => text).join(" ") };
  } catch (error) {
    return { ok: false, words: error instanceof Error ? error.message : String(error) };
  }
}

/** How often something was told. */
class Bell {
  count = 0;
  readonly ring = (): void => void (this.count += 1);
}

function toVisitor(client: Connected, bell: Bell, { name, title }: { name: string; title: string }): Visitor {
  return {
    name,
    title,
    instructions: client.getInstructions(),
    get told() {
      return bell.count;
    },
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    call: (tool, args = {}) => tryCall(client, tool, args),
    close: () => client.close(),
  };
}

/** By SDK 1.x, with a session. */
export async function visitByV1({ name, url }: Visit): Promise<Visitor> {
  const client = new LegacySdkClient(info);
  const bell = new Bell();
  client.setNotificationHandler(ToolListChangedNotificationSchema, bell.ring);
  await client.connect(new LegacySdkTransport(url));
  return toVisitor(client, bell, { name, title: "SDK 1.x, era up to 2025-11-25, a session" });
}

/** By SDK 2.x, with a session, as its clients do where a server knows no later era. */
export async function visitByV2Session({ name, url }: Visit): Promise<Visitor> {
  const client = new ModernSdkClient(info, { versionNegotiation: { mode: "legacy" } });
  const bell = new Bell();
  client.setNotificationHandler("notifications/tools/list_changed", bell.ring);
  await client.connect(new StreamableHTTPClientTransport(url));
  return toVisitor(client, bell, { name, title: "SDK 2.x, era up to 2025-11-25, a session" });
}

/** By SDK 2.x, where each request stands alone. */
export async function visitByV2({ name, url }: Visit): Promise<Visitor> {
  const client = new ModernSdkClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const bell = new Bell();
  client.setNotificationHandler("notifications/tools/list_changed", bell.ring);
  await client.connect(new StreamableHTTPClientTransport(url));
  // Told only where the server says that its tools may be others one day; those of a gateway are not.
  if (client.getServerCapabilities()?.tools?.listChanged === true) await client.listen({ toolsListChanged: true });
  return toVisitor(client, bell, { name, title: "SDK 2.x, era 2026-07-28, no session" });
}
