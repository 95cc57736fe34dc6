import { assertKnown, fieldOf, readFields, readList, readText, toMisfit, type Place } from "./plain-data.ts";
import { readVerdict } from "./read-verdict.ts";
import type { OneOf, ViewCondition, ViewRule } from "./view-rules.ts";

/** The longest name of a rule, a packet or a view, in characters. */
export const maxNameLength = 256;

/** The longest value of a condition, in characters, and how many there may be of which one has to fit. */
const maxValueLength = 1024;
const maxValues = 1024;

const textFields = ["surface", "user_agent", "project", "principal"] as const;
const clientFields = ["name", "version"] as const;

function readOneOf(value: unknown, place: Place): OneOf {
  if (!Array.isArray(value)) return readText(value, place, maxValueLength);
  const values = readList(value, place, { most: maxValues, of: "texts" });
  return Object.freeze(values.map((text, index) => readText(text, fieldOf(place, `${index}`), maxValueLength)));
}

/** Those of some fields that are there, each one text or several. */
function readTexts(value: unknown, place: Place, names: readonly string[]): Readonly<Record<string, OneOf>> {
  const fields = readFields(value, place);
  const texts = names.flatMap((name): readonly (readonly [string, OneOf])[] =>
    fields.has(name) ? [[name, readOneOf(fields.get(name), fieldOf(place, name))]] : [],
  );
  return Object.fromEntries(texts);
}

function readClient(value: unknown, place: Place): Readonly<Record<string, OneOf>> {
  assertKnown(readFields(value, place), clientFields, place);
  const client = readTexts(value, place, clientFields);
  if (Object.keys(client).length === 0) throw toMisfit(value, place, `an object with "name", "version" or both`);
  return Object.freeze(client);
}

function readCondition(value: unknown, place: Place): ViewCondition {
  const fields = readFields(value, place);
  assertKnown(fields, [...textFields, "client"], place);
  const texts = readTexts(value, place, textFields);
  if (!fields.has("client")) return Object.freeze(texts);
  return Object.freeze({ ...texts, client: readClient(fields.get("client"), fieldOf(place, "client")) });
}

/**
 * One rule: a frozen copy.
 *
 * @param number - which of its packet it is, from 1 on: its name where it says none.
 * @throws SurfaceError `INVALID_OPTION` naming the packet, the rule and the field.
 */
export function readRule(value: unknown, number: number, packet: string): ViewRule {
  const unnamed: Place = { owner: `rule "${number}" of ${packet}`, field: "" };
  const fields = readFields(value, unnamed);
  const id = fields.has("id") ? readText(fields.get("id"), fieldOf(unnamed, "id"), maxNameLength) : undefined;
  const place: Place = id === undefined ? unnamed : { owner: `rule "${id}" of ${packet}`, field: "" };
  assertKnown(fields, ["id", "when", "verdict"], place);
  return Object.freeze({
    ...(id === undefined ? {} : { id }),
    ...(fields.has("when") ? { when: readCondition(fields.get("when"), fieldOf(place, "when")) } : {}),
    verdict: readVerdict(fields.get("verdict"), fieldOf(place, "verdict")),
  });
}
