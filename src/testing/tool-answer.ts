import { errorMetaKey } from "../mcp/render-refusal.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** What a tool call came to. */
export type ToolAnswer =
  | {
      readonly isError: false;
      /** The structured answer; what is not an object stands under `value`. */
      readonly structured: JsonObject;
      /** What a host that shows only text shows: exactly the JSON of `structured`, but in a rich answer. */
      readonly text: string;
      /** Every block, as it is on the wire. */
      readonly content: readonly JsonObject[];
    }
  | {
      readonly isError: true;
      /** The code of the refusal, for example `VALIDATION_ERROR` or the author's own. */
      readonly code: string;
      /** The machine-readable refusal: code, message, issues, details, correlation id. */
      readonly error: JsonObject;
      /** What the model reads. */
      readonly text: string;
      /** Every block, as it is on the wire. */
      readonly content: readonly JsonObject[];
    };

function firstText([block]: readonly JsonObject[]): string {
  const text = block?.["text"];
  return typeof text === "string" ? text : "";
}

/** Reads the result of `tools/call`. */
export function toToolAnswer(result: JsonObject): ToolAnswer {
  const content = Array.isArray(result["content"]) ? result["content"].filter(isJsonObject) : [];
  const text = firstText(content);
  if (result["isError"] !== true) {
    const structured = result["structuredContent"];
    return { isError: false, structured: isJsonObject(structured) ? structured : {}, text, content };
  }
  const meta = result["_meta"];
  const found = isJsonObject(meta) ? meta[errorMetaKey] : undefined;
  const error = isJsonObject(found) ? found : {};
  const { code } = error;
  return { isError: true, code: typeof code === "string" ? code : "", error, text, content };
}
