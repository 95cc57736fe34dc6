import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { bearer, http, type VerifiedToken } from "../../src/http/index.ts";
import {
  callerKey,
  defineSurface,
  derive,
  implementSurface,
  inProcess,
  listenUnixSocket,
  mcp,
  mcpTool,
  procedure,
  projected,
  projectSurface,
  readOnly,
  unixSocket,
  type Caller,
  type Link,
} from "../../src/index.ts";
import { httpClients } from "./support/http-clients.ts";

const resource = "https://ci.example/mcp";
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const scopes = ["tracker:read", "tracker:write", "desk:read", "desk:write"];
const tokens = { ada: "token-of-ada-0123456789", bob: "token-of-bob-0123456789" } as const;
const users: Readonly<Record<string, Partial<VerifiedToken> & Pick<VerifiedToken, "id">>> = {
  [tokens.ada]: { id: "ada", issuer: "https://login.example", claims: { tenant: "red", jti: "1" } },
  [tokens.bob]: { id: "bob", clientId: "cli", claims: { tenant: "blue" } },
};

const tracker = defineSurface("tracker", {
  "issue.mine": readOnly(mcpTool(procedure({ output: z.string() }))),
  "issue.close": mcpTool(procedure({ input: z.object({ id: z.number() }), output: z.string() })),
});
const desk = defineSurface("desk", {
  mine: readOnly(mcpTool(procedure({ output: z.string() }))),
  close: mcpTool(procedure({ input: z.object({ id: z.number() }), output: z.string() })),
});
const deskOfTracker = projectSurface(tracker, desk, (client) => ({
  mine: derive.procedure(client["issue.mine"]),
  close: (input, { caller }) => client["issue.close"].call(input, { caller }),
}));

/** A live tracker over a unix socket, the callers that its handlers have seen, and all that was sent. */
async function startTracker(): Promise<{ readonly link: Link; readonly near: Link; readonly seen: Caller[] }> {
  const folder = await mkdtemp(join(tmpdir(), "callers-"));
  const seen: Caller[] = [];
  const note = (caller: Caller): string => {
    seen.push(caller);
    return `${caller.id} of ${JSON.stringify(caller.claims?.["tenant"])}`;
  };
  const live = implementSurface(tracker, {
    "issue.mine": (_input, { caller }) => note(caller),
    "issue.close": async function* ({ id }, { caller }) {
      yield `closing ${id}`;
      return note(caller);
    },
  });
  const listening = await listenUnixSocket(live, join(folder, "s.sock"));
  ending.push(
    () => rm(folder, { recursive: true, force: true }),
    () => live.close(),
    () => listening.close(),
  );
  return { link: unixSocket(listening.path), near: inProcess(live), seen };
}

const verify = async (token: string): Promise<VerifiedToken | undefined> => {
  const user = users[token];
  return user && { scopes, resource, ...user };
};

type App = Pick<ReturnType<ReturnType<typeof mcp<(typeof tracker)["members"]>>["bridge"]>, "serve">;

async function serve(app: App): Promise<string> {
  const auth = bearer({ resource, verify, identityClaims: ["tenant"] });
  const serving = await app.serve(http({ port: 0, exit: false, auth }));
  ending.push(() => serving.close());
  return serving.url;
}

const textOf = (result: Readonly<Record<string, unknown>>): unknown =>
  // Any object may be looked into.
  (result["structuredContent"] as { readonly value?: unknown } | undefined)?.value;

describe.each(httpClients)("callers over HTTP, with $name", ({ connect }) => {
  async function connectAs(url: string, token: string): Promise<Awaited<ReturnType<typeof connect>>> {
    const withToken: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${token}`);
      return fetch(input, { ...init, headers });
    };
    const client = await connect({ url, fetch: withToken });
    ending.push(() => client.close());
    return client;
  }

  it("reach the handlers of procedures behind a link, each call with its user and never a token", async () => {
    const { link, seen } = await startTracker();
    const url = await serve(mcp(tracker).bridge(link));
    const [ada, bob] = await Promise.all([connectAs(url, tokens.ada), connectAs(url, tokens.bob)]);
    const asked = [ada, bob, ada, bob].map((client) => client.callTool({ name: "issue_mine", arguments: {} }));
    const answers = await Promise.all(asked);
    const [ofAda, ofBob] = ['ada of "red"', 'bob of "blue"'];
    expect(answers.map(textOf)).toEqual([ofAda, ofBob, ofAda, ofBob]);
    expect(textOf(await ada.callTool({ name: "issue_close", arguments: { id: 7 } }))).toBe(ofAda);
    expect(seen.at(-1)).toMatchObject({
      ...{ id: "ada", issuer: "https://login.example", isAnonymous: false },
      ...{ scopes, claims: { tenant: "red", jti: "1" } },
    });
    // By the claims that identify callers, and not by one that changes with each token.
    expect(new Set(seen.map((caller) => callerKey(caller))).size).toBe(2);
    expect(JSON.stringify(seen)).not.toContain("token-of");
  });

  it("reach the source of a projection, by derive.procedure and by a handler that passes them on", async () => {
    const { link, near, seen } = await startTracker();
    for (const over of [near, link]) {
      const url = await serve(mcp(deskOfTracker).bridge(projected(deskOfTracker, over)));
      const [ada, bob] = await Promise.all([connectAs(url, tokens.ada), connectAs(url, tokens.bob)]);
      await ada.callTool({ name: "mine", arguments: {} });
      await bob.callTool({ name: "close", arguments: { id: 7 } });
      expect(seen.splice(0).map(({ id }) => id)).toEqual(["ada", "bob"]);
    }
  });

  it("are the same within nested calls, with the scopes of the calling tool", async () => {
    const { link, seen } = await startTracker();
    const app = mcp(tracker)
      .bridge(link)
      .tools({
        sweep: {
          canCall: ["issue.close"],
          callScopes: ["tracker:write"],
          handler: async (_args, { call, client, caller }) => {
            await call("issue.close", { id: 1 });
            await client["issue.mine"].call(undefined, { caller });
            await client["issue.mine"].call();
          },
        },
      });
    const ada = await connectAs(await serve(app), tokens.ada);
    expect((await ada.callTool({ name: "sweep", arguments: {} }))["isError"] ?? false).toBe(false);
    const [byTool, explicit, silent] = seen;
    expect(byTool).toMatchObject({ id: "ada", isTool: true, scopes: ["tracker:write"] });
    expect(byTool && callerKey(byTool)).toBe(explicit && callerKey(explicit));
    expect(explicit).toMatchObject({ id: "ada", claims: { tenant: "red" } });
    expect(silent).toEqual({ id: "anonymous", isAnonymous: true, scopes: [] });
  });
});
