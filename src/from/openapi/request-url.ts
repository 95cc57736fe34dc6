import { Refusal } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { encodeSegment } from "../names.ts";
import { unsupported } from "./document.ts";
import type { ArgumentOf, Parameter } from "./parameters.ts";

const maxDecodings = 8;
const variable = /\{([^{}]*)\}/g;

/** Refuses an argument. @param problem - the end of the sentence about it. */
function refuseArgument(name: string, problem: string): Refusal {
  return new Refusal("VALIDATION_ERROR", `the argument ${JSON.stringify(name)} ${problem}`);
}

/** Encodes a text for a segment or the query: only letters, digits, `-`, `_`, `.` and `~` stay. */
function encode(name: string, text: string): string {
  const encoded = encodeSegment(text);
  if (encoded === undefined) throw refuseArgument(name, "has half of a character, which no URL can hold");
  return encoded;
}

/** Returns the text of a scalar. */
function toText(name: string, value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw refuseArgument(name, value === null ? "has a null" : "has values within values, which its place cannot hold");
}

/** Returns the present fields of an object. */
function partsOf(value: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.entries(value).flatMap(([key, one]) =>
    one === undefined || one === null ? [] : [[key, one] as const],
  );
}

/** Returns a value in the style `simple`. */
function toSimple({ name, style, explode }: Parameter, value: JsonValue, write: (text: string) => string): string {
  if (style === "json") return write(JSON.stringify(value));
  if (Array.isArray(value)) return value.map((one) => write(toText(name, one))).join(",");
  if (!isJsonObject(value)) return write(toText(name, value));
  const between = explode ? "=" : ",";
  return partsOf(value)
    .map(([key, one]) => `${write(key)}${between}${write(toText(name, one))}`)
    .join(",");
}

/** Returns the parts of a value that are a pair each; `undefined` for a value that is one pair. */
function toParts({ name, style, explode }: Parameter, value: JsonValue): ReturnType<typeof partsOf> | undefined {
  if (style === "deepObject") {
    if (isJsonObject(value)) return partsOf(value).map(([key, one]) => [`${name}[${key}]`, one]);
    throw refuseArgument(name, "must be an object");
  }
  if (!explode || style === "json") return undefined;
  if (Array.isArray(value)) return value.map((one) => [name, one]);
  return isJsonObject(value) ? partsOf(value) : undefined;
}

/** Returns pairs of the query. @param taken - the names of all its parameters. */
function toPairs(parameter: Parameter, value: JsonValue, taken: ReadonlySet<string>): readonly string[] {
  const { name } = parameter;
  const parts = toParts(parameter, value);
  if (parts === undefined) {
    const text = toSimple({ ...parameter, explode: false }, value, (one) => encode(name, one));
    return text === "" && value !== "" ? [] : [`${encode(name, name)}=${text}`];
  }
  // The fields of an object stand beside the other parameters.
  const other = parts.find(([key]) => key !== name && taken.has(key));
  if (other === undefined) return parts.map(([key, one]) => `${encode(name, key)}=${encode(name, toText(name, one))}`);
  throw refuseArgument(name, `has the field ${JSON.stringify(other[0])}, which is another parameter`);
}

/** Returns a text without its percent-encodings, however often it is encoded. */
function decodeAll(text: string): string {
  let decoded = text;
  // Byte by byte: a dot is one byte in every encoding of it that a server might accept here.
  const toChar = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));
  for (let count = 0; count < maxDecodings; count += 1) decoded = decoded.replaceAll(/%([0-7][0-9A-Fa-f])/g, toChar);
  return decoded;
}

/** Tells whether a server that decodes a segment could leave its path. Some drop control characters and white space. */
function leavesPath(text: string): boolean {
  const parts = decodeAll(text).split(/[/\\]/);
  return parts.some((part) => /^\.{1,2}$/.test(part.replace(/;.*$/s, "").replaceAll(/[\s\p{Cc}]/gu, "")));
}

/** The URL of an operation: a template, at one origin. */
export class UrlTemplate {
  readonly #start: string;
  readonly #path: string;
  readonly #parameters: readonly Parameter[];
  readonly #names: ReadonlySet<string>;

  /** @throws SurfaceError `SCHEMA_UNSUPPORTED` for a template that is no path, or whose variables are not its path parameters. */
  constructor(base: URL, path: string, parameters: readonly Parameter[]) {
    this.#start = base.origin + base.pathname.replace(/\/$/, "");
    this.#path = path;
    this.#parameters = parameters;
    this.#names = new Set(parameters.filter(({ place }) => place === "query").map(({ name }) => name));
    const variables = new Set(Array.from(path.matchAll(variable), ([, name]) => name));
    const declared = parameters.filter(({ place }) => place === "path");
    if (declared.length !== variables.size || !declared.every(({ name }) => variables.has(name))) {
      throw unsupported("the variables of its path and its path parameters differ");
    }
    if (path.includes("\\") || this.#toUrl(path.replaceAll(variable, "x"), []) === undefined) {
      throw unsupported("its path must be percent-encoded segments, none of them dots");
    }
  }

  /** Returns the URL of a call. @throws Refusal `VALIDATION_ERROR` for a value that its place cannot hold. */
  build(argumentOf: ArgumentOf): URL {
    const path = this.#path.replaceAll(variable, (_, name: string) => {
      const parameter = this.#parameters.find((one) => one.place === "path" && one.name === name);
      return toPathText(name, parameter, argumentOf({ name }));
    });
    const pairs = this.#parameters.flatMap((one) => {
      const value = one.place === "query" ? argumentOf(one) : undefined;
      return value === undefined ? [] : toPairs(one, value, this.#names);
    });
    const url = this.#toUrl(path, pairs);
    if (url === undefined) throw new Refusal("VALIDATION_ERROR", "the arguments would change the path of the request");
    return url;
  }

  /** Returns the URL with this path; `undefined` if URL parsing would read another path, or another origin. */
  #toUrl(path: string, pairs: readonly string[]): URL | undefined {
    // Values that are harmless alone may be dots together, or behind a text of the template.
    if (path.split("/").some(leavesPath)) return undefined;
    const target = this.#start + path;
    const search = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
    const url = new URL(target + search);
    // The same text is the same segments: none was dropped, and no value has ended one.
    return url.href === target + search && url.origin + url.pathname === target ? url : undefined;
  }
}

/** Returns the text of a path argument. An empty one would merge two segments. */
function toPathText(name: string, parameter: Parameter | undefined, value: JsonValue | undefined): string {
  if (parameter === undefined || value === undefined) throw refuseArgument(name, "is missing");
  const text = toSimple(parameter, value, (one) => {
    if (one !== "" && !leavesPath(one)) return encode(name, one);
    throw refuseArgument(name, 'must not be empty, and no part of it may be "." or "..", encoded or not');
  });
  if (text === "") throw refuseArgument(name, "must not be empty");
  return text;
}

/** Tells whether a header can hold a text. */
export function isHeaderText(text: string): boolean {
  return /^[\u0020-\u007E]*$/.test(text);
}

/** Returns the value of a header. @throws Refusal `VALIDATION_ERROR`. */
export function toHeader(parameter: Parameter, value: JsonValue): string {
  const text = toSimple(parameter, value, (one) => one);
  if (isHeaderText(text)) return text;
  throw refuseArgument(parameter.name, "has characters that no header can hold");
}
