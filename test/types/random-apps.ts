import { constant, constantFrom, oneof, sample, tuple, uniqueArray, type Arbitrary } from "fast-check";

/** The source of an app that an author might have written, right or wrong. */
export interface RandomApp {
  /** The body of a function that returns the app. */
  readonly body: string;
  /** Whether every name, value and option is a literal, so that the compiler knows as much as the run time. */
  readonly literal: boolean;
  /** Whether its types name what is listed and nothing else: nothing is mounted, and no view takes anything away. */
  readonly exact: boolean;
}

interface Piece {
  readonly text: string;
  readonly literal: boolean;
}

const exact = (text: string): Piece => ({ text, literal: true });
const vague = (text: string): Piece => ({ text, literal: false });

/** Most of the time right: an app is made of many pieces, and one that is wrong is enough. */
function mostly(usual: readonly Piece[], rare: readonly Piece[]): Arbitrary<Piece> {
  return oneof({ weight: 24, arbitrary: constantFrom(...usual) }, { weight: 1, arbitrary: constantFrom(...rare) });
}

const inputs = mostly(
  [
    exact(""),
    exact("input: z.string(), "),
    exact("input: z.object({ node: z.string(), line: z.number().optional() }), "),
  ],
  [
    exact("input: z.object({ at: z.object({ line: z.number() }) }), "),
    exact("input: z.object({ nodes: z.array(z.string()) }), "),
    exact("input: z.object({ since: z.string() }), "),
    exact("input: z.object({ timeout_ms: z.number() }), "),
    exact("input: z.object({ max_items: z.number(), node: z.string() }), "),
    exact("input: z.object({ wait_ms: z.number().optional() }), "),
  ],
);

const toolOptions: Arbitrary<Piece> = oneof(
  {
    weight: 12,
    arbitrary: constantFrom(
      exact(""),
      exact("{}"),
      exact('{ title: "A tool", timeoutMs: 1000 }'),
      exact("{ mutates: false }"),
      exact("{ mutates: false, idempotent: true }"),
    ),
  },
  {
    weight: 1,
    arbitrary: constantFrom(
      exact("{ mutates: true }"),
      exact("{ destructive: true }"),
      exact("{ mutates: false, destructive: true }"),
      vague("{ mutates: either }"),
      vague("{ mutates: unchecked }"),
      vague("{ mutates: unchecked as never }"),
      vague("{ ...(either ? { mutates: false } : {}) }"),
      exact("{ nope: 1 }"),
    ),
  },
);

const kinds = ["cell", "collection", "stream", "event", "procedure"] as const;
type RandomKind = (typeof kinds)[number];

const definitions: Readonly<Record<RandomKind, (input: string) => string>> = {
  cell: () => "cell({ schema: z.number() })",
  collection: () => "collection({ key: z.string(), schema: z.number() })",
  stream: (input) => `stream({ ${input}output: z.string() })`,
  event: (input) => `event({ ${input}output: z.string() })`,
  procedure: (input) => `procedure({ ${input}})`,
};

/** The tags that fit a kind; the empty one comes first. */
const fitting: Readonly<Record<RandomKind, readonly string[]>> = {
  cell: ["", "mcpResource"],
  collection: ["", "mcpResource"],
  stream: ["", "mcpResource", "mcpTool"],
  event: ["", "mcpResource", "mcpTool"],
  procedure: ["", "mcpTool", "readOnly", "readOnly mcpTool", "mcpTool readOnly"],
};
const anyTags = ["mcpResource", "mcpTool", "readOnly", "mcpTool mcpTool", "mcpResource mcpTool", "readOnly mcpTool"];

function tagsOf(kind: RandomKind): Arbitrary<string> {
  return oneof(
    { weight: 24, arbitrary: constantFrom(...fitting[kind]) },
    { weight: 1, arbitrary: constantFrom(...anyTags) },
  );
}

function wrap(member: string, tags: string, options: string): string {
  // Innermost last in the list, as it reads in code.
  return tags
    .split(" ")
    .filter((tag) => tag !== "")
    .toReversed()
    .reduce((inner, tag) => {
      const said = tag === "mcpTool" && options !== "" ? `, ${options}` : "";
      return `${tag}(${inner}${said})`;
    }, member);
}

