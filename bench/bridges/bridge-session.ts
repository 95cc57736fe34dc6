import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { z } from "zod";

/** A tool, as far as the comparison reads it. */
const Tool = z.looseObject({
  name: z.string(),
  annotations: z.looseObject({ readOnlyHint: z.boolean().optional() }).optional(),
  inputSchema: z.unknown().optional(),
  outputSchema: z.unknown().optional(),
});
const ToolList = z.object({ tools: z.array(Tool) });
const Result = z.looseObject({ isError: z.boolean().optional() });

/** A client of the SDK 1.x, and the process that serves a bridge to it. */
export class BridgeSession {
  readonly #client = new Client({ name: "comparison", version: "1.0.0" });
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Starts the process, and initializes. */
  async open(args: readonly string[]): Promise<void> {
    await this.#client.connect(
      new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }),
    );
  }

  /** Ends the process. */
  close(): Promise<void> {
    return this.#client.close();
  }

  /** Returns the tools, by names without the prefix, also if the client of the SDK rejects the list. */
  async list(): Promise<z.infer<typeof ToolList>["tools"]> {
    const { tools } = await this.#client.request({ method: "tools/list" }, ToolList);
    return tools.map((tool) => ({ ...tool, name: tool.name.replace(this.#prefix, "") }));
  }

  /** Returns an answer to the check of the list by the SDK's client. */
  async check(): Promise<string> {
    try {
      await this.#client.listTools();
      return "";
    } catch (error) {
      return String(error);
    }
  }

  /** Calls a tool, and returns the result or error as JSON text. */
  async call(name: string, args: object = {}, signal?: AbortSignal): Promise<string> {
    const params = { name: this.#prefix + name, arguments: args };
    try {
      return JSON.stringify(
        await this.#client.request({ method: "tools/call", params }, Result, signal === undefined ? {} : { signal }),
      );
    } catch (error) {
      return error instanceof Error ? `thrown: ${error.message}` : String(error);
    }
  }
}
