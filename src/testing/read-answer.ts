import type { RpcAnswer } from "../mcp/protocol.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { RpcFailure } from "./rpc-failure.ts";

/** The result object of an answer. @throws RpcFailure when it is an error. */
export function readAnswer(answer: RpcAnswer): JsonObject {
  if (answer.kind === "error") throw new RpcFailure(answer);
  const meta = answer.meta === "" ? "" : `"_meta":{${answer.meta}}`;
  const result: unknown = JSON.parse(`{${[answer.body, meta].filter((part) => part !== "").join(",")}}`);
  return isJsonObject(result) ? result : {};
}
