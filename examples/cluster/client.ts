/** Clients of the cluster: one of each generation of the protocol. Both count what they were told. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

/** What the demo and the tests need of a client. */
export interface LedgerClient {
  /** Number of notifications so far. */
  readonly updates: number;
  /** Adds an entry. @throws if the answer was lost: the entry may have been added. */
  add(id: string, onProgress?: () => void): Promise<void>;
  /** Adds many entries slowly, in one call. */
  import(ids: readonly string[], onProgress: () => void): Promise<number>;
  count(): Promise<number>;
  close(): Promise<void>;
}

const uri = "surface://ledger/count";

interface Result {
  readonly isError?: boolean | undefined;
  readonly content: unknown;
  readonly structuredContent?: unknown;
}

function toCount({ isError, content, structuredContent }: Result): number {
  if (isError === true) throw new Error(JSON.stringify(content));
  // The output schema of both tools.
  return (structuredContent as { count: number }).count;
}

function toNumber({ contents }: { contents: readonly object[] }): number {
  const [content = {}] = contents;
  return Number("text" in content && content.text);
}

const headersOf = (user: string) => ({ requestInit: { headers: { authorization: `Bearer ${user}` } } });
const entriesOf = (ids: readonly string[]) => ids.map((id) => ({ id, text: `entry ${id}` }));

/** Connects a client of 2026-07-28. It has no session: each request goes to another replica. */
export async function connectModern(url: string, user: string): Promise<LedgerClient> {
  const client = new Client(
    { name: "modern", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  let updates = 0;
  const closing = new AbortController();
  client.setNotificationHandler("notifications/resources/updated", () => void (updates += 1));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), headersOf(user)));
  // Where its replica has died, a subscription is opened again on another one.
  const listen = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const subscription = await client.listen({ resourceSubscriptions: [uri] }).catch(() => undefined);
      await subscription?.closed;
      await new Promise((resolve) => setTimeout(resolve, 50));
      // What changed in between was not announced.
      updates += 1;
    }
  };
  void listen();
  return {
    get updates() {
      return updates;
    },
    add: async (id) => void toCount(await client.callTool({ name: "entry_add", arguments: { id, text: id } })),
    async import(ids, onProgress) {
      const call = { name: "entry_import", arguments: { entries: entriesOf(ids), pauseMs: 20 } };
      return toCount(await client.callTool(call, { onprogress: onProgress }));
    },
    count: async () => toNumber(await client.readResource({ uri })),
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

/** Connects a client of 2025-11-25. Its session is known to every replica. */
export async function connectLegacy(url: string, user: string): Promise<LedgerClient> {
  const client = new LegacyClient({ name: "legacy", version: "1.0.0" });
  let updates = 0;
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void (updates += 1));
  const reconnectionOptions = {
    initialReconnectionDelay: 50,
    maxReconnectionDelay: 500,
    reconnectionDelayGrowFactor: 2,
    maxRetries: 20,
  };
  await client.connect(new LegacyTransport(new URL(url), { ...headersOf(user), reconnectionOptions }));
  await client.subscribeResource({ uri });
  return {
    get updates() {
      return updates;
    },
    add: async (id) => {
      // The result of callTool() may also have the form of 2024.
      toCount((await client.callTool({ name: "entry_add", arguments: { id, text: id } })) as Result);
    },
    async import(ids, onProgress) {
      const call = { name: "entry_import", arguments: { entries: entriesOf(ids), pauseMs: 20 } };
      // As above.
      return toCount((await client.callTool(call, undefined, { onprogress: onProgress })) as Result);
    },
    count: async () => toNumber(await client.readResource({ uri })),
    close: () => client.close(),
  };
}
