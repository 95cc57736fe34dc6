import type { ProgressSink } from "../call/call-context.ts";

/** Sends a call's reports as progress notifications under the token that its caller chose. */
export function toProgressSink(progressToken: string | number, send: (json: string) => void): ProgressSink {
  return ({ progress, total, message }) => {
    const params = { progressToken, progress, total, message };
    send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params }));
  };
}
