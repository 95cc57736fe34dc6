import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  bearer,
  httpHandler,
  type HttpHandler,
  type HttpHandlerOptions,
  type VerifiedToken,
} from "../../src/http/index.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource, type Caller } from "../../src/index.ts";
import { able } from "./asking/ask-harness.ts";
import { modernPost } from "./support/modern-post.ts";

const resource = "https://ci.example/mcp";
const surface = defineSurface("ci", { count: mcpResource(cell({ schema: z.number() })) });

/** Five callers, four of whom share an id; each is known by a token that says what they are. */
const tokens: Readonly<Record<string, Partial<VerifiedToken>>> = {
  red: { claims: { tenant: "red" } },
  blue: { claims: { tenant: "blue" } },
  cli: { claims: { tenant: "red" }, clientId: "cli" },
  other: { claims: { tenant: "red" }, issuer: "https://other.example" },
  bob: { id: "bob", claims: { tenant: "red" } },
};
const names = Object.keys(tokens);

function whoIs({ id, issuer = "", clientId = "", claims }: Caller): string {
  return [id, issuer, clientId, JSON.stringify(claims?.["tenant"])].join(" ");
}

/** `npm run properties` sends more. */
const requests = Number(process.env["TENANT_REQUESTS"] ?? 1000);

/** The number of each token's verification: a claim that changes with every request. */
let verifications = 0;

function openApp(options: Pick<HttpHandlerOptions, "rateLimit" | "limits"> = {}): HttpHandler {
  const app = mcp(surface, { maxResultBytes: 4096 })
    .implement({ count: cellSource(1) })
    .tools({
      report: {
        mutates: false,
        handler: (_args, { caller }) => ({ text: `${whoIs(caller)} `.repeat(500) }),
      },
      erase: { confirm: true, handler: (_args, { caller }) => ({ by: whoIs(caller) }) },
      ping: { handler: () => ({ ok: true }) },
    })
    .pull();
  const verify = async (token: string): Promise<VerifiedToken | undefined> => {
    const known = tokens[token];
    if (known === undefined) return undefined;
    const claims = { ...known.claims, jti: String((verifications += 1)) };
    return { id: "ada", scopes: ["ci:read", "ci:write"], resource, ...known, claims };
  };
  const auth = bearer({ resource, verify, identityClaims: ["tenant"] });
  return httpHandler(app, { auth, allowedHosts: ["ci.example"], ...options });
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON-RPC message. */
  readonly body: {
    readonly result?: {
      readonly resultType?: string;
      readonly requestState?: string;
      readonly inputRequests?: object;
      readonly structuredContent?: Readonly<Record<string, unknown>>;
      readonly content?: readonly { readonly text?: string; readonly uri?: string }[];
      readonly contents?: readonly { readonly text?: string }[];
      readonly isError?: boolean;
    };
    readonly error?: { readonly code: number };
  };
}

async function send(handler: HttpHandler, token: string, { headers, ...init }: RequestInit): Promise<Answer> {
  const sent = { ...init, headers: { ...Object.fromEntries(new Headers(headers)), authorization: `Bearer ${token}` } };
  const response = await handler(new Request("https://ci.example/mcp", sent));
  const text = await response.text();
  const json = text.startsWith("{") ? text : (/data: (\{.*)/.exec(text)?.[1] ?? "{}");
  // What is sent is a JSON-RPC message.
  return { status: response.status, headers: response.headers, body: JSON.parse(json) as Answer["body"] };
}

function call(name: string, more: object = {}): RequestInit {
  const meta = { "io.modelcontextprotocol/clientCapabilities": able };
  return modernPost("tools/call", { name, arguments: {}, _meta: meta, ...more });
}

const legacy = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function inSession(session: string, message: object): RequestInit {
  const headers = { ...legacy, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" };
  return { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }) };
}

const initialize: RequestInit = {
  method: "POST",
  headers: legacy,
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  }),
};

/** Something that one caller was given, and what becomes of it when somebody uses it. Says whether it was theirs. */
interface Given {
  readonly token: string;
  readonly isOnce?: boolean;
  use(token: string): Promise<boolean>;
}

async function givePart(handler: HttpHandler, token: string): Promise<Given> {
  const { body } = await send(handler, token, call("report"));
  const next = String(body.result?.structuredContent?.["next"]);
  expect(next).toContain("_parts/");
  const owner = JSON.stringify(body).slice(0, 2000);
  expect(owner).toContain(tokens[token]?.id ?? "ada");
  return {
    token,
    use: async (by) => {
      const read = await send(handler, by, modernPost("resources/read", { uri: next }));
      return read.body.result?.contents !== undefined;
    },
  };
}

