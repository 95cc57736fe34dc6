import type { JsonObject } from "../schema/json.ts";
import type { Handler } from "./handlers.ts";
import { modernVersions, toRpcResult } from "./protocol.ts";
import type { ResourceWatcher, ServerInfo } from "./servable-app.ts";
import { writeJson } from "./write-json.ts";

/** The legacy revisions that are served, newest first; the same as the SDK's, which a test holds. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/** What a server can do, as both eras are told. */
export interface ServerCapabilities {
  /** The tools of an app never change while it is open. */
  readonly tools: Readonly<Record<never, never>>;
  readonly resources: { readonly subscribe: true; readonly listChanged?: true };
}

/** What a server can do: to announce changes of a list is promised only where it can change. */
export function toCapabilities({ watchList }: Pick<ResourceWatcher, "watchList">): ServerCapabilities {
  return { tools: {}, resources: { subscribe: true, ...(watchList === undefined ? {} : { listChanged: true }) } };
}

/** How a server introduces itself. */
export interface Introduction {
  readonly info: ServerInfo;
  readonly instructions: string | undefined;
  readonly resources: Pick<ResourceWatcher, "watchList">;
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
  const { info, instructions, resources } = introduction;
  const capabilities = toCapabilities(resources);
  const words = instructions === undefined ? {} : { instructions };
  const discovery = toRpcResult(toBody({ supportedVersions: modernVersions, capabilities, ...words }), {
    cacheable: true,
  });
  return Object.freeze({
    initialize: (params) => {
      const protocolVersion = negotiate(params);
      return toRpcResult(toBody({ protocolVersion, capabilities, serverInfo: info, ...words }));
    },
    "server/discover": () => discovery,
  } satisfies Record<HandshakeMethod, Handler>);
}
