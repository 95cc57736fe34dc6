import type { Outcome } from "../observe/observation.ts";
import { boundedText, flag, object, oneOf, required, wholeNumber, type OptionFields } from "../options/option.ts";
import type { HistoryFilter } from "./history.ts";
import type { ExposureRow } from "./messages.ts";

const longText = boundedText(2048);

/** A request without fields. */
export const noFields: OptionFields<object> = {};

const outcomes = Object.keys({
  ok: true,
  failed: true,
  refused: true,
  asked: true,
  cancelled: true,
  closed: true,
} satisfies Record<Outcome, true>);

/** Fields of the request `history`. */
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
  page: true,
  skill: true,
} satisfies Record<ExposureRow["kind"], true>);

/** Names an entry. */
export interface EntryRequest {
  readonly id: string;
  /** @default the first kind that has an entry of this id */
  readonly kind?: ExposureRow["kind"];
}

/** Fields of the request `entry`. */
export const entryFields: OptionFields<EntryRequest> = { id: required(longText), kind: oneOf(...kinds) };

/** Fields of the request `cancel`. */
export const cancelFields: OptionFields<{ readonly call: string }> = { call: required(longText) };

/** The decision of a user about a confirmation. */
export interface PageDecision {
  readonly approval: string;
  readonly agree: boolean;
  readonly word?: string;
}

/** Fields of the request `decide`. */
export const decideFields: OptionFields<PageDecision> = {
  approval: required(longText),
  agree: required(flag),
  word: longText,
};

/** Reads a request: `undefined` unless it is an object with these fields, and no others. */
export function readPageFields<TFields>(value: unknown, fields: OptionFields<TFields>): TFields | undefined {
  // Every field was checked by its schema.
  return object(fields).problem(value, "") === undefined ? (value as TFields) : undefined;
}
