import { expect } from "vitest";
import type { Era } from "../../src/mcp/protocol.ts";
import type { Sent } from "./client-harness.ts";

/** The protocol versions that are served, and the era of each. */
export const versions: readonly (readonly [version: string, era: Era])[] = [
  ["2024-10-07", "legacy"],
  ["2024-11-05", "legacy"],
  ["2025-06-18", "legacy"],
  ["2025-11-25", "legacy"],
  ["2026-07-28", "modern"],
];

/** The first version with each member of a result, and with each type of content block. */
const firstWith = {
  icons: "2025-11-25",
  title: "2025-06-18",
  structuredContent: "2025-06-18",
  outputSchema: "2025-06-18",
  resource_link: "2025-06-18",
  audio: "2025-03-26",
} as const;

function knownPart(part: unknown, lacks: (name: string) => boolean): unknown {
  if (Array.isArray(part)) return part.map((item: unknown) => knownPart(item, lacks));
  if (typeof part !== "object" || part === null) return part;
  const type: unknown = Reflect.get(part, "type");
  // Content blocks that a version lacks are told in words.
  if (typeof type === "string" && lacks(type)) return { type: "text", text: expect.any(String) };
  const known = Object.entries(part).filter(([name]) => !lacks(name));
  // A schema has a member "title" in every version.
  return Object.fromEntries(
    known.map(([name, value]): [string, unknown] => [name, name === "inputSchema" ? value : knownPart(value, lacks)]),
  );
}

/** Returns a message of the SDK without what a protocol version lacks: the SDK sends it to clients of every version. */
export function knownTo(version: string, message: unknown): unknown {
  const isLacked = (name: string): boolean =>
    Object.entries(firstWith).some(([feature, first]) => feature === name && version < first);
  return knownPart(message, isLacked);
}

/**
 * Where the two paths differ on purpose, and why. Everything else is the same, to the last key.
 *
 * - The texts of parameter errors: the SDK quotes its own validator, which may quote what was sent, and so nothing is said
 *   of what its schemas refuse but that it is refused.
 * - Correlation ids, those of values that were cut into parts, and cursors of changes: they are random.
 * - An own key `__proto__` in arguments: the SDK's parser drops it, ours shows it to the schema, which may refuse it.
 */
const withheld = { code: -32602, message: "Invalid params" };

/** Correlation ids, those of values that were cut into parts, and cursors of changes are random. */
export function withoutChance(value: unknown): unknown {
  const chance = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|_parts\/[\da-f]{32}|[\w-]{7,}~[\w-]{7,}~\d+/g;
  return JSON.parse(JSON.stringify(value).replaceAll(chance, "…"));
}

/** The code of an error; nothing of a result. */
export function errorOf(message: Sent): { code: unknown } | undefined {
  const { error } = message;
  return typeof error === "object" && error !== null && "code" in error ? { code: error.code } : undefined;
}

/** What the SDK's path answered, with the differences on purpose replaced by what our path answered. */
export function alike(hot: Sent, sdk: Sent): unknown {
  const isWithheld = JSON.stringify(sdk["error"]) === JSON.stringify(withheld);
  return withoutChance(isWithheld && errorOf(hot)?.code === withheld.code ? hot : sdk);
}

const textOf = (length: number): string => "ü\u{1f3fa}\u2028".repeat(length);

/** One request: what it is, its method, its params. */
export type Ask = readonly [name: string, method: string, params: object | undefined];

