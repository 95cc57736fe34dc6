import type { JsonObject } from "../schema/json.ts";
import type { RpcAnswer } from "./protocol.ts";
import { truncatedMetaKey } from "./render-large.ts";
import { errorMetaKey } from "./render-refusal.ts";
import { writeJson } from "./write-json.ts";

/** Whether a member of `_meta` is said by the server itself: nobody else says it, and no member is written twice. */
function isOurs(key: string): boolean {
  return key === errorMetaKey || key === truncatedMetaKey || key.startsWith("io.modelcontextprotocol/");
}

/** An answer with what its call has to say beside it, for programs. An error has no place for that. */
export function withMeta(answer: RpcAnswer, said: JsonObject | undefined): RpcAnswer {
  if (said === undefined || answer.kind === "error") return answer;
  const members = writeJson(Object.fromEntries(Object.entries(said).filter(([key]) => !isOurs(key)))).slice(1, -1);
  return { ...answer, meta: [answer.meta, members].filter((part) => part !== "").join(",") };
}
