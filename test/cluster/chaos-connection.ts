import { setTimeout as pause } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** Options of a connection. */
export interface ConnectionOptions {
  readonly url: string;
  /** The principal, and its token. */
  readonly user: string;
  /** The one resource that the client watches. */
  readonly uri: string;
  /** Receives each message of the server. */
  readonly onMessage: (message: unknown) => void;
  /** Called when notifications may have been missed, for a client that has to notice that by itself. */
  readonly onMissed: () => void;
}

/** A connected client of either generation of the protocol. */
export interface Connection {
  /** `undefined` from 2026-07-28 on. */
  readonly sessionId: string | undefined;
  call(name: string, args: Record<string, unknown>, onEventId: (id: string) => void): Promise<unknown>;
  read(): Promise<string>;
  close(): Promise<void>;
}

const headersOf = (user: string) => ({ requestInit: { headers: { authorization: `Bearer ${user}` } } });
/** Longer than everything that a run does to a request, and than the lease of a replica. */
const timeoutMs = 30_000;
/** A client of 2026-07-28 waits so long for the rest of a response that was cut: it cannot resume. */
const cutTimeoutMs = 10_000;
const onprogress = (): void => {};

function toText({ contents: [content] }: { contents: readonly object[] }): string {
  return content !== undefined && "text" in content ? String(content.text) : "null";
}

/** Connects a client of 2026-07-28. Each of its requests goes to another replica. */
export async function connectModern({ url, user, uri, onMessage, onMissed }: ConnectionOptions): Promise<Connection> {
  const versionNegotiation = { mode: { pin: "2026-07-28" } } as const;
  const client = new Client({ name: "modern", version: "1.0.0" }, { versionNegotiation });
  const closing = new AbortController();
  const transport = new StreamableHTTPClientTransport(new URL(url), headersOf(user));
  Object.assign(transport, { onmessage: onMessage });
  await client.connect(transport);
  const listen = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const subscription = await client.listen({ resourceSubscriptions: [uri] }).catch(() => undefined);
      if (subscription !== undefined) onMissed();
      await (subscription?.closed ?? pause(50));
    }
  };
  void listen();
  return {
    sessionId: undefined,
    call: (name, args) =>
      client.callTool({ name, arguments: args }, { onprogress, timeout: cutTimeoutMs, resetTimeoutOnProgress: true }),
    read: async () => toText(await client.readResource({ uri })),
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

/** Connects a client of 2025-11-25. Its session is known to every replica. */
export async function connectLegacy({ url, user, uri, onMessage }: ConnectionOptions): Promise<Connection> {
  const client = new LegacyClient({ name: "legacy", version: "1.0.0" });
  const reconnectionOptions = {
    initialReconnectionDelay: 50,
    maxReconnectionDelay: 500,
    reconnectionDelayGrowFactor: 2,
    maxRetries: 1000,
  };
  const transport = new LegacyTransport(new URL(url), { ...headersOf(user), reconnectionOptions });
  Object.assign(transport, { onmessage: onMessage });
  await client.connect(transport);
  await client.subscribeResource({ uri });
  return {
    get sessionId() {
      return transport.sessionId;
    },
    call: (name, args, onEventId) =>
      client.callTool({ name, arguments: args }, undefined, {
        onprogress,
        timeout: timeoutMs,
        onresumptiontoken: onEventId,
      }),
    read: async () => toText(await client.readResource({ uri })),
    close: () => client.close(),
  };
}
