import { ResponseError } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { errorCodes } from "./protocol.ts";
import { toErrorAnswer } from "./wire-fault.ts";

/** The parameters do not fit the method. */
export const invalid: ResponseError<JsonObject> = new ResponseError(
  errorCodes.invalidParams,
  "the parameters are not those of the method",
);
/** There is no such method. */
export const unknown: ResponseError<JsonObject> = new ResponseError(
  errorCodes.methodNotFound,
  "there is no such method",
);
/** Nothing new is taken. */
export const untaken: ResponseError<JsonObject> = new ResponseError(errorCodes.notTaken, "goodbye was said");

/** Creates the error of a request that is refused before anything runs. */
export function refuse(code: "PROTOCOL_MISMATCH" | "UNKNOWN_MEMBER" | "OVERFLOW"): ResponseError<JsonObject> {
  return toErrorAnswer(new SurfaceError(code, "Serving a request: it is refused"));
}