interface RandomMember extends Piece {
  readonly kind: RandomKind;
  readonly tagged: boolean;
}

const member: Arbitrary<RandomMember> = constantFrom(...kinds).chain((kind) =>
  tuple(inputs, tagsOf(kind), toolOptions).map(([input, tags, options]) => ({
    kind,
    tagged: tags.includes("mcp"),
    text: wrap(definitions[kind](input.text), tags, options.text),
    literal: input.literal && options.literal,
  })),
);

/** Keys, of which no two have the same name on the wire: some that every object inherits, and one that pull() takes. */
const keys = [
  "state",
  "node.run",
  "node.show",
  "log",
  "a.b.c",
  "Upper",
  "x1",
  "toString",
  "constructor",
  "valueOf",
  "read.resource",
];

type Members = ReadonlyMap<string, RandomMember>;

const members: Arbitrary<Members> = uniqueArray(tuple(constantFrom(...keys), member), {
  maxLength: 7,
  selector: ([key]) => key,
}).map((entries) => new Map(entries));

const asTool = [exact('"tool"'), exact("{ tool: {} }"), exact("{ tool: { mutates: false } }")];
const rareValues = [
  exact('"tool"'),
  exact('"resource"'),
  exact("{ tool: { mutates: true } }"),
  exact("{ tool: { destructive: true } }"),
  exact("{ tool: { nope: 1 } }"),
  exact("{ tool: {}, nope: 1 }"),
  vague('either ? "tool" : "resource"'),
  vague("{ tool: { mutates: either } }"),
  vague('"tool" as never'),
  vague('"resource" as never'),
];

function valueFor(kind: RandomKind): Arbitrary<Piece> {
  if (kind === "procedure") return mostly(asTool, rareValues);
  if (kind === "cell" || kind === "collection") return mostly([exact('"resource"')], rareValues);
  return mostly([exact('"resource"'), ...asTool], rareValues);
}

/** An expose map over untagged members, and now and then over what cannot be exposed. */
function exposeMap(of: Members, segment: string): Arbitrary<Piece> {
  const known = [...of].map(([key, { kind, tagged }]) =>
    tuple(
      oneof({ weight: tagged ? 30 : 1, arbitrary: constant(false) }, { weight: 1, arbitrary: constant(true) }),
      valueFor(kind),
      constant(key),
    ),
  );
  const stranger = tuple(
    oneof({ weight: 24, arbitrary: constant(false) }, { weight: 1, arbitrary: constant(true) }),
    constantFrom(exact('"tool"'), exact('"resource"')),
    constantFrom("nope", "hasOwnProperty", "isPrototypeOf", "node"),
  );
  return tuple(...known, stranger).map((all) => {
    const chosen = all.filter(([taken]) => taken);
    return {
      text: `{ ${chosen.map(([, { text }, key]) => `${JSON.stringify(segment + key)}: ${text}`).join(", ")} }`,
      literal: chosen.every(([, { literal }]) => literal),
    };
  });
}

const toolNames = [
  "run",
  "node.extra",
  "fix_it",
  "9",
  "toLocaleString",
  "state",
  "log",
  "node_run",
  "a_b.c",
  "wait_for_change",
  "search",
  "replay",
  "git.push",
];
const toolBodies = mostly(
  [
    exact("handler: () => 1"),
    exact("handler: (args, { client }) => [args, client]"),
    exact("mutates: false, handler: () => 1"),
    exact("input: z.object({ a: z.string() }), handler: ({ a }) => a"),
  ],
  [
    exact("mutates: true, destructive: true, handler: () => 1"),
    exact("mutates: false, destructive: true, handler: () => 1"),
    exact("nope: 1, handler: () => 1"),
    vague("mutates: either, handler: () => 1"),
    vague("...(either ? { mutates: false } : {}), handler: () => 1"),
    vague("handler: () => 1, ...(either ? {} : { mutates: false as const })"),
  ],
);

/** What one step adds by hand: entries by name. */
function byHand(names: readonly string[], bodies: Arbitrary<Piece>): Arbitrary<Piece> {
  const entries = uniqueArray(tuple(constantFrom(...names), bodies), { maxLength: 3, selector: ([name]) => name });
  return entries.map((all) => ({
    text: `{ ${all.map(([name, { text }]) => `${JSON.stringify(name)}: { ${text} }`).join(", ")} }`,
    literal: all.every(([, { literal }]) => literal),
  }));
}