async function giveQuestion(handler: HttpHandler, token: string): Promise<Given> {
  const { body } = await send(handler, token, call("erase"));
  const requestState = body.result?.requestState;
  const [key = ""] = Object.keys(body.result?.inputRequests ?? {});
  expect(body.result?.resultType).toBe("input_required");
  return {
    token,
    isOnce: true,
    use: async (by) => {
      const inputResponses = { [key]: { action: "accept", content: {} } };
      const again = await send(handler, by, call("erase", { requestState, inputResponses }));
      return again.body.result?.structuredContent?.["by"] !== undefined;
    },
  };
}

async function giveSession(handler: HttpHandler, token: string): Promise<Given> {
  const { headers, status } = await send(handler, token, initialize);
  expect(status).toBe(200);
  const session = String(headers.get("mcp-session-id"));
  return {
    token,
    use: async (by) => {
      const answer = await send(handler, by, inSession(session, { method: "tools/list" }));
      expect([200, 404]).toContain(answer.status);
      return answer.status === 200;
    },
  };
}

/** Things that callers were given, which other callers try to use. */
class World {
  /** Uses that were allowed to another caller, or refused to the caller whose thing it was. */
  readonly wrong: unknown[] = [];
  /** How many uses were allowed. */
  own = 0;
  readonly #given: Given[] = [];
  readonly #handler: HttpHandler;

  constructor(handler: HttpHandler) {
    this.#handler = handler;
  }

  async open(): Promise<void> {
    for (const token of names) this.#given.push(await giveSession(this.#handler, token));
  }

  async give(what: number, token: string): Promise<void> {
    const give = what % 2 === 0 ? givePart : giveQuestion;
    this.#given.push(await give(this.#handler, token));
    // The server forgets the oldest; the sessions stay.
    if (this.#given.length > 12) this.#given.splice(names.length, 1);
  }

  async use(what: number, token: string): Promise<void> {
    const one = this.#given[what % this.#given.length];
    if (one === undefined) return;
    const isAllowed = await one.use(token);
    if (isAllowed !== (token === one.token)) this.wrong.push([one, token, isAllowed]);
    if (!isAllowed) return;
    this.own += 1;
    if (one.isOnce === true) this.#given.splice(this.#given.indexOf(one), 1);
  }
}

const opened: HttpHandler[] = [];
afterEach(async () => {
  for (const handler of opened.splice(0)) await handler.close();
});

describe("callers who share an id and differ in issuer, client or tenant", () => {
  it("get nothing of each other's parts, consent or sessions in random requests", async () => {
    const handler = openApp({ rateLimit: false });
    opened.push(handler);
    const world = new World(handler);
    await world.open();
    const steps = fc.sample(fc.tuple(fc.nat(), fc.constantFrom(...names), fc.nat(9)), { numRuns: requests, seed: 10 });
    for (const [what, token, way] of steps) {
      if (way === 0) await world.give(what, token);
      else await world.use(what, token);
    }
    expect(world.wrong).toEqual([]);
    expect(world.own).toBeGreaterThan(requests / 20);
  });

  it("keep parts of large results within the limit of the server, the newest of all", async () => {
    const handler = openApp({ limits: { partBytes: { total: 18_000, perCaller: 9000 } } });
    opened.push(handler);
    const [red, blue] = [await givePart(handler, "red"), await givePart(handler, "blue")];
    expect(await red.use("red")).toBe(true);
    const bob = await givePart(handler, "bob");
    expect(await Promise.all([red, blue, bob].map((part) => part.use(part.token)))).toEqual([true, false, true]);
    const { partBytes } = handler.stats().limits;
    expect(partBytes).toMatchObject({ limit: 18_000, refused: 0, evicted: 1 });
    expect(partBytes.used).toBeGreaterThan(10_000);
    const ready = await handler(new Request("https://ci.example/readyz"));
    expect(await ready.json()).toMatchObject({ limits: { partBytes } });
  });

  it("have separate limits", async () => {
    const handler = openApp();
    opened.push(handler);
    const limited = async (token: string): Promise<boolean> => {
      const { body } = await send(handler, token, call("ping"));
      return body.result?.isError === true;
    };
    let calls = 0;
    while (calls < 1000 && !(await limited("red"))) calls += 1;
    expect(calls).toBeLessThan(1000);
    for (const token of names) expect(await limited(token)).toBe(token === "red");
  });
});
