import { writeJson, type Era, type RequestId, type RpcAnswer } from "./protocol.ts";
import type { ServerInfo } from "./servable-app.ts";

/** Writes an answer as the text of one JSON-RPC frame. */
export type AnswerRenderer = (id: RequestId | null, answer: RpcAnswer, era: Era) => string;

function member(body: string): string {
  return body === "" ? "" : `,${body}`;
}

/**
 * Makes the renderer of a server. The modern era's stamps (`resultType`, who answers, cache hints) are written once;
 * each answer is spliced between them.
 */
export function createAnswerRenderer(info: ServerInfo): AnswerRenderer {
  const all = `"io.modelcontextprotocol/serverInfo":${writeJson(info)}`;
  // Pictures may be many times larger than an answer: they are for who asks who this is.
  const { name, version, title } = info;
  const short = `"io.modelcontextprotocol/serverInfo":${writeJson({ name, version, title })}`;
  // Values change under a live surface: a client must ask again, and must not share what it was told.
  const cacheHints = `,"ttlMs":0,"cacheScope":"private"`;
  return (id, answer, era) => {
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
    if (answer.kind === "error") {
      const { code, message, data } = answer;
      return `${head}"error":${writeJson({ code, message, data })}}`;
    }
    const { body, meta, cacheable, introduces, asks } = answer;
    if (era === "legacy") {
      const legacyMeta = meta === "" ? "" : `"_meta":{${meta}}`;
      return `${head}"result":{${[body, legacyMeta].filter((part) => part !== "").join(",")}}}`;
    }
    const type = asks === undefined ? "complete" : "input_required";
    const stamps = `"resultType":"${type}"${cacheable ? cacheHints : ""},"_meta":{${introduces ? all : short}${member(meta)}}`;
    return `${head}"result":{${body === "" ? "" : `${body},`}${stamps}}}`;
  };
}
