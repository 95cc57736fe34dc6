import { SurfaceError } from "../../src/errors.ts";
import type { AppNames } from "../../src/builder/app-names.ts";
import type { Caller } from "../../src/surface/caller.ts";
import type { HandledMethod } from "../../src/mcp/handlers.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import type { Spec } from "../../src/surface/member.ts";
import { RpcFailure } from "../../src/testing/rpc-failure.ts";
import { createTestClient, type TestClient } from "../../src/testing/index.ts";
import type { OpenTransport, Told } from "./tested-transport.ts";
import type { RecordedApp } from "./recorded-app.ts";
import { surfaceName } from "./random-surface.ts";

interface Wish {
  readonly era: Era;
  readonly caller: Caller | undefined;
}

type Client = TestClient<AppNames, Spec>;

async function tell(asked: () => Promise<unknown>): Promise<Told> {
  try {
    // What the client answers with is JSON.
    const result = (await asked()) as JsonObject;
    return { text: JSON.stringify(result), isDenied: false, result };
  } catch (cause) {
    if (cause instanceof RpcFailure) {
      return { text: `${cause.code} ${cause.message}`, isDenied: cause.scopes !== undefined };
    }
    // Whether it is listed, or nothing is under it, is for the author who tests.
    if (cause instanceof SurfaceError) return { text: cause.code, isDenied: false };
    throw cause;
  }
}

/** Asks by the client's own functions where it has one, so that they are looked at too. */
function askTyped(client: Client, method: string, params: JsonObject): Promise<unknown> {
  const { name, arguments: args } = params;
  if (method === "tools/call" && typeof name === "string") {
    // It answers to every name.
    const tool = Reflect.get(client.tools, name) as (args: unknown) => Promise<unknown>;
    return tool(args);
  }
  if (method === "prompts/get" && typeof name === "string") {
    // Arguments of prompts are texts.
    return client.prompt(name, args as Readonly<Record<string, string>>);
  }
  // It says of any other that there is none.
  return client.request(method as HandledMethod, params);
}

/** Opens the in-memory client of an app as a way into it. */
export function openTestClient(app: RecordedApp["app"], { era, caller }: Wish): OpenTransport {
  const client = createTestClient(app, { era, ...(caller === undefined ? {} : { caller }) });
  return {
    ask: (method, params) => tell(() => askTyped(client, method, params)),
    watch: (uri) =>
      tell(async () => {
        const [key = "", item] = uri.slice(`surface://${surfaceName}/`.length).split("/");
        const variables = item === undefined ? undefined : { key: item, value: item };
        const end = await client.watch(key, () => {}, variables);
        end();
        return { watching: uri };
      }),
    close: () => client.close(),
  };
}
