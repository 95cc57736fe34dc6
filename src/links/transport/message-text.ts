import { Buffer } from "node:buffer";
import { Message } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import { fitsValues, maxValues } from "./fits-values.ts";
import { maxFrameBytes } from "./frame-cutter.ts";

/** A message as it is written. */
export interface MessageText {
  readonly text: string;
  readonly bytes: number;
}

function toOversize(problem: string): SurfaceError {
  return new SurfaceError("FRAME_TOO_LARGE", `Writing to a link: a message has ${problem}`);
}

/**
 * Writes a message as JSON.
 *
 * @throws SurfaceError `FRAME_TOO_LARGE` for more than the far side takes: it is not sent, and the connection lives on.
 */
export function toMessageText(message: Message): MessageText {
  const text = JSON.stringify(message);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxFrameBytes) throw toOversize(`${bytes} bytes, and must have at most ${maxFrameBytes}`);
  if (!fitsValues(text)) throw toOversize(`more values than ${maxValues}`);
  return { text, bytes };
}

/** Whether a message answers a request with what was asked for. */
export function isResult(message: Message): boolean {
  return Message.isResponse(message) && message.result !== undefined;
}
