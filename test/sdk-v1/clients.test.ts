import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { matrix, type MatrixClient } from "../matrix/matrix-client.ts";
import { createDesk } from "./desk-app.ts";
import { serveSessions, type HttpSessions } from "./http-sessions.ts";

const patience = { timeout: 10_000 };
const legacyOnes = matrix.filter(({ name }) => name === "SDK 1.x" || name === "SDK 2.x, legacy");

describe.each(legacyOnes)(
  "$name over stdio, with a server of the SDK 1.x",
  { timeout: 30_000 },
  ({ connect, notFound }) => {
    let script = "";
    let client: MatrixClient;
    beforeAll(async () => {
      script = await bundleScript(new URL("stdio-server.ts", import.meta.url), "sdk-v1-desk");
      client = await connect(script);
    });
    afterAll(() => client.close());

    it("is greeted by the server in the server's own words", () => {
      expect(client.getServerVersion()).toMatchObject({ name: "desk", version: "1.0.0" });
      expect(client.getInstructions()).toBe("Keep it tidy");
      expect(client.announcesList()).toBe(false);
    });

    it("lists, calls and reads, with structured output that it validates", async () => {
      const { tools } = await client.listTools();
      expect([tools].flat().map((tool) => Reflect.get(Object(tool), "name"))).toEqual([
        "erase",
        "erase_now",
        "follow",
        "greet",
        "hurried",
        "late",
        "locate",
        "note",
        "raise",
        "steps",
        "write",
      ]);
      expect(await client.callTool({ name: "raise", arguments: { by: 2 } })).toMatchObject({
        structuredContent: { count: 2 },
        content: [{ type: "text", text: '{"count":2}' }],
      });
      expect(await client.readResource({ uri: "desk://count" })).toMatchObject({ contents: [{ text: "2" }] });
    });

    it("receives errors in our own text, once", async () => {
      const refused = await client.callTool({ name: "nope" }).catch((cause: unknown) => cause);
      expect(refused).toMatchObject({ code: -32602 });
      expect(String(Reflect.get(Object(refused), "message")).match(/MCP error/g)?.length ?? 0).toBeLessThanOrEqual(1);
      await expect(client.readResource({ uri: "desk://nope" })).rejects.toMatchObject({ code: notFound });
    });

    it("hears of changes and of progress", async () => {
      const heard: string[] = [];
      const stop = await client.watchUris(["desk://count"], (uri) => void heard.push(uri));
      await client.callTool({ name: "raise", arguments: { by: 1 } });
      await expect.poll(() => heard, patience).toEqual(["desk://count"]);
      await stop();
      const steps = async (): Promise<readonly number[]> => {
        const reports: number[] = [];
        await client.callTool({ name: "steps" }, { onprogress: ({ progress }) => void reports.push(progress) });
        return reports;
      };
      // A client drops a report that it reads in one piece with the result, as on a busy machine.
      await expect.poll(steps).toEqual([1, 2, 3]);
    });
  },
);

/** What is asked of a client over HTTP, of either SDK. */
interface SessionClient {
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  /** Subscribes to a URI. */
  subscribe(uri: string): Promise<unknown>;
  listResources(): Promise<unknown>;
  /** Ends the session, as a client does that leaves in order. */
  leave(): Promise<void>;
}

type Connect = (url: string, heard: string[]) => Promise<SessionClient>;

const info = { name: "clients", version: "1" };
const capabilities = { elicitation: {}, roots: {} };
const accept = { action: "accept" as const, content: { name: "Ann" } };
const roots = { roots: [{ uri: "file:///a" }] };

const connectV1: Connect = async (url, heard) => {
  const client = new LegacySdkClient(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async () => accept);
  client.setRequestHandler(ListRootsRequestSchema, async () => roots);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void heard.push("list"));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return {
    callTool: (params) => client.callTool(params),
    subscribe: (uri) => client.subscribeResource({ uri }),
    listResources: () => client.listResources(),
    async leave() {
      await transport.terminateSession();
      await client.close();
    },
  };
};

const connectV2: Connect = async (url, heard) => {
  const client = new ModernSdkClient(info, { capabilities, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("elicitation/create", async () => accept);
  client.setRequestHandler("roots/list", async () => roots);
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("list"));
  const transport = new ModernTransport(new URL(url));
  await client.connect(transport);
  expect(client.getProtocolEra()).toBe("legacy");
  return {
    callTool: (params) => client.callTool(params),
    subscribe: (uri) => client.subscribeResource({ uri }),
    listResources: () => client.listResources(),
    async leave() {
      await transport.terminateSession();
      await client.close();
    },
  };
};

describe.each([
  ["SDK 1.x", connectV1],
  ["SDK 2.x, which finds that it is legacy", connectV2],
] as const)("%s over HTTP, with a server of the SDK 1.x a session", { timeout: 30_000 }, (_name, connect) => {
  let desk: ReturnType<typeof createDesk>;
  let server: HttpSessions;
  beforeEach(async () => {
    desk = createDesk();
    server = await serveSessions(desk.app);
  });
  afterEach(() => server.close());

  it("shares one application with other clients, and receives their changes", async () => {
    const [heard, others]: [string[], string[]] = [[], []];
    const [one, two] = [await connect(server.url, heard), await connect(server.url, others)];
    await one.subscribe("desk://count");
    expect(await two.callTool({ name: "raise", arguments: { by: 3 } })).toMatchObject({
      structuredContent: { count: 3 },
    });
    await expect.poll(() => heard, patience).toEqual(["desk://count"]);
    await two.leave();
    expect(await one.callTool({ name: "raise", arguments: { by: 1 } })).toMatchObject({
      structuredContent: { count: 4 },
    });
    expect(others).toEqual([]);
    await one.leave();
    await expect.poll(() => server.sessions.size, patience).toBe(0);
  });

  it("is asked on its own session, by its own calls", async () => {
    const client = await connect(server.url, []);
    expect(await client.callTool({ name: "greet" })).toMatchObject({ structuredContent: { said: "Ann" } });
    expect(await client.callTool({ name: "locate" })).toMatchObject({ structuredContent: { roots: ["file:///a"] } });
    expect(await client.callTool({ name: "write" })).toMatchObject({ isError: true });
    expect(desk.seen.failures).toEqual(["CLIENT_CANNOT"]);
    await client.leave();
  });
});