const tools = byHand(toolNames, toolBodies);

const promptBodies = mostly(
  [
    exact('handler: () => "a"'),
    exact('input: z.object({ a: z.enum(["x", "y"]), b: z.int().optional() }), handler: ({ a }) => a'),
    exact('input: z.object({ a: z.string() }), complete: { a: () => ["b"] }, handler: ({ a }) => a'),
  ],
  [
    exact('nope: 1, handler: () => "a"'),
    exact('input: z.object({ a: z.object({}) }), handler: () => "a"'),
    vague('...(either ? { title: "A" } : {}), handler: () => "a"'),
  ],
);
const prompts = byHand(["ask", "a.b", "toString", "state", "node.run"], promptBodies);

const resourceBodies = mostly(
  [
    exact("read: () => 1"),
    exact('mimeType: "text/plain", read: () => "a"'),
    exact("variables: z.object({ id: z.int() }), read: ({ id }) => id"),
  ],
  [
    exact("nope: 1, read: () => 1"),
    exact("variables: z.object({ id: z.object({}) }), read: () => 1"),
    vague('...(either ? { title: "A" } : {}), read: () => 1'),
  ],
);
const resources = byHand(["page", "notes.all", "valueOf", "state", "log"], resourceBodies);

const prefixes = mostly(
  [exact('"git"'), exact('"hub"'), exact('"x1"'), exact('"git_hub"')],
  [exact('"node"'), exact('"a"'), exact('"read"'), exact('"git_"'), exact('"g.t"'), exact('""')],
);

// Which names there are, the generator does not know: what it names in full may be there, and is no mistake at run time.
const views = mostly(
  [
    exact('{ readonly: { readOnly: true }, locked: { deny: "closed" } }'),
    exact('{ default: { disallow: ["*run", "st?te"] } }'),
    exact('{ default: { allow: ["node?*", "f*"], face: "direct" } }'),
    exact('{ hub: { face: "gateway" } }'),
    exact('{ default: { face: "gateway" } }, { replay: true }'),
    exact("{ default: { readOnly: true } }, { replay: true }"),
    exact('{ rules: { readOnly: true }, default: { face: "gateway" } }'),
    exact('{ verdict: {}, id: {}, domain: {}, default: { face: "gateway" } }'),
    exact('{ get: {}, subscribe: {}, default: { face: "gateway" } }'),
    exact('[{ when: { surface: "default" }, verdict: { kind: "tool_surface", disallow: ["node_*"] } }]'),
    exact(
      '{ id: "p", domain: "mcp-surface/routing", rules: [{ verdict: { kind: "tool_surface", face: "gateway" } }] }',
    ),
    vague('cellSource<ViewRules>([{ verdict: { kind: "tool_surface" } }])'),
  ],
  [
    exact("{}"),
    exact("[]"),
    exact('{ default: { alow: ["f*"] } }'),
    exact('{ default: { deny: "closed", allow: ["f*"] } }'),
    exact('{ default: { face: "both" } }'),
    exact("{ hub: {} }, { repaly: true }"),
    exact('{ rules: { face: "gateway" }, verdict: { face: "gateway" }, get: {} }'),
    vague(
      '{ default: ((view: { readonly instructions: string }) => view)({ instructions: "a", ...({ face: "gateway" }) }) }',
    ),
    vague('{ default: { disallow: ["run"] } }'),
    vague('{ default: { face: either ? "gateway" : "direct" } }'),
    vague('{ default: { ...(either ? { face: "gateway" } : {}) } }'),
    vague('{ default: { face: unchecked ? "gateway" : "direct" } }, { replay: either }'),
  ],
);

/** The steps after the link, in either order; now and then a step too many, or a link too few. */
const usualChains = [
  "EBT",
  "BET",
  "BTE",
  "BT",
  "BE",
  "B",
  "EB",
  "PEBT",
  "BPET",
  "BTEP",
  "EBTMR",
  "BRM",
  "BMETR",
  "BREM",
  "BNT",
  "BTNV",
  "EBTPV",
  "BVT",
  "BMRTV",
  "BNEVT",
];
const rareChains = [
  "BNN",
  "BVV",
  "NB",
  "VB",
  "BVNTE",
  "BETT",
  "EEB",
  "BTET",
  "EO",
  "BB",
  "TB",
  "PBEP",
  "BMTM",
  "BRR",
  "MB",
  "RB",
];

