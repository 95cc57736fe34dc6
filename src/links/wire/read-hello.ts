import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import type { AskedSurface } from "../reach-surface.ts";

/** A hello that somebody has said. */
export interface Hello {
  readonly protocol: JsonValue | undefined;
  readonly surface: AskedSurface;
  /** The members that it may use. */
  readonly members: JsonObject;
}

/** Most surfaces that one may be composed of. */
const maxSegments = 256;

const segmentPattern = /^[A-Za-z][A-Za-z0-9_]{0,63}(?:\.[A-Za-z][A-Za-z0-9_]{0,63}){0,15}$/;
const maxNameLength = 64;

/** Reads what a surface was composed of; `undefined` when it is nothing of that kind. */
function readSegments(given: JsonValue): ReadonlyMap<string, string> | undefined {
  if (!isJsonObject(given)) return undefined;
  const segments = new Map<string, string>();
  for (const [segment, name] of Object.entries(given)) {
    if (!segmentPattern.test(segment) || typeof name !== "string" || name.length > maxNameLength) return undefined;
    segments.set(segment, name);
  }
  return segments.size === 0 || segments.size > maxSegments ? undefined : segments;
}

/** Reads the parameters of a hello; `undefined` when they are none. */
export function readHello(params: unknown): Hello | undefined {
  if (!isJsonObject(params)) return undefined;
  const { protocol, surface, members } = params;
  const given = params["segments"];
  const segments = given === undefined ? undefined : readSegments(given);
  if (!isJsonObject(members) || (given !== undefined && segments === undefined)) return undefined;
  // No surface has the empty name.
  return { protocol, surface: { name: typeof surface === "string" ? surface : "", segments }, members };
}
