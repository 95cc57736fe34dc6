import type { Random } from "../attack/random.ts";
import { isEchoable } from "../bad-inputs/judge.ts";
import { legacyLine, modernLine } from "../fixtures/envelope.ts";
import { hostiles, values } from "./mutated-request.ts";

/** The protocols of a connection. */
export const frameEras = ["legacy", "modern"] as const;
export type FrameEra = (typeof frameEras)[number];

/** The growth of a server's heap that is allowed between the first tenth of a flood and its end, in MB. */
export const maxFloodGrowthMB = 4;

/** Requests that the hostile server answers with a result: method and params. */
const requests: readonly (readonly [method: string, params: object])[] = [
  ["tools/call", { name: "echo", arguments: { text: "hello" } }],
  ["tools/call", { name: "pick", arguments: { n: 7 } }],
  ["tools/list", {}],
  ["resources/read", { uri: "app://state" }],
  ["resources/list", {}],
];

/** Frames that nobody is owed an answer to. */
const unanswered: readonly string[] = [
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"no such request"}}',
  '{"jsonrpc":"2.0","id":"nobody asked","result":{}}',
  '{"jsonrpc":"2.0","method":"notifications/unknown"}',
  " ",
];

/** A request that is answered with a result, its method, and the name that it calls or the URI that it reads. */
export interface GoodFrame {
  readonly line: string;
  readonly method: string;
  readonly name: string | undefined;
}

/** Returns a good request under an id. */
export function goodFrame(random: Random, era: FrameEra, id: number): GoodFrame {
  const [method, params] = random.pick(requests);
  const name: unknown = Reflect.get(params, "name") ?? Reflect.get(params, "uri");
  const line = (era === "modern" ? modernLine : legacyLine)(id, method, params);
  return { line, method, name: typeof name === "string" ? name : undefined };
}

type Mutation = (line: string, random: Random) => string;

/** Puts a text in the place of some characters. */
function splice(line: string, random: Random, text: string): string {
  const from = random.below(line.length + 1);
  return line.slice(0, from) + text + line.slice(from + random.below(20));
}

const mutations: readonly Mutation[] = [
  (line, random) => line.slice(0, random.below(line.length + 1)),
  (line, random) => splice(line, random, ""),
  (line, random) => splice(line, random, random.pick(hostiles)),
  (line, random) => splice(line, random, String.fromCodePoint(1 + random.below(0xd7fe))),
  (line, random) => {
    const places = [...line.matchAll(/(?<=":)(?:"[^"]*"|\d+|\{\})/g)];
    if (places.length === 0) return line;
    const { index, 0: old } = random.pick(places);
    return line.slice(0, index) + random.pick(values) + line.slice(index + old.length);
  },
];

/** Returns a frame in which one to three places were changed, on one line; sometimes a notification or a response. */
export function badFrame(random: Random, era: FrameEra, id: number): string {
  let line = random.below(10) === 0 ? random.pick(unanswered) : goodFrame(random, era, id).line;
  for (let count = random.below(3); count >= 0; count -= 1) line = random.pick(mutations)(line, random);
  return line.replaceAll(/[\r\n]/g, " ");
}

/** The ids under one of which a frame is owed one answer; empty if it is owed none. */
export type Due = readonly unknown[];

const maxDepth = 64;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Returns what a JSON text stands for, or `undefined`. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns what a frame that cannot be read is owed: its id may have been found without parsing it. */
function dueUnread(line: string): Due {
  const ids = [...line.matchAll(/"id"\s*:\s*(-?[\d.eE+-]+|"(?:[^"\\]|\\.)*")/g)].map(([, id = ""]) => parse(id));
  return [null, ...ids.filter((id) => id !== undefined)];
}

function dueOfMessage(message: Readonly<Record<string, unknown>>): Due {
  const { id, method } = message;
  const isResponse = Object.hasOwn(message, "result") || Object.hasOwn(message, "error");
  if (method === undefined && isResponse) return [];
  if (id !== undefined && !isEchoable(id)) return [null];
  if (typeof method !== "string" || isResponse) return [id ?? null];
  return id === undefined ? [] : [id];
}

/** Returns the ids under one of which a frame is owed one answer, by the rules of JSON-RPC 2.0; empty if it is owed none. */
export function dueOf(line: string): Due {
  if (/^[ \t]*$/.test(line)) return [];
  const message = parse(line);
  if (message === undefined || depthOf(message) > maxDepth) return dueUnread(line);
  return isObject(message) && message["jsonrpc"] === "2.0" ? dueOfMessage(message) : [null];
}

/** Tells whether a frame that is nested too deep to be read looks like a response, and so may get no answer. */
export function mayBeResponse(line: string): boolean {
  return /"(?:result|error)"\s*:/.test(line) && ["[", '{"a":'].some((open) => line.includes(open.repeat(40)));
}

/** Returns the id of the request that a frame cancels. A request that is cancelled in time gets no answer. */
export function cancelledBy(line: string): unknown {
  if (!line.includes("notifications/cancelled")) return undefined;
  const message = parse(line);
  const params: unknown = isObject(message) ? message["params"] : undefined;
  return isObject(params) ? params["requestId"] : undefined;
}
