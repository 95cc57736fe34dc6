import { SurfaceError } from "../../errors.ts";
import { toInputSchema, toOutputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { createIssue } from "../../schema/render-issues.ts";
import type { Schema } from "../../schema/standard.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { type RequestVerb, type SubscribeVerb, toMissed } from "../../surface/channel.ts";
import type { EventPage, EventWait, PageOptions } from "../../surface/client.ts";
import type { Kind, Member } from "../../surface/member.ts";
import type { CollectionPage } from "../../surface/source.ts";
import { orStale, toPartCodec, type PartCodec } from "./part-codec.ts";

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

type Part = "key" | "schema" | "filter" | "input" | "output" | "progress";

/** Returns the schema of a member by its name. */
function schemaAt(member: Member, part: Part): Schema | undefined {
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

/** The form of a verb's answer. */
type Form = "state" | "item" | "keys" | "list" | "value" | "values" | "wait" | "page";

const forms: Readonly<Record<Kind, Partial<Readonly<Record<Verb, Form>>>>> = {
  cell: { get: "state", watch: "state" },
  collection: { keys: "keys", watchKeys: "keys", item: "item", watchItem: "item", list: "list", watchList: "list" },
  stream: { open: "value", latest: "value", watchLatest: "values" },
  event: { open: "value", wait: "wait", recent: "page", watchRecent: "page" },
  procedure: { call: "value" },
};

function unfit(where: string): SurfaceError {
  const issues = [createIssue([], `expected ${where}`)];
  return new SurfaceError("INVALID_OUTPUT", "Reading an answer: it does not fit its verb", { issues });
}

/** Returns the codec of a list of values. */
function listOf(part: PartCodec): PartCodec {
  return {
    // The type of a channel's answer to these verbs.
    encode: (values) => ({ value: (values as readonly unknown[]).map((value) => part.encode(value)) }),
    receive(answer) {
      const values = isJsonObject(answer) ? answer["value"] : undefined;
      if (!Array.isArray(values)) throw unfit("a list");
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

function textAt(json: JsonObject, key: string): string {
  const found = json[key];
  if (typeof found !== "string") throw unfit(`"${key}" to be a text`);
  return found;
}

function encodeWait(wait: EventWait, part: PartCodec): JsonObject {
  const { status, cursor, missed, reset } = wait;
  return {
    status,
    cursor,
    ...(status === "fired" ? { occurrence: part.encode(wait.occurrence) } : {}),
    ...(missed === undefined ? {} : { missed }),
    ...(reset === undefined ? {} : { reset }),
  };
}

function readWait(json: unknown, part: PartCodec): EventWait {
  if (!isJsonObject(json)) throw unfit("an object");
  const { status, reset } = json;
  const missed = toMissed(json["missed"]);
  // An invalid number still says that occurrences were missed.
  const isReset = reset === true || (missed === undefined && json["missed"] !== undefined);
  if (status !== "fired" && status !== "timed_out") throw unfit(`"status" to be "fired" or "timed_out"`);
  return {
    status,
    cursor: textAt(json, "cursor"),
    ...(status === "fired" ? { occurrence: part.receive(json["occurrence"]) } : {}),
    ...(missed === undefined ? {} : { missed }),
    ...(isReset ? { reset: true } : {}),
  };
}

function readPage(json: unknown, occurrences: PartCodec): EventPage {
  if (!isJsonObject(json)) throw unfit("an object");
  // The codec of a list returns one.
  const list = occurrences.receive({ value: json["occurrences"] ?? null }) as readonly unknown[];
  return { cursor: textAt(json, "cursor"), occurrences: list };
}

function waitOf(part: PartCodec): PartCodec {
  return {
    // The type of a channel's answer to this verb.
    encode: (wait) => ({ value: encodeWait(wait as EventWait, part) }),
    receive: (answer) => readWait(isJsonObject(answer) ? answer["value"] : undefined, part),
  };
}

function pageOf(part: PartCodec): PartCodec {
  const list = listOf(part);
  return {
    encode(page) {
      // The type of a channel's answer to this verb.
      const { cursor, occurrences } = page as EventPage;
      return { value: { cursor, occurrences: list.encode(occurrences)["value"] ?? [] } };
    },
    receive: (answer) => readPage(isJsonObject(answer) ? answer["value"] : undefined, list),
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
      const page = isJsonObject(answer) ? answer["value"] : undefined;
      if (!isJsonObject(page) || !Array.isArray(page["items"])) throw unfit("a page");
      const items = page["items"].map((pair) => {
        if (!Array.isArray(pair)) throw unfit("a key and an item");
        return [key.receive(pair[0]), value.receive(pair[1])] as const;
      });
      return Object.freeze({ items, ...(page["next"] === undefined ? {} : { next: textAt(page, "next") }) });
    },
  };
}

const answers: Readonly<Record<Form, (schemas: MemberSchemas) => PartCodec>> = {
  state: ({ value }) => orStale(toPartCodec(value)),
  item: ({ value }) => orStale(orAbsent(toPartCodec(value))),
  keys: ({ key }) => orStale(listOf(toPartCodec(key))),
  list: ({ key, value }) => orStale(itemsOf(toPartCodec(key), toPartCodec(value))),
  value: ({ value }) => toPartCodec(value),
  values: ({ value }) => listOf(toPartCodec(value)),
  wait: ({ value }) => waitOf(toPartCodec(value)),
  page: ({ value }) => pageOf(toPartCodec(value)),
};

/** Returns whether the argument of a verb is a page, which no schema of the member describes. */
function takesPage(verb: Verb): boolean {
  return verb === "list" || verb === "watchList";
}

function encodeArgument({ codec, wrapped }: CompiledSchema, value: unknown): JsonValue | undefined {
  if (value === undefined) return undefined;
  const json = codec.encode(value);
  return wrapped && isJsonObject(json) ? json["value"] : json;
}

function decodeArgument({ codec, wrapped }: CompiledSchema, json: JsonValue | undefined): unknown {
  return json === undefined ? undefined : codec.decode(wrapped ? { value: json } : json);
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
    const form = forms[this.#kind][verb];
    if (form === undefined) return undefined;
    const made = answers[form](this.schemas);
    this.#answers.set(verb, made);
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

const known = new WeakMap<Member, MemberCodec>();

/**
 * Returns the codec of a member, created once.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` if one of its schemas has no JSON form.
 */
export function toMemberCodec(member: Member, key: string): MemberCodec {
  let codec = known.get(member);
  if (codec === undefined) {
    codec = new MemberCodec(member, key);
    known.set(member, codec);
  }
  return codec;
}
