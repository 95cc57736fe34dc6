import { isJsonObject, type JsonObject } from "../../schema/json.ts";

/** What becomes of a message: it is handed on, it is dropped, or it ends the connection with a sentence why. */
export type Judgement =
  | { readonly kind: "request" | "cancel" | "answer"; readonly id: string | number }
  | { readonly kind: "other" }
  | { readonly kind: "dropped" }
  | { readonly kind: "malformed"; readonly why: string };

const other: Judgement = { kind: "other" };
const dropped: Judgement = { kind: "dropped" };
const maxIdLength = 128;

function malformed(why: string): Judgement {
  return { kind: "malformed", why };
}

function isId(id: unknown): id is string | number {
  return typeof id === "string" ? id.length <= maxIdLength : Number.isSafeInteger(id);
}

function judgeNotification(message: JsonObject, method: string): Judgement {
  if (!method.startsWith("$/")) return other;
  // Of JSON-RPC's own notifications this is the one there is a use for.
  if (method !== "$/cancelRequest") return dropped;
  const params = message["params"];
  const id = isJsonObject(params) ? params["id"] : undefined;
  return isId(id) ? { kind: "cancel", id } : dropped;
}

function judgeCall(message: JsonObject, method: unknown): Judgement {
  if (typeof method !== "string") return malformed("a method that is not a text");
  const isResponse = Object.hasOwn(message, "result") || Object.hasOwn(message, "error");
  if (isResponse) return malformed("a request that is a response as well");
  if (!Object.hasOwn(message, "id")) return judgeNotification(message, method);
  const id = message["id"];
  return isId(id) ? { kind: "request", id } : malformed("an id that is neither a short text nor an integer");
}

function judgeResponse(message: JsonObject): Judgement {
  const { id, error, result } = message;
  if (!isId(id)) return malformed("an answer without an id");
  if (error === undefined)
    return result === undefined ? malformed("an answer without a result") : { kind: "answer", id };
  const isError = isJsonObject(error) && Number.isSafeInteger(error["code"]) && typeof error["message"] === "string";
  return isError ? { kind: "answer", id } : malformed("an error that is none");
}

/**
 * Judges the form of a message, of which nothing is taken for granted. Batches are not part of the protocol.
 */
export function judgeMessage(message: unknown): Judgement {
  if (!isJsonObject(message)) return malformed("a message that is not an object");
  if (message["jsonrpc"] !== "2.0") return malformed("a message that is not JSON-RPC 2.0");
  return Object.hasOwn(message, "method") ? judgeCall(message, message["method"]) : judgeResponse(message);
}
