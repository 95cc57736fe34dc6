import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { Gate } from "../../src/mcp/gate.ts";
import { connectSdkStdio } from "../../src/mcp/sdk-stdio-seam.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";

/** A message that a gate sent. */
export type Sent = Readonly<Record<string, unknown>>;

/** A gate without a transport. Whoever opened it closes it. */
export class GateHarness {
  readonly gate: Gate;
  readonly sent: Sent[] = [];
  readonly #runtime: AppRuntime;
  #listeners: (() => void)[] = [];

  constructor(runtime: AppRuntime, caller: Caller = anonymous) {
    this.#runtime = runtime;
    this.gate = new Gate({
      runtime,
      caller,
      connectSdk: connectSdkStdio,
      send: (json) => {
        this.sent.push(JSON.parse(json));
        for (const tell of this.#listeners.splice(0)) tell();
      },
    });
  }

  /** Waits until `done` holds; looks again at whatever is sent. A hang is for the test's own timeout. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  answers(id: unknown): readonly Sent[] {
    return this.sent.filter((message) => !("method" in message) && message["id"] === id);
  }

  /** Sends a request and waits for its answer. */
  async request(
    era: Era,
    id: number | string,
    ask: { readonly method: string; readonly params?: object },
  ): Promise<Sent> {
    const line = era === "modern" ? modernLine(id, ask.method, ask.params) : legacyLine(id, ask.method, ask.params);
    const before = this.answers(id).length;
    this.gate.receive(line);
    await this.until(() => this.answers(id).length > before);
    return this.answers(id).at(-1) ?? {};
  }

  /** Brings the connection to where requests of an era are served. */
  async open(era: Era): Promise<this> {
    if (era === "modern") await this.request(era, "open", { method: "server/discover" });
    else {
      await this.request(era, "open", { method: "initialize", params: handshake });
      this.gate.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    }
    this.sent.length = 0;
    return this;
  }

  async close(): Promise<void> {
    await this.gate.close();
    await this.#runtime.close();
  }
}
