import { array, constantFrom, double, integer, record, type Arbitrary } from "fast-check";
import { asks, toBytes, type Leaving } from "./leaving-client.ts";

/** One thing that is done to the bytes of a request. */
interface Mutation {
  readonly kind: "replace" | "delete" | "insert" | "repeat" | "cut" | "chunk" | "header" | "body" | "value" | "length";
  /** Where, as a part of the whole. */
  readonly at: number;
  readonly count: number;
  readonly hostile: string;
  readonly bytes: readonly number[];
}

/** A request, and what is done to it. */
export interface MutatedRequest {
  readonly ask: Leaving["ask"];
  readonly era: Leaving["era"];
  readonly mutations: readonly Mutation[];
}

/** Texts that stand where none of their kind belongs. */
export const hostiles: readonly string[] = [
  ...[
    "",
    "null",
    "[]",
    "{}",
    "0",
    "-1",
    "1e999",
    "9007199254740993",
    "true",
    '"',
    "\\ud800",
    '"\\u0000"',
    "\0",
    "\r\n",
  ],
  ...[
    "[".repeat(200),
    '{"a":'.repeat(100),
    '{"__proto__":{"a":1}}',
    '"constructor"',
    '"x":'.repeat(50),
    "\u00ff\u00fe",
  ],
  ...["chunked", "gzip", "text/plain", "application/json; charset=utf-16", "2026-07-28", "1900-01-01", "evil.example"],
  ...["notifications/cancelled", "initialize", "tools/call", '"id":null', '"id":1,"id":2', "%2e%2e/", "a".repeat(9000)],
];

/** Whole JSON values, that stand where others stood. */
export const values: readonly string[] = [
  ...["null", "true", "-1", "1.5", "1e308", "9007199254740993", '""', '"\\ud800"', '"\\u0000"', "[]", "{}", "[[[]]]"],
  ...[
    '{"__proto__":1}',
    '["a"]',
    '"constructor"',
    '"../.."',
    '"add"',
    '"surface://demo/count"',
    '"2026-07-28"',
    '"ping"',
  ],
];

const headers = [
  ...["host", "content-length", "content-type", "content-encoding", "transfer-encoding", "expect", "origin", "accept"],
  ...[
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
    "authorization",
    "connection",
  ],
  ...["upgrade", "mcp-param-x", "cookie", "x-http-method-override", "\u0000", " "],
];

const mutation: Arbitrary<Mutation> = record({
  kind: constantFrom<Mutation["kind"]>(
    ...([
      "replace",
      "delete",
      "insert",
      "repeat",
      "cut",
      "chunk",
      "header",
      "body",
      "value",
      "value",
      "value",
      "length",
    ] as const),
  ),
  at: double({ min: 0, max: 1, noNaN: true }),
  count: integer({ min: 0, max: 40 }),
  hostile: constantFrom(...hostiles),
  bytes: array(integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 12 }),
});

/** Any of them. */
export const mutatedRequest: Arbitrary<MutatedRequest> = record({
  ask: constantFrom(...asks),
  era: constantFrom<Leaving["era"]>("legacy", "modern"),
  mutations: array(mutation, { minLength: 1, maxLength: 3 }),
});

/** Where the body begins. */
function bodyAt(text: string): number {
  const end = text.indexOf("\r\n\r\n");
  return end === -1 ? text.length : end + 4;
}

/** The same body, announced in another way, with a mistake or without. */
function toChunks(text: string, { count, hostile, at }: Mutation): string {
  const start = bodyAt(text);
  const head = text.slice(0, start).replace(/content-length: \d+/, "transfer-encoding: chunked");
  const size = count + 1;
  let chunks = "";
  for (let from = start; from < text.length; from += size) {
    const chunk = text.slice(from, from + size);
    chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  const broken = at < 0.5 ? "" : hostile;
  return `${head}${chunks}${broken}0\r\n\r\n`;
}

/** Something else in the body, whose length stays right. */
function toBody(text: string, { at, count, hostile }: Mutation): string {
  return withBody(text, (body) => {
    const from = Math.floor(body.length * at);
    return body.slice(0, from) + hostile + body.slice(from + count);
  });
}

function withBody(text: string, change: (body: string) => string): string {
  const start = bodyAt(text);
  const body = change(text.slice(start));
  return text.slice(0, start).replace(/content-length: \d+/, `content-length: ${body.length}`) + body;
}

/** Another value in the place of one of those in the body: it is still JSON. */
function toValue(text: string, { at, count }: Mutation): string {
  return withBody(text, (body) => {
    const places = [...body.matchAll(/(?<=":)(?:"[^"]*"|\d+|\{\})/g)];
    const place = places[Math.min(places.length - 1, Math.floor(places.length * at))];
    if (place === undefined) return body;
    return (
      body.slice(0, place.index) + (values[count % values.length] ?? "") + body.slice(place.index + place[0].length)
    );
  });
}

function toHeader(text: string, { count, hostile }: Mutation): string {
  const name = headers[count % headers.length] ?? "";
  const end = text.indexOf("\r\n");
  return `${text.slice(0, end)}\r\n${name}: ${hostile}${text.slice(end)}`;
}

function mutate(text: string, mutated: Mutation): string {
  const { kind, at, count, hostile, bytes } = mutated;
  const from = Math.floor(text.length * at);
  const before = text.slice(0, from);
  const some: Readonly<Record<Mutation["kind"], () => string>> = {
    replace: () => before + String.fromCodePoint(...bytes) + text.slice(from + bytes.length),
    delete: () => before + text.slice(from + count),
    insert: () => before + hostile + text.slice(from),
    repeat: () => before + text.slice(from, from + count * 20).repeat(2) + text.slice(from),
    cut: () => before,
    chunk: () => toChunks(text, mutated),
    header: () => toHeader(text, mutated),
    body: () => toBody(text, mutated),
    value: () => toValue(text, mutated),
    length: () => text.replace(/content-length: \d+/, `content-length: ${count * 30}`),
  };
  return some[kind]();
}

/** The bytes that are sent in its place, each a UTF-16 unit. */
export function toMutatedBytes({ ask, era, mutations }: MutatedRequest, session: string): Buffer {
  return Buffer.from(mutations.reduce(mutate, toBytes({ ask, era }, { session })), "latin1");
}
