import type { JsonValue } from "../../src/schema/json.ts";
import { toPieces } from "./visible.ts";

/** Texts above this many characters are shown without colours. */
const colouredLength = 60_000;
const tokens = /("(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/;

/** Formats JSON with two spaces. Invisible characters in texts become escapes, so the text stays JSON. */
export function formatJson(value: JsonValue): string {
  return toPieces(JSON.stringify(value, null, 2), true).join("");
}

/** Splits a JSON text into parts, each with the class of its colour. */
export function toJsonTokens(text: string): (readonly [text: string, tone: "key" | "string" | "literal" | ""])[] {
  if (text.length > colouredLength) return [[text, ""]];
  const parts = text.split(tokens);
  return parts.map((part, place) => {
    if (place % 2 === 0) return [part, ""];
    if (!part.startsWith('"')) return [part, "literal"];
    return [part, parts[place + 1]?.startsWith(":") === true ? "key" : "string"];
  });
}
