import { Client, type McpSubscription } from "@modelcontextprotocol/client";
import type { McpServerProcess } from "./mcp-server-process.ts";
import { watchedUris } from "./surface.ts";
import { readResource, View } from "./view.ts";

type Transport = Parameters<Client["connect"]>[0];

/** How many subscriptions the URIs are spread over. */
const groupCount = 10;

/** A bound on a hang: a subscription is acknowledged within about a second, also while there is no backend. */
const openMs = 15_000;

/** The transport of an SDK client over a pipe that others use too. */
function toTransport(face: McpServerProcess): Transport {
  const transport: Transport = {
    start: async () => {
      // What comes over the pipe is what the client expects, or it will say so.
      face.onEnd = () => transport.onclose?.();
      face.onMessage = (message) =>
        transport.onmessage?.(message as Parameters<NonNullable<typeof transport.onmessage>>[0]);
    },
    send: async (message) => face.send(message),
    close: async () => transport.onclose?.(),
  };
  return transport;
}

/**
 * The SDK's own client, subscribed to every watched URI, over ten subscriptions. It reads a URI when it is told that it
 * has changed, as a client would.
 */
export class Subscriber {
  readonly views: ReadonlyMap<string, View>;
  /** What went wrong with subscriptions, which never should. */
  readonly faults: string[] = [];
  readonly #client = new Client(
    { name: "chaos", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  readonly #face: McpServerProcess;
  readonly #subscriptions: (McpSubscription | undefined)[] = [];

  constructor(face: McpServerProcess) {
    this.#face = face;
    this.views = new Map(watchedUris.map((uri) => [uri, new View(uri, uri, () => readResource(face, uri))]));
    this.#client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      this.views.get(params.uri)?.announce();
    });
  }

  /** Connects, and subscribes to everything. */
  async open(): Promise<void> {
    await this.#client.connect(toTransport(this.#face));
    await Promise.all(Array.from({ length: groupCount }, (_, group) => this.#subscribe(group)));
  }

  /** Ends one of the subscriptions and opens it anew. Never rejects. */
  async reopen(group: number): Promise<void> {
    const index = group % groupCount;
    const former = this.#subscriptions[index];
    this.#subscriptions[index] = undefined;
    try {
      await former?.close();
      await this.#subscribe(index);
    } catch (cause) {
      this.faults.push(`subscription ${index} cannot be opened anew: ${String(cause)}`);
    }
  }

  async #subscribe(group: number): Promise<void> {
    const uris = watchedUris.filter((_, index) => index % groupCount === group);
    const subscription = await this.#client.listen({ resourceSubscriptions: [...uris] }, { timeout: openMs });
    this.#subscriptions[group] = subscription;
    void subscription.closed.then((why) => {
      if (why !== "local" && this.#face.isAlive) this.faults.push(`the server ended subscription ${group}: ${why}`);
    });
    const { resourceSubscriptions: honoured = [] } = subscription.honoredFilter;
    if (honoured.length < uris.length)
      this.faults.push(`the server honours ${honoured.join(", ")} of ${uris.join(", ")}`);
    for (const uri of uris) this.views.get(uri)?.join();
  }
}
