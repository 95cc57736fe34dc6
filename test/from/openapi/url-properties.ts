import * as fc from "fast-check";
import type { JsonValue } from "../../../src/schema/json.ts";
import { Refusal } from "../../../src/errors.ts";
import { UrlTemplate } from "../../../src/from/openapi/request-url.ts";
import type { Parameter } from "../../../src/from/openapi/parameters.ts";

const parameters: readonly Parameter[] = [
  { name: "id", place: "path", style: "simple", explode: false },
  { name: "rest", place: "path", style: "simple", explode: true },
  { name: "q", place: "query", style: "form", explode: true },
  { name: "list", place: "query", style: "form", explode: false },
  { name: "deep", place: "query", style: "deepObject", explode: true },
];
const base = new URL("https://api.example:8443/v1/");
const template = new UrlTemplate(base, "/users/{id}/files/{rest}.json", parameters);

const pieces = [
  ...[
    "..",
    ".",
    "",
    "/",
    "\\",
    "%2e",
    "%2E",
    "%252e",
    "%2f",
    "%5c",
    "%00",
    "\0",
    "?",
    "#",
    ";",
    "@",
    ":",
    "//evil.example",
  ],
  ...["\uD800", "é", "x", "&", "=", "+", " ", "\t", "\r\n", "..%c0%af", "\uFF0E", "\u2024", "[", "]", "'", "(", "*"],
];
const text = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ maxLength: 12 }),
);
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(text, scalar, { maxKeys: 3 }) },
);

interface Given {
  readonly id: JsonValue;
  readonly rest: JsonValue;
  readonly q: JsonValue;
  readonly deep: JsonValue;
}

const given: fc.Arbitrary<Given> = fc.record({ id: value, rest: value, q: value, deep: value });

function isDots(part: string | undefined): boolean {
  return part === "." || part === "..";
}

/** Whether the path has the segments of the template, as a server reads it that decodes once. */
function hasShape({ pathname }: URL): boolean {
  const [start, prefix, users, id = "", files, rest = "", ...more] = pathname.split("/");
  const fixed = [start, prefix, users, files, ...more].join();
  const isFilled = id !== "" && rest.endsWith(".json") && rest !== ".json" && !/[\\?#;]/.test(id + rest);
  return fixed === ",v1,users,files" && isFilled && !decodeURIComponent(pathname).split(/[/\\]/).some(isDots);
}

/** Whether the query has no other names than those of parameters. An object in the style `form` adds its own. */
function hasNames({ searchParams }: URL, { q }: Given): boolean {
  const names = Array.from(searchParams.keys(), (name) => name.replace(/\[.*$/s, ""));
  const isObject = typeof q === "object" && q !== null && !Array.isArray(q);
  return isObject || names.every((name) => ["q", "list", "deep"].includes(name));
}

function build({ id, rest, q, deep }: Given): URL | undefined {
  try {
    const values: Readonly<Record<string, JsonValue>> = { id, rest, q, list: q, deep };
    return template.build(({ name }) => values[name] ?? undefined);
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === "VALIDATION_ERROR") return undefined;
    throw cause;
  }
}

/** Holds random path and query values to the shape and the origin of a template. Returns the number of URLs that were built. */
export function checkUrls(numRuns: number): number {
  let built = 0;
  const property = fc.property(given, (values) => {
    const url = build(values);
    if (url === undefined) return true;
    built += 1;
    // As a server reads the text of the request: from the start.
    const read = new URL(url.href);
    const isSame = read.origin === base.origin && read.hash === "" && read.username === "";
    return isSame && hasShape(read) && hasNames(read, values);
  });
  fc.assert(property, { numRuns });
  return built;
}
