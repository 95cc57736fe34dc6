import { Refusal } from "../errors.ts";
import { errorMetaKey } from "../mcp/render-result.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** The answer to a tool call. */
export type ToolAnswer<TValue = JsonObject> =
  | {
      readonly isError: false;
      /**
       * The answer as its output schema has it: a date is a `Date`, and a scalar stands for itself. Without an output schema the
       * same as `structured`. Not enumerable, so that comparing or printing an answer does not read it.
       */
      readonly value: TValue;
      /** The `structuredContent`; anything that is not an object stands under `value`. */
      readonly structured: JsonObject;
      /** The text of a text answer, the first text of content blocks, else the JSON of `structured`. */
      readonly text: string;
      /** Every block, as it is on the wire. */
      readonly content: readonly JsonObject[];
    }
  | {
      readonly isError: true;
      /** Throws a {@link Refusal} with the code and the text of the refused call. */
      readonly value: never;
      /** The code of the refusal, for example `VALIDATION_ERROR` or the author's own. */
      readonly code: string;
      /** The machine-readable refusal: code, message, issues, details, correlation id. */
      readonly error: JsonObject;
      /** The text that the model reads. */
      readonly text: string;
      /** Every block, as it is on the wire. */
      readonly content: readonly JsonObject[];
    };

function firstText([block]: readonly JsonObject[]): string {
  const text = block?.["text"];
  return typeof text === "string" ? text : "";
}

function withValue(answer: object, get: () => unknown): ToolAnswer {
  // The property completes the type.
  return Object.defineProperty(answer, "value", { get }) as ToolAnswer;
}

/**
 * Reads the result of `tools/call`.
 *
 * @param toValue - reads the value out of the structured content.
 */
export function toToolAnswer(result: JsonObject, toValue: (structured: JsonObject) => unknown): ToolAnswer {
  const content = Array.isArray(result["content"]) ? result["content"].filter(isJsonObject) : [];
  const text = firstText(content);
  if (result["isError"] !== true) {
    const said = result["structuredContent"];
    const structured = isJsonObject(said) ? said : {};
    return withValue({ isError: false, structured, text, content }, () => toValue(structured));
  }
  const meta = result["_meta"];
  const found = isJsonObject(meta) ? meta[errorMetaKey] : undefined;
  return toRefusedAnswer(isJsonObject(found) ? found : {}, text, content);
}

/** Returns the answer of a refused call. */
export function toRefusedAnswer(error: JsonObject, text: string, content: readonly JsonObject[]): ToolAnswer {
  const code = typeof error["code"] === "string" ? error["code"] : "";
  return withValue({ isError: true, code, error, text, content }, () => {
    throw new Refusal(code, `Cannot read the value of a refused call: ${text}`, error["details"]);
  });
}
