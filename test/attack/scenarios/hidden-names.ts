import { legacy, modern } from "../post.ts";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";

/** Names of equal length: hidden by the view, never exposed, and in no program at all. */
const families = [
  { hidden: ["secret"], never: "nonsex" },
  { hidden: ["vaultK"], never: "nonsex" },
] as const;

const spellings = [
  "*",
  "*.show",
  "*_show",
  "*Keys",
  "*eys",
  "*.open",
  "*/show",
  "ci.*",
  "surface://ci/*",
  "*%2Eshow",
  " *",
  "*()",
];
const uris = [
  "surface://ci/*",
  "surface://ci/*.show",
  "surface://ci/*eys",
  "surface://ci/*/x",
  "surface://ci/_parts/*",
  "*",
];

type Ask = readonly [method: string, params: Readonly<Record<string, unknown>>];

function asksOf(name: string, uri: string): readonly Ask[] {
  return [
    ["tools/call", { name }],
    ["tools/call", { name, arguments: { of: "x" } }],
    ["tools/call", { name, arguments: { of: 5 } }],
    ["prompts/get", { name }],
    ["resources/read", { uri }],
    ["completion/complete", { ref: { type: "ref/prompt", name }, argument: { name: "of", value: "" } }],
    ["completion/complete", { ref: { type: "ref/resource", uri }, argument: { name: "key", value: "" } }],
    ["tools/call", { name: "read_resource", arguments: { uri } }],
    ["tools/call", { name: "wait_for_change", arguments: { uris: [uri], timeout_ms: 1 } }],
    ["tools/list", { cursor: name }],
    ["resources/list", { cursor: name }],
  ];
}

/** Takes out what differs between two answers to the same request: the name, and ids. */
function normalise(text: string, part: string): string {
  return text
    .replaceAll(part, "*")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id")
    .replace(/"id":\d+/, '"id":1');
}

async function run({ target, random, runs }: Attack): Promise<Finding> {
  const how = { view: "narrow" };
  const session = await target.openSession(how);
  const breaks: string[] = [];
  await inParallel(runs / 2, async () => {
    const { hidden, never } = random.pick(families);
    const spelling = random.pick(spellings);
    const uri = random.pick(uris);
    const which = random.below(asksOf("", "").length);
    const isModern = random.below(2) === 0;
    const [theirs, nothing] = await Promise.all(
      [random.pick(hidden), never].map(async (part) => {
        const [method, params] = asksOf(spelling.replace("*", part), uri.replace("*", part))[which] ?? ["ping", {}];
        const init = isModern ? modern(method, params) : legacy(method, params, session);
        const { status, text } = await target.send(init, how);
        return `${method} ${status} ${normalise(text, part)}`;
      }),
    );
    const isLimited = `${theirs}${nothing}`.includes("RATE_LIMITED");
    if (theirs !== nothing && !isLimited)
      breaks.push(`${spelling} ${uri}: ${theirs?.slice(0, 200)} is not ${nothing?.slice(0, 200)}`);
    if (/(?:secret|vault) content/.test(String(theirs))) breaks.push(`${spelling} ${uri}: reached`);
  });
  return { tried: `${runs} requests for hidden, unexposed and unknown names, both versions`, breaks };
}

/** A hidden name must be answered as a name that does not exist, by every method. */
export const hiddenNames: Scenario = { name: "hidden names", run };
