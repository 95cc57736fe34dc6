import type { Caller } from "../../src/surface/caller.ts";
import { bearer, httpHandler } from "../../src/http/index.ts";
import type { ServableApp } from "../../src/index.ts";
import type { HandledMethod } from "../../src/mcp/handlers.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { RpcFailure } from "../../src/testing/rpc-failure.ts";
import { modernPost } from "../http/support/modern-post.ts";

/** One request with its caller and view. */
export interface LiveRequest {
  readonly caller: Caller;
  readonly surface: string;
  readonly project: string | undefined;
  readonly method: HandledMethod;
  readonly params: JsonObject;
}

/** Sends requests of several callers to one app, and returns each response as text. */
export interface LiveTransport {
  ask(request: LiveRequest): Promise<string>;
  close(): Promise<void>;
}

const resource = "https://world.example/mcp";
const client = { name: "scenario", version: "1" };

/** Opens an app over HTTP: one token for each caller. */
export function openHttp(app: ServableApp, callers: readonly Caller[]): LiveTransport {
  const verify = async (token: string): Promise<object> => ({
    ...callers[Number(token.slice("caller-".length))],
    resource,
  });
  // The verifier answers with what was drawn.
  const handler = httpHandler(app, { auth: bearer({ resource, verify: verify as never }), rateLimit: false });
  return {
    async ask({ caller, surface, project, method, params }) {
      const { headers, ...rest } = modernPost(method, {
        ...params,
        _meta: { "io.modelcontextprotocol/clientInfo": client },
      });
      const authorization = `Bearer caller-${callers.indexOf(caller)}`;
      const url = `http://localhost/mcp?surface=${surface}${project === undefined ? "" : `&project=${project}`}`;
      const response = await handler.fetch(
        new Request(url, { ...rest, headers: { ...Object(headers), authorization } }),
      );
      return `${response.status} ${await response.text()}`;
    },
    close: () => handler.close(),
  };
}

/** Opens an app through the test client. */
export function openInMemory(app: Parameters<typeof createTestClient>[0]): LiveTransport {
  const opened = createTestClient(app);
  return {
    async ask({ caller, surface, project, method, params }) {
      const view = { surface, client, ...(project === undefined ? {} : { project }) };
      try {
        return JSON.stringify(await opened.request(method, params, { caller: { ...caller, view } }));
      } catch (cause) {
        if (cause instanceof RpcFailure) return `${cause.code} ${cause.message} ${cause.scopes?.join(" ")}`;
        throw cause;
      }
    },
    close: () => opened.close(),
  };
}
