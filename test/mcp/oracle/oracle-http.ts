import { createMcpHandler } from "@modelcontextprotocol/server";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { withClient } from "../../../src/mcp/envelope.ts";
import { handshake } from "../../fixtures/envelope.ts";
import type { RpcMessage } from "./sdk-errors.ts";
import { SdkErrors } from "./sdk-errors.ts";
import { createSdkServer } from "./sdk-server.ts";

/** An app over HTTP by the SDK, which serves clients up to 2025-11-25 without sessions. Whoever opened it closes it. */
export class OracleHttp {
  readonly #runtime: AppRuntime;
  readonly #caller: Caller;

  constructor(runtime: AppRuntime, caller: Caller = anonymous) {
    this.#runtime = runtime;
    this.#caller = withClient(caller, handshake.clientInfo);
  }

  /** Answers one request; the response may be a stream that does not end. */
  open(request: Request, errors = new SdkErrors()): Promise<Response> {
    const runtime = this.#runtime;
    const caller = this.#caller;
    const handler = createMcpHandler(({ era }) => createSdkServer({ runtime, era, errors, caller }), {
      keepAliveMs: 0,
    });
    return handler.fetch(request);
  }

  /** Answers one request. */
  async fetch(request: Request): Promise<{ status: number; type: string | null; messages: readonly RpcMessage[] }> {
    const errors = new SdkErrors();
    // Tests send JSON-RPC messages only.
    errors.handed((await request.clone().json()) as RpcMessage);
    const response = await this.open(request, errors);
    const messages = readMessages(await response.text()).map((message) => errors.toClient(message));
    return { status: response.status, type: response.headers.get("content-type"), messages };
  }

  close(): Promise<void> {
    return this.#runtime.close();
  }
}

/** Returns the messages of a response body: one, or one for each event of a stream. */
export function readMessages(text: string): readonly RpcMessage[] {
  if (text.startsWith("{")) return [JSON.parse(text)];
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice(6)));
}
