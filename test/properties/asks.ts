import type { JsonObject } from "../../src/schema/json.ts";
import { Exposure, type Found } from "./exposure.ts";
import { surfaceName, wireNameOf, type RandomSurface } from "./random-surface.ts";

/** What is to become of something that was asked. */
export type Verdict = "answered" | "denied" | "unknown";

/** One thing that an agent may ask, and what is to become of it. */
export interface Ask {
  readonly method: string;
  readonly params: JsonObject;
  /** What of it names something, as it is said there. */
  readonly said: string;
  readonly verdict: Verdict;
  /** The operations that it is to run. */
  readonly runs: readonly string[];
}

/** Everything that can be asked in one way, name by name: each row has the same asks in the same order. */
export interface Way {
  readonly name: string;
  /** Which opening of an app it is tried on: what is watched already is not asked for again. */
  readonly opening: number;
  /** Whether what its asks name is to be watched, in the way of the era. */
  readonly watches: boolean;
  readonly rows: readonly (readonly Ask[])[];
}

/** A name that nothing has. */
export const never = "zq9";

/** What some caller may ask for one name. */
type Row = (name: string, exposure: Exposure) => readonly Ask[];

interface Asked {
  readonly method: string;
  readonly params: JsonObject;
  readonly said: string;
}

function toAsk(asked: Asked, found: Found | undefined, exposure: Exposure): Ask {
  if (found === undefined) return { ...asked, verdict: "unknown", runs: [] };
  if (!exposure.grants(found)) return { ...asked, verdict: exposure.isKnown ? "denied" : "unknown", runs: [] };
  return { ...asked, verdict: "answered", runs: found.runs };
}

/** A name as it is, and as it is on the wire. */
function spellings(name: string): readonly string[] {
  return [name, wireNameOf(name)];
}

const someArguments: readonly JsonObject[] = [{}, { value: "a" }];

const calls: Row = (name, exposure) =>
  spellings(name).flatMap((said) =>
    someArguments.map((args) =>
      toAsk({ method: "tools/call", params: { name: said, arguments: args }, said }, exposure.tool(said), exposure),
    ),
  );

const prompts: Row = (name, exposure) =>
  spellings(name).flatMap((said) => {
    const found = exposure.prompt(said);
    // What takes an argument is written only with it.
    return someArguments.map((args) =>
      toAsk({ method: "prompts/get", params: { name: said, arguments: args }, said }, found, exposure),
    );
  });

function urisOf(name: string): readonly string[] {
  const uri = `surface://${surfaceName}/${name}`;
  return [uri, `${uri}/a`];
}

const reads: Row = (name, exposure) =>
  urisOf(name).map((uri) =>
    toAsk({ method: "resources/read", params: { uri }, said: name }, exposure.read(uri), exposure),
  );

const watches: Row = (name, exposure) =>
  urisOf(name).map((uri) => toAsk({ method: "watch", params: { uri }, said: name }, exposure.watch(uri), exposure));

function completion(ref: JsonObject, argument: string): JsonObject {
  return { ref, argument: { name: argument, value: "" } };
}

const completions: Row = (name, exposure) => {
  const method = "completion/complete";
  const ofPrompts = spellings(name).map((said) => {
    const params = completion({ type: "ref/prompt", name: said }, "value");
    return toAsk({ method, params, said }, exposure.completePrompt(said), exposure);
  });
  const uri = `surface://${surfaceName}/${name}`;
  const ofUris = [uri, `${uri}/{value}`, `${uri}/{key}`].flatMap((template) =>
    ["value", "key"].map((argument) => {
      const params = completion({ type: "ref/resource", uri: template }, argument);
      return toAsk({ method, params, said: name }, exposure.completeUri(template, argument), exposure);
    }),
  );
  return [...ofPrompts, ...ofUris];
};

/** What a caller may not see is not there: tools that are told a URI say the same of both. */
function pulled(asked: Asked, found: Found | undefined, exposure: Exposure): Ask {
  const tool = exposure.pullTool();
  if (tool === undefined || !exposure.grants(tool)) return toAsk(asked, tool, exposure);
  return toAsk(asked, found !== undefined && exposure.grants(found) ? found : undefined, exposure);
}

const pulledReads: Row = (name, exposure) =>
  urisOf(name).map((uri) => {
    const params = { name: "read_resource", arguments: { uri } };
    return pulled({ method: "tools/call", params, said: name }, exposure.read(uri), exposure);
  });

const pulledWaits: Row = (name, exposure) =>
  urisOf(name).map((uri) => {
    const params = { name: "wait_for_change", arguments: { uris: [uri], timeout_ms: 0 } };
    return pulled({ method: "tools/call", params, said: name }, exposure.watch(uri), exposure);
  });

const rows: readonly (readonly [name: string, opening: number, row: Row])[] = [
  ["tools/call", 0, calls],
  ["prompts/get", 0, prompts],
  ["resources/read", 0, reads],
  ["completion/complete", 0, completions],
  ["read_resource", 0, pulledReads],
  ["wait_for_change", 1, pulledWaits],
  ["watch", 2, watches],
];

/** How many openings there are. */
export const openings = 3;

/** Everything that a caller can ask of an app. The first row of each way is of what never was. */
export function allWays(surface: RandomSurface, granted: RandomSurface["granted"]): readonly Way[] {
  const exposure = new Exposure(surface, granted);
  const named = [...surface.members.map(({ key }) => key), ...surface.written.map(({ name }) => name)];
  const names = [never, ...new Set(named)];
  return rows.map(([name, opening, row]) => ({
    name,
    opening,
    watches: name === "watch",
    rows: names.map((each) => row(each, exposure)),
  }));
}
