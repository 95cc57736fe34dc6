import type { JsonObject } from "../schema/json.ts";
import type { Handler } from "./handlers.ts";
import { declareExtensions, readClientExtensions } from "./extensions/extensions.ts";
import { modernVersions, newestLegacyVersion, ownParam, toRpcResult, writeJson, type McpRequest } from "./protocol.ts";
import type { ListName } from "./lists.ts";
import type { AppRuntime } from "./servable-app.ts";

/**
 * The legacy revisions that are served, newest first. 2025-03-26 is not: it demands batches, which no other revision has
 * (decision 0034).
 */
export const legacyVersions: readonly string[] = [newestLegacyVersion, "2025-06-18", "2024-11-05", "2024-10-07"];

interface Changing {
  readonly listChanged?: true;
}

/** The capabilities of a server, the same for both eras. */
export interface ServerCapabilities {
  readonly tools: Changing;
  readonly resources: { readonly subscribe: true } & Changing;
  readonly prompts?: Changing;
  readonly completions?: Readonly<Record<never, never>>;
  readonly logging?: Readonly<Record<never, never>>;
}

/** Returns the capabilities of an app: none for what it does not have, and no changes of a list that cannot change. */
export function toCapabilities({
  changing,
  handlers,
  logs,
}: Pick<AppRuntime, "changing" | "handlers" | "logs">): ServerCapabilities {
  const of = (list: ListName): Changing => (changing.has(list) ? { listChanged: true } : {});
  return {
    tools: of("tools"),
    resources: { subscribe: true, ...of("resources") },
    ...(handlers["prompts/list"] === undefined ? {} : { prompts: of("prompts") }),
    ...(handlers["completion/complete"] === undefined ? {} : { completions: {} }),
    ...(logs ? { logging: {} } : {}),
  };
}

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

/** Creates the handlers by which a client meets the server, one an era. */
export function createHandshake(runtime: AppRuntime): Readonly<Record<"initialize" | "server/discover", Handler>> {
  const { extensions: served, info } = runtime;
  const always = toCapabilities(runtime);
  const capabilitiesFor = ({ view, call }: McpRequest, extensions: McpRequest["extensions"]): object => {
    if (served.length === 0) return always;
    return { ...always, extensions: declareExtensions(served, { view, caller: call.caller, extensions }) };
  };
  return {
    initialize(params, request) {
      const { instructions } = request.view;
      const capabilities = capabilitiesFor(request, readClientExtensions(ownParam(params, "capabilities")));
      return toRpcResult(toBody({ protocolVersion: negotiate(params), capabilities, serverInfo: info, instructions }));
    },
    "server/discover"(_params, request) {
      const { instructions } = request.view;
      const capabilities = capabilitiesFor(request, request.extensions);
      const body = toBody({ supportedVersions: modernVersions, capabilities, instructions });
      return toRpcResult(body, { cacheable: true, introduces: true });
    },
  };
}
