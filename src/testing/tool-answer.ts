import { errorMetaKey } from "../mcp/render-refusal.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";

/** What a tool call came to. */
export type ToolAnswer =
  | {
      readonly isError: false;
      /** The structured answer; what is not an object stands under `value`. */
      readonly structured: JsonObject;
      /** What a host that shows only text shows: exactly the JSON of `structured`. */
      readonly text: string;
    }
  | {
      readonly isError: true;
      /** The code of the refusal, for example `VALIDATION_ERROR` or the author's own. */
      readonly code: string;
      /** The machine-readable refusal: code, message, issues, details, correlation id. */
      readonly error: JsonObject;
      /** What the model reads. */
      readonly text: string;
    };

function firstText(content: JsonValue | undefined): string {
  const [block] = Array.isArray(content) ? content : [];
  const text = isJsonObject(block) ? block["text"] : undefined;
  return typeof text === "string" ? text : "";
}

/** Reads the result of `tools/call`. */
export function toToolAnswer(result: JsonObject): ToolAnswer {
  const text = firstText(result["content"]);
  if (result["isError"] !== true) {
    const structured = result["structuredContent"];
    return { isError: false, structured: isJsonObject(structured) ? structured : {}, text };
  }
  const meta = result["_meta"];
  const found = isJsonObject(meta) ? meta[errorMetaKey] : undefined;
  const error = isJsonObject(found) ? found : {};
  const { code } = error;
  return { isError: true, code: typeof code === "string" ? code : "", error, text };
}
