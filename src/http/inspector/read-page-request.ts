import type { HistoryFilter } from "../../inspector/history.ts";
import type { ExposureRow } from "../../inspector/messages.ts";
import { boundedText, flag, object, oneOf, required, wholeNumber, type OptionFields } from "../../options/option.ts";
import type { Outcome } from "../../observe/observation.ts";
import { decodeBody } from "../body.ts";

const longText = boundedText(2048);

/** A query without parameters. */
export const noFields: OptionFields<object> = {};

const outcomes = Object.keys({
  ok: true,
  failed: true,
  refused: true,
  asked: true,
  cancelled: true,
  closed: true,
} satisfies Record<Outcome, true>);

/** Parameters of `GET /history`. */
export const historyFields: OptionFields<HistoryFilter> = {
  before: wholeNumber(1),
  tool: longText,
  caller: longText,
  outcome: oneOf(...outcomes),
  limit: wholeNumber(1, 500),
};

const kinds = Object.keys({
  tool: true,
  resource: true,
  template: true,
  prompt: true,
} satisfies Record<ExposureRow["kind"], true>);

/** Parameters of `GET /entry`. */
export const entryFields: OptionFields<{ readonly id: string; readonly kind?: ExposureRow["kind"] }> = {
  id: required(longText),
  kind: oneOf(...kinds),
};

/** Fields of `POST /enter`. */
export const enterFields: OptionFields<{ readonly token: string }> = { token: required(longText) };

/** Fields of `POST /cancel`. */
export const cancelFields: OptionFields<{ readonly call: string }> = { call: required(longText) };

/** The decision of a user about a confirmation. */
export interface PageDecision {
  readonly approval: string;
  readonly agree: boolean;
  readonly word?: string;
}

/** Fields of `POST /decide`. */
export const decideFields: OptionFields<PageDecision> = {
  approval: required(longText),
  agree: required(flag),
  word: longText,
};

function check<TFields>(value: unknown, fields: OptionFields<TFields>): TFields | undefined {
  // Every field was checked by its schema.
  return object(fields).problem(value, "") === undefined ? (value as TFields) : undefined;
}

/** Reads a body: `undefined` unless it is a JSON object with these fields, and no others. */
export function readPageBody<TBody>(bytes: Uint8Array, fields: OptionFields<TBody>): TBody | undefined {
  try {
    return check(JSON.parse(decodeBody(bytes) ?? ""), fields);
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
  return check(Object.fromEntries(read), fields);
}
