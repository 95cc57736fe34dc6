import type { JsonObject } from "../schema/json.ts";
import type { Handler, Handlers } from "./handlers.ts";
import { modernVersions, toRpcResult } from "./protocol.ts";
import type { ResourceWatcher, ServerInfo } from "./servable-app.ts";
import { writeJson } from "./write-json.ts";

/** The legacy revisions that are served, newest first; the same as the SDK's, which a test holds. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/** What a server can do, as both eras are told. */
export interface ServerCapabilities {
  /** The tools of an app never change while it is open. */
  readonly tools: Nothing;
  readonly resources: { readonly subscribe: true; readonly listChanged?: true };
  readonly prompts?: Nothing;
  readonly completions?: Nothing;
  readonly logging?: Nothing;
}

/** There is nothing more to say of it. */
type Nothing = Readonly<Record<never, never>>;

/** What tells what a server can do. */
export interface Capable {
  readonly resources: Pick<ResourceWatcher, "watchList">;
  readonly handlers: Pick<Handlers, "prompts/list" | "completion/complete">;
  readonly logs: boolean;
}

/** What a server can do: nothing is promised where there is nothing of it, and no change of a list that cannot change. */
export function toCapabilities({ resources, handlers, logs }: Capable): ServerCapabilities {
  return {
    tools: {},
    resources: { subscribe: true, ...(resources.watchList === undefined ? {} : { listChanged: true }) },
    ...(handlers["prompts/list"] === undefined ? {} : { prompts: {} }),
    ...(handlers["completion/complete"] === undefined ? {} : { completions: {} }),
    ...(logs ? { logging: {} } : {}),
  };
}

/** How a server introduces itself. */
export interface Introduction extends Capable {
  readonly info: ServerInfo;
  readonly instructions: string | undefined;
}

/** The methods by which a client meets the server. */
export type HandshakeMethod = "initialize" | "server/discover";

/** A JSON object's members, without its braces. */
function toBody(members: object): string {
  return writeJson(members).slice(1, -1);
}

function negotiate(params: JsonObject | undefined): string {
  const requested = params?.["protocolVersion"];
  const known = legacyVersions.find((version) => version === requested);
  return known ?? legacyVersions[0] ?? "";
}

/**
 * Makes the two handlers by which a client meets the server: `initialize` answers with the version asked for where it is
 * served and with the newest otherwise, `server/discover` with the modern revisions.
 */
export function createHandshake(introduction: Introduction): Readonly<Record<HandshakeMethod, Handler>> {
  const { info, instructions } = introduction;
  const capabilities = toCapabilities(introduction);
  const words = instructions === undefined ? {} : { instructions };
  const discovery = toRpcResult(toBody({ supportedVersions: modernVersions, capabilities, ...words }), {
    cacheable: true,
    introduces: true,
  });
  return Object.freeze({
    initialize: (params) => {
      const protocolVersion = negotiate(params);
      return toRpcResult(toBody({ protocolVersion, capabilities, serverInfo: info, ...words }));
    },
    "server/discover": () => discovery,
  } satisfies Record<HandshakeMethod, Handler>);
}
