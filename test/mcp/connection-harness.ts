import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { McpConnection } from "../../src/mcp/mcp-connection.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { ClientHarness, type Sent } from "./client-harness.ts";

export type { Sent } from "./client-harness.ts";

/** A gate without a transport. Whoever opened it closes it. */
export class ConnectionHarness extends ClientHarness {
  readonly gate: McpConnection;
  /** Called within each message of the server, as an output that fills up is. */
  onNext: (() => void) | undefined;
  readonly #runtime: AppRuntime;

  constructor(runtime: AppRuntime, caller: Caller = anonymous) {
    super();
    this.#runtime = runtime;
    this.gate = new McpConnection({ runtime, caller, send: (json) => this.onSent(JSON.parse(json)) });
  }

  protected override onSent(message: Sent): void {
    super.onSent(message);
    this.onNext?.();
  }

  receive(line: string): void {
    this.gate.receive(line);
  }

  async close(): Promise<void> {
    this.gate.close();
    await this.#runtime.close();
  }
}
