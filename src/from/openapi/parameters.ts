import { setOwn, toList } from "../../schema/json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../../schema/json.ts";
import { clipText } from "../../schema/visible-text.ts";
import { fieldsIn, partOf, resolve, unsupported, type FoundOperation } from "./document.ts";
import { maxTextBytes, type SchemaConverter } from "./schemas.ts";
import { textAt } from "../rpc/procedure.ts";

/** The place of a parameter in a request. */
export type ParameterPlace = "path" | "query" | "header";

/** A parameter that is an input. */
export interface Parameter {
  readonly name: string;
  readonly place: ParameterPlace;
  readonly style: "simple" | "form" | "deepObject" | "json";
  readonly explode: boolean;
}

/** Returns the argument of a parameter; `undefined` for one that is missing or null. */
export type ArgumentOf = (parameter: Pick<Parameter, "name">) => JsonValue | undefined;

/** The input of an operation. */
export interface RequestInput {
  readonly parameters: readonly Parameter[];
  /** The media type of its JSON body; `undefined` without one. */
  readonly bodyType: string | undefined;
  readonly schema: JsonSchema;
  /** Whether a call without arguments is invalid. */
  readonly isRequired: boolean;
}

/** A property of an input. */
interface Field {
  readonly name: string;
  readonly json: JsonObject;
  readonly isRequired: boolean;
}

const places: readonly ParameterPlace[] = ["path", "query", "header"];
const stylesOf: Readonly<Record<ParameterPlace, readonly Parameter["style"][]>> = {
  path: ["simple"],
  query: ["form", "deepObject"],
  header: ["simple"],
};

// Headers of the connection, of its credentials and of the body, and those by which servers take another method or path.
const reservedHeader =
  /^(?:authorization|cookie2?|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept|accept-encoding|forwarded|x-forwarded-.*|x-real-ip|x-(?:http-)?method(?:-override)?|x-original-url|x-rewrite-url|via|origin|referer|content-.*|proxy-.*|sec-.*)$/i;

/** Returns whether a text is the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text);
}

/** Returns whether a media type is JSON. */
export function isJsonMedia(mediaType: string): boolean {
  return /^application\/(?:[!-:<-~]+\+)?json[\t ]*(?:;[\t -~]*)?$/i.test(mediaType);
}

/** Returns the media type and the schema of the JSON in a `content`. */
export function jsonContentOf(content: unknown): readonly [mediaType: string, schema: unknown] | undefined {
  const found = fieldsIn(content).find(([mediaType]) => isJsonMedia(mediaType));
  return found === undefined ? undefined : [found[0], partOf(found[1], "schema")];
}

function placeOf(name: string, found: string | undefined, what: string): ParameterPlace {
  const place = places.find((one) => one === found);
  if (name === "" || place === undefined) {
    throw unsupported(`${what} must have a name, and be in the path, the query or a header`);
  }
  if (place === "header" && !isHeaderName(name)) throw unsupported(`${what} is no name of a header`);
  return place;
}

function styleOf(given: unknown, place: ParameterPlace, what: string): Parameter["style"] {
  const content = partOf(given, "content");
  if (content !== undefined) {
    if (jsonContentOf(content) === undefined) throw unsupported(`${what} is not JSON`);
    return "json";
  }
  const supported = stylesOf[place];
  const wanted = partOf(given, "style") ?? supported[0];
  const style = supported.find((one) => one === wanted);
  if (style === undefined) throw unsupported(`${what} has a style other than ${supported.join(" and ")}`);
  return style;
}

function toDescribed(schemas: SchemaConverter, schema: unknown, owner: unknown): JsonObject {
  const json = schemas.convert(schema ?? true);
  const description = textAt(owner, "description");
  const isDescribed = description === undefined || json["description"] !== undefined;
  return isDescribed ? json : { ...json, description: clipText(description, maxTextBytes) };
}

