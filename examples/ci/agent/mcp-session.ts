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

/** What came of a tool call: an answer, or the words in which the server said no. */
export type Answer<TValue> =
  | { readonly ok: true; readonly value: TValue }
  | { readonly ok: false; readonly refusal: string };

/** A tool call. */
export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Called with each sign of life while the call runs. */
  readonly onProgress?: () => void;
}

/** What this agent needs of an MCP client: what comes back is checked before anybody decides upon it. */
export interface McpSession {
  list(): Promise<readonly Touchable[]>;
  call<TValue>(call: ToolCall, answer: z.ZodType<TValue>): Promise<Answer<TValue>>;
  read<TValue>(uri: string, content: z.ZodType<TValue>): Promise<TValue>;
}

const TextContent = z.object({ text: z.string() });

/** Makes a session over a connected client, which stays its caller's to close. */
export function createMcpSession(client: Client): McpSession {
  return {
    list: async () => [...(await listTools(client)), ...(await listResources(client))],
    async call({ name, args, onProgress }, answer) {
      const result = await client.callTool(
        { name, arguments: { ...args } },
        onProgress ? { onprogress: onProgress, resetTimeoutOnProgress: true } : {},
      );
      if (result.isError !== true) return { ok: true, value: answer.parse(result.structuredContent) };
      const texts = result.content.map((block) => TextContent.safeParse(block).data?.text ?? "");
      return { ok: false, refusal: texts.join(" ").trim() };
    },
    async read(uri, content) {
      const { contents } = await client.readResource({ uri });
      return content.parse(JSON.parse(TextContent.parse(contents[0]).text));
    },
  };
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
