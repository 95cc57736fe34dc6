import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";

/** One thing that an agent may touch, as the server lists it. */
export interface Touchable {
  readonly kind: "tool" | "resource" | "template";
  /** A tool's name, a resource's URI, a template's URI with its variables. */
  readonly name: string;
  readonly description: string;
  /** Whether using it may change something. */
  readonly mutates: boolean;
}

/** What came of a tool call: an answer, or the words in which the server said no, and the code they begin with. */
export type Answer<TValue> =
  | { readonly ok: true; readonly value: TValue }
  | { readonly ok: false; readonly refusal: string; readonly code: string };

/** A tool call. */
export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Ends a call that waits. */
  readonly signal?: AbortSignal;
}

/** What this agent needs of an MCP client: what comes back is checked before anybody decides upon it. */
export interface McpSession {
  list(): Promise<readonly Touchable[]>;
  /** Calls a tool, and again for a while where the server says that nothing was sent, since nobody was there. */
  call<TValue>(call: ToolCall, answer: z.ZodType<TValue>): Promise<Answer<TValue>>;
  read<TValue>(uri: string, content: z.ZodType<TValue>): Promise<TValue>;
}

const TextContent = z.object({ text: z.string() });
/** The one refusal that asks for the same call again. */
const NOT_SENT = "UNAVAILABLE";
/** Half a minute in all: on a busy machine, as long as the coordinator takes to start. */
const MOST_CALLS = 120;
const PAUSE_MS = 250;

/** Makes a session over a connected client, which stays its caller's to close. */
export function createMcpSession(client: Client): McpSession {
  return {
    list: async () => [...(await listTools(client)), ...(await listResources(client))],
    async call(call, schema) {
      for (let calls = 1; ; calls += 1) {
        const answer = await callTool(client, call, schema);
        if (answer.ok || answer.code !== NOT_SENT || calls >= MOST_CALLS) return answer;
        await delay(PAUSE_MS);
      }
    },
    async read(uri, content) {
      const { contents } = await client.readResource({ uri });
      return content.parse(JSON.parse(TextContent.parse(contents[0]).text));
    },
  };
}

async function callTool<TValue>(
  client: Client,
  { name, args, signal }: ToolCall,
  answer: z.ZodType<TValue>,
): Promise<Answer<TValue>> {
  const result = await client.callTool({ name, arguments: { ...args } }, signal ? { signal } : {});
  if (result.isError !== true) return { ok: true, value: answer.parse(result.structuredContent) };
  const texts = result.content.map((block) => TextContent.safeParse(block).data?.text ?? "");
  const refusal = texts.join(" ").trim();
  return { ok: false, refusal, code: /^[A-Z_]+(?=:)/.exec(refusal)?.[0] ?? "" };
}

async function listTools(client: Client): Promise<readonly Touchable[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name, description = "", annotations }) => ({
    kind: "tool",
    name,
    description,
    mutates: annotations?.readOnlyHint !== true,
  }));
}

async function listResources(client: Client): Promise<readonly Touchable[]> {
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  return [
    ...resources.map(({ uri, description = "" }) => ({
      kind: "resource" as const,
      name: uri,
      description,
      mutates: false,
    })),
    ...resourceTemplates.map(({ uriTemplate, description = "" }) => ({
      kind: "template" as const,
      name: uriTemplate,
      description,
      mutates: false,
    })),
  ];
}