function toIdentity(place: string | undefined, name: string): string {
  return `${place} ${place === "header" ? name.toLowerCase() : name}`;
}

/** Returns the parameters that hold keys, of which the document tells: `credentials` sets them. */
function keyParametersOf(root: object): ReadonlySet<string> {
  const schemes = fieldsIn(partOf(partOf(root, "components"), "securitySchemes"));
  const given = schemes.map(([, scheme]) => resolve(root, scheme));
  const ofKeys = given.filter((scheme) => partOf(scheme, "type") === "apiKey");
  return new Set(ofKeys.map((scheme) => toIdentity(textAt(scheme, "in"), textAt(scheme, "name") ?? "")));
}

/** Returns a parameter; `undefined` for one that an agent never sets. */
function readParameter(
  schemas: SchemaConverter,
  given: unknown,
  keys: ReadonlySet<string>,
): (Parameter & Field) | undefined {
  const name = textAt(given, "name") ?? "";
  const found = textAt(given, "in");
  const isReserved = found === "cookie" || (found === "header" && reservedHeader.test(name));
  if (isReserved || keys.has(toIdentity(found, name))) return undefined;
  const what = `its parameter ${JSON.stringify(name.slice(0, 64))}`;
  const place = placeOf(name, found, what);
  const style = styleOf(given, place, what);
  const schema = style === "json" ? jsonContentOf(partOf(given, "content"))?.[1] : partOf(given, "schema");
  const explode = partOf(given, "explode");
  return {
    ...{ name, place, style },
    explode: typeof explode === "boolean" ? explode : style === "form",
    isRequired: place === "path" || partOf(given, "required") === true,
    json: toDescribed(schemas, schema, given),
  };
}

/** Reads parameters. Those of the operation replace those of its path. */
function readParameters(schemas: SchemaConverter, { item, operation }: FoundOperation): readonly (Parameter & Field)[] {
  const given = [item, operation].flatMap((owner) => toList(partOf(owner, "parameters")));
  const keys = keyParametersOf(schemas.root);
  const read = given.map((one) => readParameter(schemas, resolve(schemas.root, one), keys));
  const present = read.filter((one) => one !== undefined);
  return [...new Map(present.map((one) => [`${one.place} ${one.name}`, one] as const)).values()];
}

/** A body, as a property of an input. */
type BodyField = Field & Pick<RequestInput, "bodyType">;

function readBody(schemas: SchemaConverter, { operation, method }: FoundOperation): BodyField | undefined {
  const given = resolve(schemas.root, partOf(operation, "requestBody"));
  const isRequired = partOf(given, "required") === true;
  const json = method === "GET" || method === "HEAD" ? undefined : jsonContentOf(partOf(given, "content"));
  if (json !== undefined) {
    return { name: "body", bodyType: json[0], json: toDescribed(schemas, json[1], given), isRequired };
  }
  if (isRequired) throw unsupported("it requires a body that is not JSON, or that its method does not have");
  return undefined;
}

function toObject(fields: readonly Field[]): JsonObject {
  const properties: Record<string, JsonValue> = {};
  for (const { name, json } of fields) setOwn(properties, name, json);
  const names = fields.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  const required = names.length === 0 ? {} : { required: names };
  return { type: "object", properties, ...required, additionalProperties: false };
}

/**
 * Reads the input of an operation: its parameters by name, and its body.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for a style, a body or a schema that is not supported, and for two inputs of one name.
 */
export function readInput(schemas: SchemaConverter, found: FoundOperation): RequestInput {
  const parameters = readParameters(schemas, found);
  const body = readBody(schemas, found);
  const fields = body === undefined ? parameters : [...parameters, body];
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw unsupported(`two of its inputs have the name ${JSON.stringify(twice.slice(0, 64))}`);
  return {
    parameters,
    bodyType: body?.bodyType,
    schema: schemas.withDefinitions(toObject(fields)),
    isRequired: fields.some(({ isRequired }) => isRequired),
  };
}
