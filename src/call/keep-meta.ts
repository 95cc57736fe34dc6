import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { anyCodec } from "../schema/wire-codec.ts";

/** How much may be said for programs beside one answer, or one report of progress, in bytes of JSON. */
const maxMetaBytes = 4096;

/** Members as inert JSON, together with those before them; `undefined` where that is too much, or no JSON. Never throws. */
export function keepMeta(before: JsonObject | undefined, members: unknown): JsonObject | undefined {
  try {
    if (!isJsonObject(members)) return undefined;
    const text = anyCodec.stringify({ ...before, ...members });
    const kept: unknown = JSON.parse(text);
    return Buffer.byteLength(text) <= maxMetaBytes && isJsonObject(kept) ? kept : undefined;
  } catch {
    // What is no JSON, or throws when it is looked at.
    return undefined;
  }
}