/** A surface as it may be reached: alone, or as one of siblings. */
interface Shape {
  /** What stands before its keys. */
  readonly segment: string;
  /** What the app has, made of `inner`. */
  readonly surface: Piece;
}

const shapes: Arbitrary<Shape> = oneof(
  { weight: 8, arbitrary: constant({ segment: "", surface: exact("inner") }) },
  {
    weight: 4,
    arbitrary: constantFrom(
      { segment: "p.", surface: exact('composeSurfaces("s", { p: inner, q: other })') },
      { segment: "x.p.", surface: exact('composeSurfaces("s", { x: composeSurfaces("i", { p: inner }), q: other })') },
      { segment: "p.", surface: vague('composeSurfaces("s", either ? ps : qs)') },
      { segment: "p.", surface: vague('composeSurfaces("s", { p: either ? inner : other })') },
      { segment: "p.", surface: vague('composeSurfaces("s", { q: other, ...(either ? { p: inner } : {}) })') },
      {
        segment: "p.",
        surface: vague('composeSurfaces("s", { p: unchecked ? inner : other, q: unchecked ? other : inner })'),
      },
      {
        segment: "x.p.",
        surface: vague('composeSurfaces("s", { x: composeSurfaces("i", either ? ps : qs) })'),
      },
    ),
  },
);

const other = 'defineSurface("o", { state: mcpResource(cell({ schema: z.number() })), other: mcpTool(procedure({})) })';

function renderSpec(of: Members): string {
  return [...of].map(([key, { text }]) => `    ${JSON.stringify(key)}: ${text},`).join("\n");
}

const randomApp: Arbitrary<RandomApp> = tuple(members, shapes).chain(([of, { segment, surface }]) =>
  tuple(
    oneof(
      { weight: 20, arbitrary: constantFrom(...usualChains) },
      { weight: 3, arbitrary: constantFrom(...rareChains) },
    ),
    tuple(exposeMap(of, segment), exposeMap(of, segment)),
    tuple(tools, tools),
    tuple(prompts, prompts),
    tuple(resources, resources),
    tuple(tuple(prefixes, prefixes), tuple(views, views)),
  ).map(([chain, maps, bespoke, asked, read, [mounted, seen]]) => {
    const used: Piece[] = [surface];
    const take = (from: readonly Piece[], nth: number): string => {
      const piece = from[nth] ?? exact("{}");
      used.push(piece);
      return piece.text;
    };
    let exposed = 0;
    let added = 0;
    let prompted = 0;
    let readable = 0;
    let mounts = 0;
    let viewed = 0;
    const steps = chain.split("").map((step) => {
      if (step === "B") return ".bridge(link)";
      if (step === "O") return ".open()";
      if (step === "P") return ".pull()";
      if (step === "M") return `.prompts(${take(asked, prompted++)})`;
      if (step === "R") return `.resources(${take(read, readable++)})`;
      if (step === "N") return `.mount(${take(mounted, mounts++)}, source)`;
      if (step === "V") return `.views(${take(seen, viewed++)})`;
      return step === "E" ? `.expose(${take(maps, exposed++)})` : `.tools(${take(bespoke, added++)})`;
    });
    return {
      body: [
        `  const inner = defineSurface("s", {\n${renderSpec(of)}\n  });`,
        `  const other = ${other};`,
        // Of two literals in one place the compiler would make one type with optional keys.
        "  const ps = { p: inner };\n  const qs = { q: other };\n  void [ps, qs];",
        `  return mcp(${surface.text})\n    ${steps.join("\n    ")};`,
      ].join("\n"),
      literal: [...of.values(), ...used].every(({ literal }) => literal),
      exact: mounts === 0 && viewed === 0,
    };
  }),
);

/** So many random apps, the same in every run. */
export function randomApps(count: number): readonly RandomApp[] {
  return sample(randomApp, { numRuns: count, seed: 20_260_728 });
}
