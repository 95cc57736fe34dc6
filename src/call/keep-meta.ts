import type { ProgressReport } from "../catalog/entry.ts";
import { clipText } from "../schema/visible-text.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { anyCodec } from "../schema/wire-codec.ts";

/** The largest `_meta` of one answer or one report of progress, in bytes of JSON. */
const maxMetaBytes = 4096;

const maxMessageBytes = 512;

/** Adds members to a `_meta`, as inert JSON. Returns `undefined` if it is too large or not JSON. Never throws. */
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

/** Returns a copy of a report for the client, without unknown members. Messages are one line of at most 512 bytes. */
export function readReport({ progress, total, message, meta }: ProgressReport): ProgressReport {
  const kept = meta === undefined ? undefined : keepMeta(undefined, meta);
  return {
    progress,
    ...(total !== undefined && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: clipText(message, maxMessageBytes) } : {}),
    ...(kept === undefined ? {} : { meta: kept }),
  };
}
