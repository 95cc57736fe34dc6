import { Refusal } from "../../errors.ts";
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { unsupported } from "./document.ts";
import type { Parameter } from "./parameters.ts";

const maxDecodings = 8;

/** Refuses an argument. @param problem - the end of the sentence about it. */
export function refuseArgument(name: string, problem: string): Refusal {
  return new Refusal("VALIDATION_ERROR", `the argument ${JSON.stringify(name)} ${problem}`);
}

/** Encodes a text for a segment or the query: only letters, digits, `-`, `_`, `.` and `~` stay. */
function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw refuseArgument(name, "has half of a character, which no URL can hold");
  }
}

/** Returns the text of a scalar. */
function toText(name: string, value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw refuseArgument(name, value === null ? "has a null" : "has values within values, which its place cannot hold");
}

/** Returns the present fields of an object, or a scalar or list as it is. */
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

function toPair(name: string, key: string, value: JsonValue): string {
  return `${encode(name, key)}=${encode(name, toText(name, value))}`;
}

function toDeepPairs(name: string, value: JsonValue): readonly string[] {
  if (!isJsonObject(value)) throw refuseArgument(name, "must be an object");
  return partsOf(value).flatMap(([key, one]) => {
    const all: readonly JsonValue[] = Array.isArray(one) ? one : [one];
    return all.map((each) => toPair(name, `${name}[${key}]`, each));
  });
}

/** Returns pairs of the query. @param taken - the names of all its parameters. */
function toPairs(parameter: Parameter, value: JsonValue, taken: ReadonlySet<string>): readonly string[] {
  const { name, style, explode } = parameter;
  if (style === "json") return [toPair(name, name, JSON.stringify(value))];
  if (style === "deepObject") return toDeepPairs(name, value);
  if (Array.isArray(value) && explode) return value.map((one) => toPair(name, name, one));
  if (!isJsonObject(value) || !explode) {
    const text = toSimple({ ...parameter, explode: false }, value, (one) => encode(name, one));
    return text === "" && value !== "" ? [] : [`${encode(name, name)}=${text}`];
  }
  // Its fields stand beside the other parameters.
  const other = partsOf(value).find(([key]) => taken.has(key));
  if (other === undefined) return partsOf(value).map(([key, one]) => toPair(name, key, one));
  throw refuseArgument(name, `has the field ${JSON.stringify(other[0])}, which is another parameter`);
}

/** Returns a text without its percent-encodings, however often it is encoded. */
function decodeAll(text: string): string {
  let decoded = text;
  for (let count = 0; count < maxDecodings && decoded.includes("%"); count += 1) {
    const before = decoded;
    // Byte by byte: a dot is one byte in every encoding of it that a server might accept here.
    decoded = decoded.replaceAll(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === before) break;
  }
  return decoded;
}

/** Tells whether a server that decodes a segment could leave its path. */
function leavesPath(text: string): boolean {
  const parts = decodeAll(text).split(/[/\\]/);
  return text === "" || parts.some((part) => /^\.{1,2}$/.test(part.replace(/;.*$/s, "").trim()));
}

/** The URL of an operation: a template, at one origin. */
export class UrlTemplate {
  readonly #base: URL;
  readonly #prefix: string;
  readonly #segments: readonly string[];
  readonly #parameters: readonly Parameter[];
  readonly #names: ReadonlySet<string>;

  /** @throws SurfaceError `SCHEMA_UNSUPPORTED` for a template that is no path, or whose variables are not its path parameters. */
  constructor(base: URL, path: string, parameters: readonly Parameter[]) {
    this.#base = base;
    this.#prefix = base.pathname.replace(/\/$/, "");
    this.#segments = path.split("/").slice(1);
    this.#parameters = parameters;
    this.#names = new Set(parameters.filter(({ place }) => place === "query").map(({ name }) => name));
    const variables = new Set(Array.from(path.matchAll(/\{([^{}]*)\}/g), ([, name]) => name));
    const declared = parameters.filter(({ place }) => place === "path");
    const isDeclared = declared.length === variables.size && declared.every(({ name }) => variables.has(name));
    const literal = path
      .replaceAll(/\{[^{}]*\}/g, "x")
      .split("/")
      .slice(1);
    if (isDeclared && !path.includes("\\") && this.#toUrl(literal, []) !== undefined) return;
    throw unsupported(
      isDeclared
        ? "its path must be percent-encoded segments, none of them dots"
        : "the variables of its path and its path parameters differ",
    );
  }

  /** Returns the URL of a call. @throws Refusal `VALIDATION_ERROR` for a value that its place cannot hold. */
  build(path: JsonObject, query: JsonObject): URL {
    const ofPath = new Map(this.#parameters.flatMap((one) => (one.place === "path" ? [[one.name, one]] : [])));
    const segments = this.#segments.map((segment) =>
      segment.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => toPathText(ofPath.get(name), getOwn(path, name))),
    );
    const pairs = this.#parameters.flatMap((one) => {
      const value = one.place === "query" && Object.hasOwn(query, one.name) ? query[one.name] : undefined;
      return value === undefined || value === null ? [] : toPairs(one, value, this.#names);
    });
    const url = this.#toUrl(segments, pairs);
    if (url === undefined) throw new Refusal("VALIDATION_ERROR", "the arguments would change the path of the request");
    return url;
  }

  /** Returns the URL with these segments; `undefined` if URL parsing would read others, or another origin. */
  #toUrl(segments: readonly string[], pairs: readonly string[]): URL | undefined {
    const path = `${this.#prefix}/${segments.join("/")}`;
    const search = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
    const { origin } = this.#base;
    const url = new URL(`${origin}${path}${search}`);
    // The same text is the same segments: none was dropped, and no value has ended one.
    return url.href === `${origin}${path}${search}` && url.pathname === path ? url : undefined;
  }
}

/** Returns the text of a path argument. An empty one would merge two segments. */
function toPathText(parameter: Parameter | undefined, value: JsonValue | undefined): string {
  if (parameter === undefined || value === undefined)
    throw new Refusal("VALIDATION_ERROR", "a path argument is missing");
  const { name } = parameter;
  const text = toSimple(parameter, value, (one) => {
    if (leavesPath(one))
      throw refuseArgument(name, 'must not be empty, and no part of it may be "." or "..", encoded or not');
    return encode(name, one);
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
