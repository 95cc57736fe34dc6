import { isJsonObject, setOwn, toList, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { clipText } from "../../schema/visible-text.ts";
import {
  fieldsIn,
  partOf,
  resolve,
  textOf,
  unsupported,
  type DocumentReader,
  type FoundOperation,
} from "./document.ts";
import { maxTextBytes, SchemaConverter } from "./schemas.ts";

/** The place of a parameter in a request. */
export type ParameterPlace = "path" | "query" | "header";

/** A parameter that is an input. */
export interface Parameter {
  readonly name: string;
  readonly place: ParameterPlace;
  readonly style: "simple" | "form" | "deepObject" | "json";
  readonly explode: boolean;
  readonly isRequired: boolean;
}

/** The input of an operation. */
export interface RequestInput {
  readonly parameters: readonly Parameter[];
  /** The media type of its JSON body; `undefined` without one. */
  readonly bodyType: string | undefined;
  readonly schema: JsonSchema;
  /** Whether a call without arguments is invalid. */
  readonly isRequired: boolean;
  /** Splits arguments by place. */
  readonly split: (args: JsonObject) => SplitArguments;
}

/** The arguments of a call, by place. */
export interface SplitArguments {
  readonly values: Readonly<Record<ParameterPlace, JsonObject>>;
  readonly body: JsonValue | undefined;
}

const places: readonly ParameterPlace[] = ["path", "query", "header"];
const stylesOf: Readonly<Record<ParameterPlace, readonly Parameter["style"][]>> = {
  path: ["simple"],
  query: ["form", "deepObject"],
  header: ["simple"],
};

// Headers of the connection, of its credentials and of the body: an agent never sets them.
const reservedHeader =
  /^(?:authorization|cookie2?|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept|accept-encoding|forwarded|x-forwarded-.*|via|origin|referer|content-.*|proxy-.*|sec-.*)$/i;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Returns whether a media type is JSON. */
export function isJsonMedia(mediaType: string): boolean {
  return /^application\/(?:[^;\s]+\+)?json(?:\s*;|$)/i.test(mediaType);
}

/** Returns the media type and the schema of the JSON in a `content`. */
export function jsonContentOf(content: unknown): readonly [mediaType: string, schema: unknown] | undefined {
  const found = fieldsIn(content).find(([mediaType]) => isJsonMedia(mediaType));
  return found === undefined ? undefined : [found[0], partOf(found[1], "schema")];
}

interface ReadParameter extends Parameter {
  readonly json: JsonObject;
}

/** Reads the input of one operation. */
class InputReader {
  readonly #reader: DocumentReader;
  readonly #schemas: SchemaConverter;

  constructor(reader: DocumentReader) {
    this.#reader = reader;
    this.#schemas = new SchemaConverter(reader, "input");
  }

  read({ operation, item, method }: FoundOperation): RequestInput {
    const parameters = this.#parameters(item, operation);
    const body = this.#body(operation, method);
    const fields: [string, JsonObject, boolean][] = parameters.map(({ name, json, isRequired }) => [
      name,
      json,
      isRequired,
    ]);
    if (body !== undefined) fields.push(["body", body.json, body.isRequired]);
    const areDistinct = new Set(fields.map(([name]) => name)).size === fields.length;
    const schema = this.#schemas.withDefinitions(areDistinct ? toObject(fields) : toNested(parameters, fields));
    return {
      parameters,
      bodyType: body?.mediaType,
      schema,
      isRequired: toList(schema["required"]).length > 0,
      split: areDistinct ? (args) => splitFlat(args, parameters) : splitNested,
    };
  }

  /** Reads parameters. Those of the operation replace those of its path. */
  #parameters(item: object, operation: object): readonly ReadParameter[] {
    const merged = new Map<string, ReadParameter>();
    for (const owner of [item, operation]) {
      for (const given of toList(partOf(owner, "parameters"))) {
        const read = this.#parameter(resolve(this.#reader.root, given));
        if (read !== undefined) merged.set(`${read.place} ${read.name}`, read);
      }
    }
    return [...merged.values()];
  }

  /** Returns a parameter; `undefined` for one that an agent never sets. */
  #parameter(given: unknown): ReadParameter | undefined {
    const name = textOf(given, "name") ?? "";
    const found = textOf(given, "in");
    if (found === "cookie" || (found === "header" && reservedHeader.test(name))) return undefined;
    const what = `its parameter ${JSON.stringify(name.slice(0, 64))}`;
    const place = this.#placeOf(name, found, what);
    const json = this.#jsonOf(given, what);
    const style = json === undefined ? this.#styleOf(place, given, what) : "json";
    const explode = partOf(given, "explode");
    return {
      ...{ name, place, style },
      explode: typeof explode === "boolean" ? explode : style === "form",
      isRequired: place === "path" || partOf(given, "required") === true,
      json: this.#described(json === undefined ? partOf(given, "schema") : json[1], textOf(given, "description")),
    };
  }

  #placeOf(name: string, found: string | undefined, what: string): ParameterPlace {
    const place = places.find((one) => one === found);
    if (name === "" || place === undefined) {
      throw unsupported(`${what} must have a name, and be in the path, the query or a header`);
    }
    if (place === "header" && !headerName.test(name)) throw unsupported(`${what} is no name of a header`);
    return place;
  }

  /** Returns the content of a parameter that is JSON; `undefined` for one with a style. */
  #jsonOf(given: unknown, what: string): ReturnType<typeof jsonContentOf> {
    const content = partOf(given, "content");
    const json = jsonContentOf(content);
    if (content !== undefined && json === undefined) throw unsupported(`${what} is not JSON`);
    return json;
  }

  #styleOf(place: ParameterPlace, given: unknown, what: string): Parameter["style"] {
    const supported = stylesOf[place];
    const wanted = partOf(given, "style") ?? supported[0];
    const style = supported.find((one) => one === wanted);
    if (style !== undefined) return style;
    throw unsupported(`${what} has a style other than ${supported.join(" and ")}`);
  }

  #described(schema: unknown, description: string | undefined): JsonObject {
    const json = this.#schemas.convert(schema ?? true);
    const isDescribed = description === undefined || json["description"] !== undefined;
    return isDescribed ? json : { ...json, description: clipText(description, maxTextBytes) };
  }

  #body(
    operation: object,
    method: string,
  ): { readonly mediaType: string; readonly json: JsonObject; readonly isRequired: boolean } | undefined {
    const given = resolve(this.#reader.root, partOf(operation, "requestBody"));
    if (given === undefined) return undefined;
    const isRequired = partOf(given, "required") === true;
    const json = method === "GET" || method === "HEAD" ? undefined : jsonContentOf(partOf(given, "content"));
    if (json === undefined) {
      if (!isRequired) return undefined;
      throw unsupported("it requires a body that is not JSON, or that its method does not have");
    }
    const [mediaType, schema] = json;
    return { mediaType, json: this.#described(schema, textOf(given, "description")), isRequired };
  }
}

function toObject(fields: readonly (readonly [name: string, json: JsonObject, isRequired: boolean])[]): JsonObject {
  const properties: Record<string, JsonValue> = {};
  for (const [name, json] of fields) setOwn(properties, name, json);
  const names = fields.flatMap(([name, , isRequired]) => (isRequired ? [name] : []));
  const required = names.length === 0 ? {} : { required: names };
  return { type: "object", properties, ...required, additionalProperties: false };
}

/** Returns the schema of arguments by place: two parameters have one name. */
function toNested(
  parameters: readonly ReadParameter[],
  fields: readonly (readonly [name: string, json: JsonObject, isRequired: boolean])[],
): JsonObject {
  const nested = places.flatMap((place) => {
    const own = parameters.filter((parameter) => parameter.place === place);
    if (own.length === 0) return [];
    const json = toObject(own.map(({ name, json: one, isRequired }) => [name, one, isRequired] as const));
    return [[place, json, own.some(({ isRequired }) => isRequired)] as const];
  });
  // The body is the last field, behind all parameters.
  return toObject([...nested, ...fields.slice(parameters.length)]);
}

function splitFlat(args: JsonObject, parameters: readonly Parameter[]): SplitArguments {
  const values: Record<ParameterPlace, Record<string, JsonValue>> = { path: {}, query: {}, header: {} };
  for (const { name, place } of parameters) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value !== undefined) setOwn(values[place], name, value);
  }
  return { values, body: Object.hasOwn(args, "body") ? args["body"] : undefined };
}

function splitNested(args: JsonObject): SplitArguments {
  const at = (place: string): JsonObject => {
    const given = args[place];
    return isJsonObject(given) ? given : {};
  };
  return { values: { path: at("path"), query: at("query"), header: at("header") }, body: args["body"] };
}

/**
 * Reads the input of an operation: its parameters and its body, flat unless two have one name.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for a style, a body or a schema that is not supported.
 */
export function readInput(reader: DocumentReader, found: FoundOperation): RequestInput {
  return new InputReader(reader).read(found);
}
