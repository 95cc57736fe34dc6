import { SurfaceError, type Issue } from "../../errors.ts";
import { toInputSchema, toOutputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { createReceiver } from "../../schema/validator/compile-check.ts";
import { createIssue } from "../../schema/render-issues.ts";
import type { Schema } from "../../schema/standard.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { toMissed, type RequestVerb, type SubscribeVerb } from "../../surface/channel.ts";
import type { EventPage, EventWait, PageOptions } from "../../surface/client.ts";
import type { Kind, Member } from "../../surface/member.ts";
import { Stale, type Staleness } from "../../surface/reading.ts";
import type { CollectionPage } from "../../surface/source.ts";
import type { Part } from "./protocol.ts";

/** Writes and reads the values of one schema, its output side. */
export interface PartCodec {
  /** Writes a validated value. @throws SurfaceError `UNSERIALISABLE`. */
  encode(value: unknown): Part;
  /**
   * Reads a value of a peer, which is not trusted. Runs no schema.
   *
   * @throws SurfaceError `INVALID_OUTPUT` with the issues, for a value that does not fit.
   */
  receive(part: unknown): unknown;
}

const reasonPattern = /^[a-z]{1,32}$/;

/** Checks the form of a time only: it is shown, and not computed with. */
const timePattern = /^\d[\dTZ:.+-]{0,39}$/;

function readStaleness(given: unknown): Staleness | undefined {
  if (!isJsonObject(given)) return undefined;
  const { reason, since } = given;
  if (typeof reason !== "string" || !reasonPattern.test(reason)) return undefined;
  if (typeof since !== "string" || !timePattern.test(since)) return undefined;
  // A peer of a later version may send unknown reasons: they are passed on.
  return { reason: reason as Staleness["reason"], since };
}

/** Returns the codec of a value that may be stale. Malformed staleness is dropped. */
function orStale(part: PartCodec): PartCodec {
  return {
    encode(carried) {
      if (!(carried instanceof Stale)) return part.encode(carried);
      const { reason, since } = carried.staleness;
      return { ...part.encode(carried.value), stale: { reason, since } };
    },
    receive(answer) {
      const value = part.receive(answer);
      const stale = isJsonObject(answer) ? readStaleness(answer["stale"]) : undefined;
      return stale === undefined ? value : new Stale(value, stale);
    },
  };
}

function unfit(issues: readonly Issue[]): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", "Cannot read an answer: it does not fit its schema", { issues });
}

function expected(what: string): SurfaceError {
  return unfit([createIssue([], `expected ${what}`)]);
}

function valueOf(part: unknown): JsonValue | undefined {
  if (!isJsonObject(part)) throw expected("an object");
  return part["value"];
}

/** The codec of values without a schema. */
const anyPart: PartCodec = {
  encode: (value) => (value === undefined ? {} : { value: anyCodec.encode(value) }),
  receive: valueOf,
};

function createPartCodec(schema: CompiledSchema): PartCodec {
  const { bare, wrapped } = schema;
  const receive = createReceiver(schema);
  return {
    encode: (value) => (value === undefined && wrapped ? {} : { value: bare.codec.encode(value) }),
    receive(part) {
      const received = receive(valueOf(part));
      if (received.ok) return received.value;
      throw unfit(received.issues);
    },
  };
}

const partCodecs = new WeakMap<CompiledSchema, PartCodec>();

/** Returns the codec of a schema's output side, created once; without a schema, the codec of any JSON. */
export function toPartCodec(schema: CompiledSchema | undefined): PartCodec {
  if (schema === undefined) return anyPart;
  let codec = partCodecs.get(schema);
  if (codec === undefined) {
    codec = createPartCodec(schema);
    partCodecs.set(schema, codec);
  }
  return codec;
}

/** The schemas of one member, each on the side that crosses the wire. */
export interface MemberSchemas {
  /** The input, or the key of an item, on the input side; the others are on the output side. */
  readonly argument: CompiledSchema | undefined;
  readonly value: CompiledSchema | undefined;
  /** The listed keys of a collection. */
  readonly key: CompiledSchema | undefined;
  /** The filter of a collection, on the input side. */
  readonly filter: CompiledSchema | undefined;
  readonly progress: CompiledSchema | undefined;
  /** The details of declared refusals, by code. */
  readonly errors: Readonly<Record<string, CompiledSchema>>;
}

type SchemaField = "key" | "schema" | "filter" | "input" | "output" | "progress";

/** Returns the schema of a member by its name. */
function schemaAt(member: Member, part: SchemaField): Schema | undefined {
  // In every kind of member these names hold a schema or nothing.
  return Object.hasOwn(member, part) ? (Reflect.get(member, part) as Schema | undefined) : undefined;
}

