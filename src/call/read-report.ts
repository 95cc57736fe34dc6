import type { ProgressReport } from "../catalog/entry.ts";
import { clipText } from "../schema/clip-text.ts";
import { keepMeta } from "./keep-meta.ts";

const maxMessageBytes = 512;

/** What a client is told of a report: a copy, without what is no part of one. Messages are one line of at most 512 bytes. */
export function readReport({ progress, total, message, meta }: ProgressReport): ProgressReport {
  const kept = meta === undefined ? undefined : keepMeta(undefined, meta);
  return {
    progress,
    ...(total !== undefined && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: clipText(message, maxMessageBytes) } : {}),
    ...(kept === undefined ? {} : { meta: kept }),
  };
}
