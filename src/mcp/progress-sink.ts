import type { ProgressSink } from "../call/call-context.ts";
import type { ProgressReport } from "../catalog/entry.ts";
import type { JsonObject } from "../schema/json.ts";
import { writeJson } from "./protocol.ts";

/** Where reports of progress go. */
export interface ProgressOutput {
  readonly send: (json: string) => void;
  /** Whether what is sent piles up unread. */
  readonly isFull: () => boolean;
}

/** A report as the params of a notification, without the token that it goes under. */
export function toProgressParams({
  meta,
  ...report
}: ProgressReport): Omit<ProgressReport, "meta"> & { _meta?: JsonObject } {
  return meta === undefined ? report : { ...report, _meta: meta };
}

/**
 * Sends a call's reports as progress notifications under the token that its caller chose. While the output is full they
 * are dropped: nothing else would stop a handler that reports faster than its caller reads.
 */
export function toProgressSink(progressToken: string | number, output: ProgressOutput): ProgressSink {
  return (report) => {
    if (output.isFull()) return;
    const params = { progressToken, ...toProgressParams(report) };
    output.send(writeJson({ jsonrpc: "2.0", method: "notifications/progress", params }));
  };
}