function compileErrors(member: Member, where: string): Record<string, CompiledSchema> {
  // Without a prototype: the far side sends the codes that are looked up.
  const compiled = Object.create(null) as Record<string, CompiledSchema>;
  if (member.kind !== "procedure") return compiled;
  for (const [code, schema] of Object.entries(member.errors)) {
    const details = toOutputSchema(schema, `"${code}" of ${where}`);
    if (details !== undefined) compiled[code] = details;
  }
  return compiled;
}

function compileMember(member: Member, key: string): MemberSchemas {
  const where = `${member.kind} "${key}"`;
  const argument = schemaAt(member, "key") ?? schemaAt(member, "input");
  const filter = schemaAt(member, "filter");
  return {
    argument: argument === undefined ? undefined : toInputSchema(argument, where),
    value: toOutputSchema(schemaAt(member, "schema") ?? schemaAt(member, "output"), where),
    key: toOutputSchema(schemaAt(member, "key"), where),
    filter: filter === undefined ? undefined : toInputSchema(filter, `the filter of ${where}`),
    progress: toOutputSchema(schemaAt(member, "progress"), where),
    errors: compileErrors(member, where),
  };
}

/** Any verb of a channel. */
export type Verb = RequestVerb | SubscribeVerb;

/** Returns the codec of a list of values. */
function listOf(part: PartCodec): PartCodec {
  return {
    // The type of a channel's answer to these verbs.
    encode: (values) => ({ value: (values as readonly unknown[]).map((value) => part.encode(value)) }),
    receive(answer) {
      const values = isJsonObject(answer) ? answer["value"] : undefined;
      if (!Array.isArray(values)) throw expected("a list");
      return Object.freeze(values.map((value) => part.receive(value)));
    },
  };
}

/** Returns the codec of a value that may be `undefined`. */
function orAbsent(part: PartCodec): PartCodec {
  return {
    encode: (value) => (value === undefined ? {} : part.encode(value)),
    receive: (answer) => (isJsonObject(answer) && !Object.hasOwn(answer, "value") ? undefined : part.receive(answer)),
  };
}

function objectOf(answer: unknown): JsonObject {
  const value = isJsonObject(answer) ? answer["value"] : undefined;
  if (!isJsonObject(value)) throw expected("an object");
  return value;
}

function textAt(json: JsonObject, key: string): string {
  const found = json[key];
  if (typeof found !== "string") throw expected(`"${key}" to be a text`);
  return found;
}

/** Returns the codec of the answer of a wait for an event. */
function waitOf(part: PartCodec): PartCodec {
  return {
    encode(answer) {
      // The type of a channel's answer to this verb.
      const { status, cursor, occurrence, missed, reset } = answer as EventWait;
      const fired = status === "fired" ? { occurrence: part.encode(occurrence) } : {};
      const counts = { ...(missed === undefined ? {} : { missed }), ...(reset === undefined ? {} : { reset }) };
      return { value: { status, cursor, ...fired, ...counts } };
    },
    receive(answer) {
      const json = objectOf(answer);
      const { status } = json;
      if (status !== "fired" && status !== "timed_out") throw expected(`"status" to be "fired" or "timed_out"`);
      const cursor = textAt(json, "cursor");
      const fired = status === "fired" ? { occurrence: part.receive(json["occurrence"]) } : {};
      const missed = toMissed(json["missed"]);
      // An invalid number still says that occurrences were missed.
      const isReset = json["reset"] === true || (missed === undefined && json["missed"] !== undefined);
      const counts = { ...(missed === undefined ? {} : { missed }), ...(isReset ? { reset: true as const } : {}) };
      return { status, cursor, ...fired, ...counts } satisfies EventWait;
    },
  };
}

/** Returns the codec of the kept occurrences of an event. */
function recentOf(part: PartCodec): PartCodec {
  const parts = listOf(part);
  return {
    encode(page) {
      // The type of a channel's answer to this verb.
      const { cursor, occurrences } = page as EventPage;
      return { value: { cursor, occurrences: parts.encode(occurrences)["value"] ?? [] } };
    },
    receive(answer) {
      const json = objectOf(answer);
      const occurrences = parts.receive({ value: json["occurrences"] ?? null });
      return { cursor: textAt(json, "cursor"), occurrences };
    },
  };
}

