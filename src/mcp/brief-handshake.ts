import { clipText } from "../schema/clip-text.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { ownParam } from "./own-param.ts";

/** How much of each part is kept, in bytes. */
const maxNameBytes = 256;
const maxCapabilitiesBytes = 8192;

function toBrief(value: unknown): string {
  return typeof value === "string" ? clipText(value, maxNameBytes) : "";
}

/**
 * What is kept of a handshake for as long as its client is there, for an SDK that joins later: the version, what the client
 * can do, and what it calls itself, clipped. At most 10 KiB, however much was sent; capabilities that do not fit are none.
 */
export function toBriefHandshake(params: JsonObject | undefined): JsonObject {
  const clientInfo = ownParam(params, "clientInfo");
  const own = isJsonObject(clientInfo) ? clientInfo : undefined;
  const capabilities = JSON.stringify(ownParam(params, "capabilities") ?? {});
  const isKept = Buffer.byteLength(capabilities) <= maxCapabilitiesBytes;
  const brief = {
    protocolVersion: toBrief(ownParam(params, "protocolVersion")),
    clientInfo: { name: toBrief(ownParam(own, "name")), version: toBrief(ownParam(own, "version")) },
  };
  const kept: unknown = isKept ? JSON.parse(capabilities) : {};
  // Read anew, since a piece of a text keeps the whole of it. What was written is a JSON object.
  return JSON.parse(JSON.stringify({ ...brief, capabilities: kept })) as JsonObject;
}