/** Every hot message, right and wrong, for the hostile app. */
export const asks: readonly Ask[] = [
  ["a list", "tools/list", undefined],
  ["a list with empty params", "tools/list", {}],
  ["a list with an unknown cursor", "tools/list", { cursor: "nope" }],
  ["a list with a number for a cursor", "tools/list", { cursor: 5 }],
  ["a list with null for a cursor", "tools/list", { cursor: null }],
  ["a call", "tools/call", { name: "echo", arguments: { text: "hello" } }],
  ["a call of unicode", "tools/call", { name: "echo", arguments: { text: textOf(1) } }],
  ["a call with a big answer", "tools/call", { name: "echo", arguments: { text: textOf(100_000) } }],
  ["a call with an unknown key", "tools/call", { name: "echo", arguments: { text: "a", more: 1 } }],
  ["a call with wrong arguments", "tools/call", { name: "echo", arguments: { text: 5 } }],
  ["a call without arguments", "tools/call", { name: "whoami" }],
  ["a call that misses its arguments", "tools/call", { name: "echo" }],
  ["a call of any JSON", "tools/call", { name: "any", arguments: { v: { a: [null, 1.5, { b: [] }] } } }],
  ["a call of a tool with a dash", "tools/call", { name: "boom-undefined", arguments: {} }],
  ["a call that throws", "tools/call", { name: "boom", arguments: {} }],
  ["a call that answers a cycle", "tools/call", { name: "cyclic", arguments: {} }],
  ["a call that answers a bigint", "tools/call", { name: "bigint", arguments: {} }],
  ["a call that breaks its output schema", "tools/call", { name: "badout", arguments: {} }],
  ["a call of a scalar", "tools/call", { name: "pick", arguments: { n: 7 } }],
  ["a call of an unknown tool", "tools/call", { name: "nope", arguments: {} }],
  ["a call of what is not exposed", "tools/call", { name: "configure", arguments: {} }],
  ["a call without a name", "tools/call", { arguments: {} }],
  ["a call with a number for a name", "tools/call", { name: 5 }],
  ["a call with text for arguments", "tools/call", { name: "echo", arguments: "a" }],
  ["a call with null for arguments", "tools/call", { name: "echo", arguments: null }],
  ["a call with an array for arguments", "tools/call", { name: "echo", arguments: [] }],
  ["a call without params", "tools/call", undefined],
  ["a read", "resources/read", { uri: "app://state" }],
  ["a read of a key list", "resources/read", { uri: "app://items" }],
  ["a read of an item", "resources/read", { uri: "app://items/a" }],
  ["a read of a stream", "resources/read", { uri: "app://log/x" }],
  ["a read of an absent item", "resources/read", { uri: "app://items/zzz" }],
  ["a read of an unknown resource", "resources/read", { uri: "app://nope" }],
  ["a read of what is not exposed", "resources/read", { uri: "app://secrets" }],
  ["a read of no URI", "resources/read", { uri: "" }],
  ["a read with a number for a URI", "resources/read", { uri: 5 }],
  ["a read without a URI", "resources/read", {}],
  ["a read of a long URI", "resources/read", { uri: `app://log/${"a".repeat(1000)}` }],
];

/** The start of a completion for an argument of a prompt of the features app. */
export const review = { ref: { type: "ref/prompt", name: "review" } };
const tracks = { ref: { type: "ref/resource", uri: "studio://tracks/{key}" } };

/** Every method that is answered beside members, for the features app. */
export const featureAsks: readonly (readonly [method: string, params: object])[] = [
  ["tools/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["prompts/list", {}],
  ["prompts/get", { name: "review", arguments: { track: "drums", tone: "kind" } }],
  ["prompts/get", { name: "review", arguments: { track: "drums", tone: "rude" } }],
  ["prompts/get", { name: "hello" }],
  ["prompts/get", { name: "refused" }],
  ["prompts/get", { name: "broken", arguments: { any: "a", junk: "b" } }],
  ["prompts/get", { name: "nope" }],
  ["completion/complete", { ...review, argument: { name: "tone", value: "k" } }],
  ["completion/complete", { ...review, argument: { name: "nope", value: "" } }],
  ["completion/complete", { ...tracks, argument: { name: "key", value: "" } }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "nope" }, argument: { name: "a", value: "" } }],
  ...["picture", "sound", "file", "link", "mixed", "bulk"].map((name) => ["tools/call", { name }] as const),
  ...["cover", "notes/1", "notes/9", "notes/x", "tempo", "meter/left/true"].map(
    (path) => ["resources/read", { uri: `studio://${path}` }] as const,
  ),
];