/** Returns the codec of a page of a collection. */
function itemsOf(key: PartCodec, value: PartCodec): PartCodec {
  return {
    encode(page) {
      // The type of a channel's answer to these verbs.
      const { items, next } = page as CollectionPage<unknown, unknown>;
      const parts = items.map(([each, item]) => [key.encode(each), value.encode(item)]);
      return { value: { items: parts, ...(next === undefined ? {} : { next }) } };
    },
    receive(answer) {
      const page = objectOf(answer);
      if (!Array.isArray(page["items"])) throw expected("a list of items");
      const items = page["items"].map((pair) => {
        if (!Array.isArray(pair)) throw expected("a key and an item");
        return [key.receive(pair[0]), value.receive(pair[1])] as const;
      });
      return Object.freeze({ items, ...(page["next"] === undefined ? {} : { next: textAt(page, "next") }) });
    },
  };
}

/** Makes the codec of the answers of a verb. */
type ToCodec = (schemas: MemberSchemas) => PartCodec;

const state: ToCodec = ({ value }) => orStale(toPartCodec(value));
const entry: ToCodec = ({ value }) => orStale(orAbsent(toPartCodec(value)));
const keys: ToCodec = ({ key }) => orStale(listOf(toPartCodec(key)));
const list: ToCodec = ({ key, value }) => orStale(itemsOf(toPartCodec(key), toPartCodec(value)));
const single: ToCodec = ({ value }) => toPartCodec(value);
const frames: ToCodec = ({ value }) => listOf(toPartCodec(value));
const wait: ToCodec = ({ value }) => waitOf(toPartCodec(value));
const recent: ToCodec = ({ value }) => recentOf(toPartCodec(value));

/** The codecs of the answers of each kind of member. The kind does not have the other verbs. */
const answers: Readonly<Record<Kind, Partial<Readonly<Record<Verb, ToCodec>>>>> = {
  cell: { get: state, watch: state },
  collection: { keys, watchKeys: keys, item: entry, watchItem: entry, list, watchList: list },
  stream: { open: single, latest: single, watchLatest: frames },
  event: { open: single, wait, recent, watchRecent: recent },
  procedure: { call: single },
};

/** Returns whether the argument of a verb is a page, which no schema of the member describes. */
function takesPage(verb: Verb): boolean {
  return verb === "list" || verb === "watchList";
}

function encodeArgument({ bare }: CompiledSchema, value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : bare.codec.encode(value);
}

function decodeArgument({ bare }: CompiledSchema, json: JsonValue | undefined): unknown {
  return json === undefined ? undefined : bare.codec.decode(json);
}

/** Writes and reads the values of one member. */
export class MemberCodec {
  readonly schemas: MemberSchemas;
  readonly #kind: Kind;
  readonly #answers = new Map<Verb, PartCodec>();

  /** @throws SurfaceError `SCHEMA_UNSUPPORTED` if one of its schemas has no JSON form. */
  constructor(member: Member, key: string) {
    this.schemas = compileMember(member, key);
    this.#kind = member.kind;
  }

  /** Returns the codec of a verb's answers; `undefined` for a verb that the member does not have. */
  answer(verb: Verb): PartCodec | undefined {
    const codec = this.#answers.get(verb);
    if (codec !== undefined) return codec;
    const made = answers[this.#kind][verb]?.(this.schemas);
    if (made !== undefined) this.#answers.set(verb, made);
    return made;
  }

  /** Writes an argument, if the verb has one. @throws SurfaceError `UNSERIALISABLE`. */
  encodeArgument(verb: Verb, value: unknown): JsonValue | undefined {
    if (takesPage(verb)) return this.#encodePage(value);
    const { argument } = this.schemas;
    return argument === undefined ? undefined : encodeArgument(argument, value);
  }

  /** Reads an argument, which the owner validates. Never throws. */
  decodeArgument(verb: Verb, json: JsonValue | undefined): unknown {
    if (takesPage(verb)) return this.#decodePage(json);
    const { argument } = this.schemas;
    return argument === undefined ? undefined : decodeArgument(argument, json);
  }

  #encodePage(page: unknown): JsonValue {
    // The type of the argument of these verbs.
    const { filter, ...rest } = page as PageOptions;
    const schema = this.schemas.filter;
    const written = schema === undefined ? filter : encodeArgument(schema, filter);
    return anyCodec.encode(written === undefined ? rest : { ...rest, filter: written });
  }

  #decodePage(json: JsonValue | undefined): unknown {
    const { filter: schema } = this.schemas;
    const given = isJsonObject(json) ? json["filter"] : undefined;
    if (!isJsonObject(json) || given === undefined || schema === undefined) return json;
    return { ...json, filter: decodeArgument(schema, given) };
  }
}

const memberCodecs = new WeakMap<Member, MemberCodec>();

/**
 * Returns the codec of a member, created once.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` if one of its schemas has no JSON form.
 */
export function toMemberCodec(member: Member, key: string): MemberCodec {
  let codec = memberCodecs.get(member);
  if (codec === undefined) {
    codec = new MemberCodec(member, key);
    memberCodecs.set(member, codec);
  }
  return codec;
}
