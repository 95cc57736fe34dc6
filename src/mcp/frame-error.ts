import type { RequestId } from "./request-id.ts";

/** What can be wrong with a frame before its method is looked at. */
export type FrameFault =
  | "not-utf8"
  | "not-json"
  | "too-large"
  | "too-deep"
  | "too-many-elements"
  | "batch"
  | "not-an-object"
  | "bad-version"
  | "bad-id"
  | "bad-method"
  | "request-and-response"
  | "bad-params";

/** A frame that is answered with a JSON-RPC error and never executed. `id` is null where none can be echoed. */
export interface FrameError {
  readonly kind: "error";
  readonly id: RequestId | null;
  readonly code: -32700 | -32600 | -32602;
  readonly message: string;
}

const faults: Readonly<Record<FrameFault, Pick<FrameError, "code" | "message">>> = {
  "not-utf8": { code: -32700, message: "Parse error: the frame is not valid UTF-8" },
  "not-json": { code: -32700, message: "Parse error: the frame is not valid JSON" },
  "too-large": { code: -32600, message: "Invalid request: the frame is larger than this server accepts" },
  "too-deep": { code: -32600, message: "Invalid request: the frame is nested deeper than this server accepts" },
  "too-many-elements": {
    code: -32602,
    message: "Invalid params: the frame has more elements than this server accepts",
  },
  batch: { code: -32600, message: "Invalid request: expected one object, got an array (batches are not supported)" },
  "not-an-object": { code: -32600, message: "Invalid request: expected one JSON object" },
  "bad-version": { code: -32600, message: 'Invalid request: "jsonrpc" must be "2.0"' },
  "bad-id": {
    code: -32600,
    message: 'Invalid request: "id" must be a safe integer or a string of at most 1024 bytes',
  },
  "bad-method": { code: -32600, message: 'Invalid request: "method" must be a string' },
  "request-and-response": {
    code: -32600,
    message: 'Invalid request: a message with "method" must have neither "result" nor "error"',
  },
  "bad-params": { code: -32602, message: 'Invalid params: "params" must be an object' },
};

/**
 * The answer owed for a faulty frame. `id` is the sender's where it is known and usable, else null, as JSON-RPC 2.0
 * section 5 asks. Messages are fixed texts and never quote what was sent.
 */
export function toFrameError(fault: FrameFault, id: RequestId | null = null): FrameError {
  return { kind: "error", id, ...faults[fault] };
}
