import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { withClient } from "../../../src/mcp/envelope.ts";
import { handshake } from "../../fixtures/envelope.ts";
import { ClientHarness } from "../client-harness.ts";
import { SdkErrors } from "./sdk-errors.ts";
import { createSdkServer } from "./sdk-server.ts";

type Transport = NonNullable<NonNullable<Parameters<typeof serveStdio>[1]>["transport"]>;
type Message = Parameters<Transport["send"]>[0];

/** A connection that the SDK serves, with the handlers of an app. Whoever opened it closes it. */
export class OracleHarness extends ClientHarness {
  readonly #runtime: AppRuntime;
  readonly #errors: SdkErrors;
  readonly #transport: Transport;
  readonly #handle: ReturnType<typeof serveStdio>;
  readonly #subscribed = new Set<string>();
  #server: ReturnType<typeof createSdkServer> | undefined;

  constructor(runtime: AppRuntime, caller: Caller = anonymous) {
    super();
    this.#runtime = runtime;
    const errors = new SdkErrors();
    this.#errors = errors;
    const transport: Transport = {
      start: async () => {},
      close: async () => transport.onclose?.(),
      send: async (message) => this.onSent(JSON.parse(JSON.stringify(errors.toClient({ ...message })))),
    };
    this.#transport = transport;
    const named = withClient(caller, handshake.clientInfo);
    const subscribed = this.#subscribed;
    this.#handle = serveStdio(
      ({ era }) => (this.#server = createSdkServer({ runtime, era, errors, caller: named, subscribed })),
      { transport },
    );
  }

  receive(line: string): void {
    // Tests send it JSON-RPC messages only.
    const message = JSON.parse(line) as Message;
    this.#errors.handed({ ...message });
    this.#transport.onmessage?.(message);
  }

  /** Announces a change of a resource, as the SDK's documentation does, if the client has subscribed to it. */
  async announce(uri: string): Promise<void> {
    if (this.#subscribed.has(uri)) await this.#server?.sendResourceUpdated({ uri });
  }

  async close(): Promise<void> {
    await this.#handle.close();
    await this.#runtime.close();
  }
}
