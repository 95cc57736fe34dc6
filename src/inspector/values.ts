import { contentText } from "../catalog/content/resource-body.ts";
import type { ResourceContent } from "../catalog/entry.ts";
import type { WatchedValue } from "../catalog/resources/resource-watches.ts";
import type { InspectedApp } from "../mcp/inspected-app.ts";
import type { Redactor } from "../observe/redact-secrets.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { JsonSchema, JsonValue } from "../schema/json.ts";
import { clipText } from "../schema/visible-text.ts";
import type { Cut, ValueRow } from "./messages.ts";
import { cut, toBoundValue, type BoundValue } from "./texts.ts";
import type { MemberExposure } from "../catalog/read-exposures.ts";
import { toOutputSchema } from "../schema/compile-schema.ts";
import type { Schema } from "../schema/standard.ts";

const maxShown = 200;
const maxUriBytes = 512;

/** Characters of JSON: of one value, and of all. */
const maxValueLength = 16_384;
const maxValuesLength = 2 ** 18;

/** Characters that are read again in one millisecond of waiting: 5 MB every 5 seconds. */
const lengthPerMs = 1000;

/** A content that was read for the page. */
interface ReadContent {
  readonly content: ResourceContent;
  readonly bytes: number;
  readonly value: BoundValue | undefined;
  /** The time from which a newer content is read. */
  readonly nextAt: number;
}

/** Returns the schema of all forms in which a resource has values of a member: one value, or a list of items. */
function toFormSchema(json: JsonSchema): JsonSchema {
  const listed = { properties: { items: { items: { properties: { item: json, value: json } } } } };
  const definitions = json["$defs"];
  return { anyOf: [json, { items: json }, listed], ...(definitions === undefined ? {} : { $defs: definitions }) };
}

/** Creates the lookup of the schemas by which values are redacted, by the id of an entry. Entries by hand have none. */
function valueSchemas(exposures: readonly MemberExposure[]): (id: string) => JsonSchema | undefined {
  const members = new Map(exposures.map(({ key, member }) => [key, member]));
  const known = new Map<string, JsonSchema | undefined>();
  return (id) => {
    const member = members.get(id);
    if (member === undefined || known.has(id)) return known.get(id);
    const schema: Schema | undefined = "output" in member ? member.output : member.schema;
    const json = toOutputSchema(schema, `"${id}"`)?.bare.json;
    const form = json && toFormSchema(json);
    known.set(id, form);
    return form;
  };
}

function bytesOf(content: ResourceContent): number {
  const text = contentText(content);
  if (text !== undefined) return Buffer.byteLength(text);
  return typeof content === "string" ? 0 : Math.floor(((content.blob?.length ?? 0) * 3) / 4);
}

function parse(text: string): JsonValue {
  try {
    // Parsed text is JSON.
    return JSON.parse(text) as JsonValue;
  } catch {
    // A text of another MIME type.
    return text;
  }
}

/** Reads the watched values of an app. Watches nothing itself. */
export class WatchedValues {
  readonly #app: InspectedApp;
  readonly #redact: Redactor | undefined;
  readonly #schemaOf: (id: string) => JsonSchema | undefined;
  #read = new Map<string, ReadContent>();

  /** @param redact - @default no row has a value */
  constructor(app: InspectedApp, redact: Redactor | undefined) {
    this.#app = app;
    this.#redact = redact;
    this.#schemaOf = valueSchemas(app.parts.exposures);
  }

  /** Returns the watched values, the longest watched first. @param now - milliseconds as the clock counts. */
  list(now: number): Cut<ValueRow> {
    const { opened } = this.#app;
    const watched = opened.flatMap(({ watches }) => watches.list(maxShown));
    const size = opened.reduce((sum, { watches }) => sum + watches.watched, 0);
    const read = new Map<string, ReadContent>();
    let length = 0;
    const rows = cut(watched, maxShown).rows.map((value, index) => {
      const known = this.#contentOf(value, `${index} ${value.id} ${value.uri}`, { now, read });
      const shown = known?.value;
      length += shown?.length ?? 0;
      const { uri, watchers, isStale, changes, changedAt } = value;
      const head = { uri: clipText(uri, maxUriBytes), watchers, isStale, changes, changedAt, bytes: known?.bytes };
      return toDefined({ ...head, value: length <= maxValuesLength ? shown?.value : undefined });
    });
    this.#read = read;
    return { rows, more: Math.max(0, size - rows.length) };
  }

  #contentOf(
    value: WatchedValue,
    key: string,
    { now, read }: { readonly now: number; readonly read: Map<string, ReadContent> },
  ): ReadContent | undefined {
    const known = this.#read.get(key);
    const isWaiting = known !== undefined && now < known.nextAt && now > known.nextAt - 3_600_000;
    const found = isWaiting ? known : this.#readAgain(value, known, now);
    if (found !== undefined) read.set(key, found);
    return found;
  }

  #readAgain(value: WatchedValue, known: ReadContent | undefined, now: number): ReadContent | undefined {
    const content = value.write()?.content;
    if (content === undefined) return undefined;
    if (content === known?.content) return known;
    const bytes = bytesOf(content);
    const text = contentText(content);
    const redacted = text === undefined ? undefined : this.#redact?.(parse(text), this.#schemaOf(value.id));
    const bound = redacted === undefined ? undefined : toBoundValue(redacted, maxValueLength);
    return { content, bytes, value: bound, nextAt: now + bytes / lengthPerMs };
  }
}
