import { readPageFields } from "../../inspector/page-requests.ts";
import { boundedText, required, type OptionFields } from "../../options/option.ts";
import { decodeBody } from "../body.ts";

/** Fields of `POST /enter`. */
export const enterFields: OptionFields<{ readonly token: string }> = { token: required(boundedText(2048)) };

/** Reads a body: `undefined` unless it is a JSON object with these fields, and no others. */
export function readPageBody<TBody>(bytes: Uint8Array, fields: OptionFields<TBody>): TBody | undefined {
  try {
    return readPageFields(JSON.parse(decodeBody(bytes) ?? ""), fields);
  } catch {
    return undefined;
  }
}

/** Reads a query: `undefined` unless it has these parameters, each once, and no others. */
export function readPageQuery<TQuery>(query: string, fields: OptionFields<TQuery>): TQuery | undefined {
  const parameters = [...new URLSearchParams(query)];
  if (new Set(parameters.map(([name]) => name)).size < parameters.length) return undefined;
  const isNumber = (name: string): boolean => name === "before" || name === "limit";
  const read = parameters.map(([name, text]) => [name, isNumber(name) && /^\d+$/.test(text) ? Number(text) : text]);
  return readPageFields(Object.fromEntries(read), fields);
}
