import type { ProgressSink } from "../call/call-context.ts";
import { writeJson } from "./write-json.ts";

/** Where reports of progress go. */
export interface ProgressOutput {
  readonly send: (json: string) => void;
  /** Whether what is sent piles up unread. */
  readonly isFull: () => boolean;
}

/**
 * Sends a call's reports as progress notifications under the token that its caller chose. While the output is full they
 * are dropped: nothing else would stop a handler that reports faster than its caller reads.
 */
export function toProgressSink(progressToken: string | number, output: ProgressOutput): ProgressSink {
  return ({ progress, total, message }) => {
    if (output.isFull()) return;
    const params = { progressToken, progress, total, message };
    output.send(writeJson({ jsonrpc: "2.0", method: "notifications/progress", params }));
  };
}
