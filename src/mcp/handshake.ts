import type { JsonObject } from "../schema/json.ts";
import type { Handler, Handlers } from "./handlers.ts";
import { modernVersions, toRpcResult, writeJson } from "./protocol.ts";
import type { ListName } from "./lists.ts";
import type { ServerInfo } from "./servable-app.ts";

/**
 * The legacy revisions that are served, newest first. 2025-03-26 is not: it demands batches, which no other revision has
 * (decision 0034).
 */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2024-11-05", "2024-10-07"];

/** What a server can do, as both eras are told. */
export interface ServerCapabilities {
  readonly tools: Changing;
  readonly resources: { readonly subscribe: true } & Changing;
  readonly prompts?: Changing;
  readonly completions?: Nothing;
  readonly logging?: Nothing;
}

/** There is nothing more to say of it. */
type Nothing = Readonly<Record<never, never>>;

/** Said of a list that can ever be another. */
interface Changing {
  readonly listChanged?: true;
}

/** What tells what a server can do. */
export interface Capable {
  /** The lists that can ever be others. */
  readonly changing: ReadonlySet<ListName>;
  readonly handlers: Pick<Handlers, "prompts/list" | "completion/complete">;
  readonly logs: boolean;
}

/** What a server can do: nothing is promised where there is nothing of it, and no change of a list that cannot change. */
export function toCapabilities({ changing, handlers, logs }: Capable): ServerCapabilities {
  const of = (list: ListName): Changing => (changing.has(list) ? { listChanged: true } : {});
  return {
    tools: of("tools"),
    resources: { subscribe: true, ...of("resources") },
    ...(handlers["prompts/list"] === undefined ? {} : { prompts: of("prompts") }),
    ...(handlers["completion/complete"] === undefined ? {} : { completions: {} }),
    ...(logs ? { logging: {} } : {}),
  };
}

/** How a server introduces itself. */
export interface Introduction extends Capable {
  readonly info: ServerInfo;
}

/** The methods by which a client meets the server. */
export type HandshakeMethod = "initialize" | "server/discover";

/** A JSON object's members, without its braces. */
function toBody(members: object): string {
  return writeJson(members).slice(1, -1);
}

/**
 * Returns the version that a handshake is answered with: the newest that is not newer than the one asked for, since a client
 * knows older versions and not newer ones; without such a version the newest of all.
 */
export function negotiate(params: JsonObject | undefined): string {
  const requested = params?.["protocolVersion"];
  const known = typeof requested === "string" ? legacyVersions.find((version) => version <= requested) : undefined;
  return known ?? legacyVersions[0] ?? "";
}

/**
 * Creates the two handlers by which a client meets the server: `initialize` answers with the version of {@link negotiate},
 * `server/discover` with the modern revisions.
 */
export function createHandshake(introduction: Introduction): Readonly<Record<HandshakeMethod, Handler>> {
  const { info: serverInfo } = introduction;
  const capabilities = toCapabilities(introduction);
  return Object.freeze({
    initialize: (params, { view: { instructions } }) => {
      const protocolVersion = negotiate(params);
      return toRpcResult(toBody({ protocolVersion, capabilities, serverInfo, instructions }));
    },
    "server/discover": (_params, { view: { instructions } }) => {
      const body = toBody({ supportedVersions: modernVersions, capabilities, instructions });
      return toRpcResult(body, { cacheable: true, introduces: true });
    },
  } satisfies Record<HandshakeMethod, Handler>);
}
