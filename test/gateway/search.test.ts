import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/surface/caller.ts";
import type { EntryGuard, ToolEntry } from "../../src/catalog/entry.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { GatewayBench, callOf, catalogOf, operation } from "./support.ts";
import { draws } from "../setup/test-length.ts";

const signs = /[^\p{L}\p{N}\p{M}]+/u;

/** One form for singular and plural. */
function plain(word: string): string {
  if (word.length < 4 || /[siu]s$/.test(word)) return word;
  return word
    .replace(/ies$/, "ys")
    .replace(/(ss|sh|ch|x|z)es$/, "$1s")
    .replace(/(?<=ss|[^s])s$/, "");
}

/** The words of a text: those of each run without blanks, by its signs and its capitals. */
function runsOf(text: string): readonly (readonly (readonly string[])[])[] {
  const spaced = (chunk: string): string =>
    chunk.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, "$1 ").replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1 ");
  const runs = text.normalize("NFKC").split(/\s+/u);
  return runs.map((run) => {
    const chunks = run.split(signs).filter((chunk) => chunk !== "");
    return chunks.map((chunk) => spaced(chunk).toLowerCase().split(" "));
  });
}

/** Every place where a word may be, the best first, in the words that are there. */
function placesOf(entry: ToolEntry): readonly (readonly string[])[] {
  const segments = entry.id.split(".");
  const texts = [
    segments.slice(-1).join("."),
    segments.slice(0, -1).join("."),
    (entry.tags ?? []).join(" "),
    `${entry.title ?? ""} ${entry.description ?? ""}`,
  ];
  return texts.map((text) =>
    runsOf(text).flatMap((chunks) => {
      const wholes = chunks.map((parts) => parts.join(""));
      const joined = wholes.slice(1).map((whole, index) => `${wholes[index]}${whole}`);
      return [...chunks.flat(), ...wholes, ...joined].map(plain);
    }),
  );
}

/** Whether the texts that one edit of `word` makes include `term`, tried one by one. */
function isSlip(term: string, word: string): boolean {
  const cuts = Array.from({ length: word.length + 1 }, (_none, at) => [word.slice(0, at), word.slice(at)] as const);
  return cuts.some(([head, tail]) => {
    const rest = term.slice(head.length);
    return term.startsWith(head) && [tail.slice(1), tail].some((end) => rest === end || rest.slice(1) === end);
  });
}

function costOfWord(places: readonly (readonly string[])[], word: string, isStrict = false): number {
  const costs = places.flatMap((terms, place) =>
    terms.map((term) => {
      if (term === word) return place * 2;
      if (isStrict) return Infinity;
      if (word.length >= 3 && term.startsWith(word)) return place * 2 + 1;
      return word.length >= 5 && isSlip(term, word) ? place * 2 + 8 : Infinity;
    }),
  );
  return Math.min(Infinity, ...costs);
}

/** The words of a query, what each may be (itself, or one with a neighbour), and what it costs at most. */
function askedOf(q: string): readonly (readonly [word: string, forms: readonly string[], most: number])[] {
  const all = runsOf(q).flat(2).map(plain);
  const pairs = all.slice(1).map((right, index) => [all[index] ?? "", right]);
  const isStopWord = (word: string): boolean => ["a", "now", "the"].includes(word);
  const isAllStopWords = all.every(isStopWord);
  return [...new Set(all)].map((word) => [
    word,
    [word, ...pairs.filter((pair) => pair.includes(word)).map((pair) => pair.join(""))],
    isAllStopWords || !isStopWord(word) ? Infinity : 7,
  ]);
}

/** How well operations fit, the less the better, by looking at everything. */
function rankAll(entries: readonly ToolEntry[], q: string): readonly number[] {
  const text = q.normalize("NFKC").trim().toLowerCase();
  const places = entries.map(placesOf);
  const costs = askedOf(q).map(([word, forms, most]) => {
    const found = places.map((own) => Math.min(...forms.map((form) => costOfWord(own, form))));
    if (most !== Infinity || found.some((cost) => cost !== Infinity)) return found.map((cost) => Math.min(cost, most));
    const cuts = Array.from({ length: Math.max(0, word.length - 5) }, (_none, index) => index + 3);
    const halves = cuts.map((at) =>
      places.map((own) => Math.max(...[word.slice(0, at), word.slice(at)].map((half) => costOfWord(own, half, true)))),
    );
    return halves.find((both) => both.some((cost) => cost !== Infinity)) ?? found;
  });
  return entries.map((entry, index) => {
    const id = entry.id.toLowerCase();
    const names = [id, id.replaceAll(".", "_")];
    const short = id.split(".").slice(1).join(".");
    const bare = short === "" ? [] : [short, short.replaceAll(".", "_")];
    if (names.includes(text)) return 0;
    if (bare.includes(text) || id.split(".").at(-1) === text) return 1;
    if ([...names, ...bare].some((name) => name.startsWith(text))) return 2;
    return costs.reduce((sum, cost) => sum + (cost[index] ?? Infinity), 3);
  });
}

function scan(entries: readonly ToolEntry[], q: string): readonly string[] {
  const sorted = entries.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  if (askedOf(q).length === 0) return sorted.map(({ id }) => id);
  const ranks = rankAll(sorted, q);
  return sorted
    .map(({ id }, index) => ({ id, rank: ranks[index] ?? Infinity }))
    .filter(({ rank }) => rank !== Infinity)
    .toSorted((left, right) => left.rank - right.rank)
    .map(({ id }) => id);
}

/** What all words fit, as a search finds it; throws where a result that only some fit stands before one of those. */
async function findWhole(bench: GatewayBench, q: string): Promise<readonly string[]> {
  const { tools } = await bench.ask("search", { q });
  // As search answers.
  const found = tools as readonly { readonly tool: string; readonly partial?: true }[];
  const whole = found.filter(({ partial }) => partial === undefined);
  expect(found.slice(0, whole.length)).toEqual(whole);
  expect(found.length).toBeLessThanOrEqual(Math.max(10, whole.length));
  return whole.map(({ tool }) => tool);
}

/** Whether everybody was granted an operation. */
function isOpen({ scopes }: EntryGuard): boolean {
  return !scopes.includes("secret");
}

/** The texts that the tools of a gateway answer with, where somebody asks them by this text. */
async function answersOf(bench: GatewayBench, text: string): Promise<readonly unknown[]> {
  const told = async (name: string, args: JsonObject): Promise<unknown> =>
    bench.ask(name, args).catch((cause: unknown) => [String(cause), Object(cause)["issues"]]);
  return [
    await told("search", { q: text }),
    await told("search", { q: text, namespace: "git", limit: 2 }),
    await told("schema", { tool: text }),
  ];
}

const word = fc.constantFrom(
  ..."run reruns branch branches brunch branchCreate create_branch HTTPServer http server gitHub git-hub hub hubs x v2 naïve größe ﬁle 作成 Ö the".split(
    " ",
  ),
);
const segment = fc.constantFrom(
  ..."run reruns branch branchCreate create_branch HTTPServer git hub x v2 Node node".split(" "),
);
const id = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("."));
const sentence = fc.array(word, { maxLength: 5 }).map((words) => words.join(" "));
const entry = fc
  .record({ id, title: fc.option(sentence), description: fc.option(sentence), tags: fc.array(word, { maxLength: 2 }) })
  .map((drawn) =>
    operation(drawn.id, {
      title: drawn.title ?? undefined,
      description: drawn.description ?? undefined,
      tags: drawn.tags,
    }),
  );
const entries = fc.uniqueArray(entry, {
  maxLength: 12,
  selector: (one) => one.name,
});
const query = fc.oneof(
  fc.array(word, { maxLength: 3 }).map((words) => words.join(" ")),
  id,
  id.map((text) => text.slice(0, Math.ceil(text.length / 2))),
  id.map((text) => text.toUpperCase()),
  fc.string({ maxLength: 8, unit: "binary" }),
);

describe("search", () => {
  it("finds what a scan of everything finds, in its order, when ids, words and queries are drawn", async () => {
    await fc.assert(
      fc.asyncProperty(entries, fc.array(query, { minLength: 1, maxLength: 4 }), async (drawn, queries) => {
        const bench = GatewayBench.over(drawn);
        for (const q of queries) expect({ q, found: await findWhole(bench, q) }).toEqual({ q, found: scan(drawn, q) });
      }),
      { numRuns: draws(80, 300) },
    );
  });

  it("finds what a new index would find when operations have come, gone and been replaced", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(entries, query), { minLength: 1, maxLength: 6 }), async (steps) => {
        let catalog = catalogOf([]);
        const bench = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
        let kept: readonly ToolEntry[] = [];
        for (const [drawn] of steps) {
          // Every other operation of the step before stays, as the same object.
          const stays = kept.filter((_one, index) => index % 2 === 0);
          const names = new Set(stays.map(({ name }) => name));
          kept = [...stays, ...drawn.filter(({ name }) => !names.has(name))];
          catalog = catalogOf(kept);
          // All of them each time: what is known of a word that was looked for has to follow.
          for (const [, q] of steps)
            expect({ q, found: await findWhole(bench, q) }).toEqual({ q, found: scan(kept, q) });
          const { operations } = await bench.ask("list", { limit: 1000 });
          expect(operations).toMatchObject(scan(kept, "").map((tool) => ({ tool })));
        }
      }),
      { numRuns: draws(20, 60) },
    );
  });

  it("puts the better place first when the same word is in each of them", async () => {
    const bench = GatewayBench.over([
      operation("g.describes", { description: "the branch" }),
      operation("f.tagged", { tags: ["branch"] }),
      operation("branch.e"),
      operation("d.branch_new"),
      operation("a.branches"),
      operation("branch"),
      operation("z.branch"),
      operation("y.other"),
    ]);
    expect(await bench.find({ q: "Branch" })).toEqual([
      "branch",
      "z.branch",
      "a.branches",
      "branch.e",
      "d.branch_new",
      "f.tagged",
      "g.describes",
    ]);
  });

  it("understands names on the wire and names that are written together when they are looked for", async () => {
    const bench = GatewayBench.over([
      operation("git.worktreeCreate"),
      operation("git.list", { description: "On GitHub" }),
    ]);
    expect(await findWhole(bench, "git_worktreeCreate")).toEqual(["git.worktreeCreate"]);
    expect(await findWhole(bench, "create worktree")).toEqual(["git.worktreeCreate"]);
    expect(await findWhole(bench, "worktreecreate")).toEqual(["git.worktreeCreate"]);
    expect(await findWhole(bench, "github")).toEqual(["git.list"]);
    expect(await findWhole(bench, "GitHub")).toEqual(["git.list"]);
  });

  it("puts first what has exactly this name on the wire when others begin with it", async () => {
    const bench = GatewayBench.over([operation("z.A1"), operation("z.a")]);
    expect(await bench.find({ q: "z_a" })).toEqual(["z.a", "z.A1"]);
  });

  it("puts first what begins with an id when a dot says that it is one", async () => {
    const bench = GatewayBench.over([operation("admin.ci_status"), operation("ci.run")]);
    expect(await bench.find({ q: "ci." })).toEqual(["ci.run", "admin.ci_status"]);
  });

  it("finds by plurals, slips of one letter, and words joined or apart", async () => {
    const bench = GatewayBench.over([
      operation("mail.send", { description: "Send an e-mail" }),
      operation("deploy.rollback"),
      operation("queue.setUp", { description: "Make dead letters" }),
      operation("billing.listInvoices", { tags: ["companies"] }),
    ]);
    for (const q of ["email", "e-mail", "E-Mails", "eMail"]) expect(await findWhole(bench, q)).toEqual(["mail.send"]);
    for (const q of ["roll back", "roll-back", "rollbakc rollback", "rolback"]) {
      expect([q, (await bench.find({ q }))[0]]).toEqual([q, "deploy.rollback"]);
    }
    expect(await findWhole(bench, "deadletter")).toEqual(["queue.setUp"]);
    for (const q of ["invoice list", "the invoices of a company", "how do I list an invoise?"]) {
      expect([q, await findWhole(bench, q)]).toEqual([q, ["billing.listInvoices"]]);
    }
  });

  it("finds an id with and without the prefix of its mount", async () => {
    const bench = GatewayBench.over([operation("hub.git.branch"), operation("hub.other", { tags: ["git", "branch"] })]);
    for (const q of ["hub.git.branch", "git.branch", "git_branch", "GIT.BRA"]) {
      expect([q, (await bench.find({ q }))[0]]).toEqual([q, "hub.git.branch"]);
    }
  });

  it("gives what some words fit behind what all fit, marked, the best first, and none where ten are whole", async () => {
    const bench = GatewayBench.over([
      operation("deploy.release", { description: "Deploy" }),
      operation("deploy.rollback", { description: "After a bad release" }),
      operation("docs.release", { description: "Notes" }),
      operation("users.list"),
    ]);
    expect(await bench.ask("search", { q: "deploy the bad release tomorrow" })).toEqual({
      tools: [
        { tool: "deploy.rollback", description: "After a bad release", partial: true },
        { tool: "deploy.release", description: "Deploy", partial: true },
        { tool: "docs.release", description: "Notes", partial: true },
      ],
      total: 3,
    });
    expect(await bench.ask("search", { q: "deploy release" })).toMatchObject({
      tools: [{ tool: "deploy.release" }, { tool: "deploy.rollback" }, { tool: "docs.release", partial: true }],
    });
    const many = GatewayBench.over([
      operation("docs.release"),
      ...Array.from({ length: 10 }, (_none, index) => operation(`n${index}.release_run`)),
    ]);
    expect(await many.find({ q: "run release" })).toHaveLength(10);
  });

  it("answers as if operations that its caller may not see did not exist, near names and batches included", async () => {
    const joined = fc.array(word, { minLength: 2, maxLength: 3 }).map((words) => words.join(""));
    const slip = joined.map((text) => `${text.slice(0, 2)}q${text.slice(3)}`);
    const asked = fc.array(fc.oneof(joined, slip, query), { minLength: 1, maxLength: 3 });
    const questions = fc.array(
      asked.map((words) => words.join(" ")),
      { minLength: 1, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(entries, fc.array(fc.boolean(), { maxLength: 12 }), questions, async (drawn, hides, texts) => {
        const guarded = drawn.map((one, index) => (hides[index] === true ? { ...one, scopes: ["secret"] } : one));
        const hidden = guarded.filter((one) => !isOpen(one));
        const [shown, all] = [guarded.filter(isOpen), catalogOf(guarded)];
        const whole = new GatewayBench({ catalog: () => all, isGranted: isOpen });
        const visible = GatewayBench.over(shown);
        const names = [...texts, ...[...hidden].map(({ id: of }) => of)];
        for (const text of names) expect(await answersOf(whole, text)).toEqual(await answersOf(visible, text));
        const calls = names.map((tool) => ({ tool }));
        for (const parallel of [false, true]) {
          const batch = { calls, parallel };
          expect(await whole.ask("call", batch)).toEqual(await visible.ask("call", batch));
        }
      }),
      { numRuns: draws(80, 300) },
    );
  });

  it("cuts a word in two by the operations that its caller may see", async () => {
    const seen = operation("note", { description: "Whether you may delete, and which user it is" });
    const catalog = catalogOf([
      seen,
      operation("secret", { description: "deleteUser, or user which", scopes: ["secret"] }),
    ]);
    const bench = new GatewayBench({ catalog: () => catalog, isGranted: isOpen });
    for (const q of ["deleteuser", "userwhich"]) expect([q, await bench.find({ q })]).toEqual([q, ["note"]]);
  });

  it("finds everything when nothing is looked for", async () => {
    const bench = GatewayBench.over([operation("b.two"), operation("a.one"), operation("loose")]);
    const all = ["a.one", "b.two", "loose"];
    for (const args of [{}, { q: "" }, { q: " \t" }, { q: "*?!" }, { q: "", namespace: "" }]) {
      expect(await bench.find(args)).toEqual(all);
    }
  });

  it("keeps to a namespace and those below it when it is named", async () => {
    const bench = GatewayBench.over([operation("a.b.run"), operation("a.run"), operation("ab.run"), operation("run")]);
    expect(await bench.find({ q: "run", namespace: "a" })).toEqual(["a.b.run", "a.run"]);
    expect(await bench.find({ namespace: "a.b" })).toEqual(["a.b.run"]);
    expect(await bench.ask("search", { namespace: "nowhere" })).toEqual({ tools: [], total: 0 });
  });

  it("counts only what its caller was granted when there is more", async () => {
    const caller: Caller = { id: "ada", isAnonymous: false, scopes: ["hub:read"] };
    const entriesOfAda = Array.from({ length: 30 }, (_none, index) =>
      operation(`n${index}.run`, { scopes: [`n${index}`.startsWith("n1") ? "one" : "other"] }),
    );
    const catalog = catalogOf(entriesOfAda);
    const bench = new GatewayBench({
      catalog: () => catalog,
      isGranted: ({ scopes }, { id: who }) => who === "ada" && scopes.includes("one"),
    });
    const answer = await bench.ask("search", { q: "run", limit: 2 }, callOf({ caller }));
    expect(answer).toEqual({
      tools: [
        { tool: "n1.run", description: "" },
        { tool: "n10.run", description: "" },
      ],
      total: 11,
    });
    expect(await bench.ask("search", { q: "run" })).toEqual({ tools: [], total: 0 });
  });

  it("tells 50 operations when nobody says how many, and the number of all", async () => {
    const bench = GatewayBench.over(Array.from({ length: 80 }, (_none, index) => operation(`n${index}.run`)));
    expect(await bench.find({ q: "run" })).toHaveLength(50);
    expect(await bench.ask("search", { q: "run" })).toMatchObject({ total: 80 });
  });

  it("finds what is there after many operations have come and gone one by one", async () => {
    const stays = [operation("kept.run", { description: "Stay" }), operation("kept.stop")];
    let catalog = catalogOf(stays);
    const bench = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
    for (let index = 0; index < 300; index += 1) {
      catalog = catalogOf([...stays, operation(`fresh.run${index}`, { description: `Word${index}x` })]);
      expect(await findWhole(bench, `word${index}x`)).toEqual([`fresh.run${index}`]);
      expect(await findWhole(bench, "kept run")).toEqual(["kept.run"]);
    }
    catalog = catalogOf(stays);
    expect(await bench.find({ q: "fresh run" })).toEqual(["kept.run"]);
    expect(await bench.find({})).toEqual(["kept.run", "kept.stop"]);
  });

  it("finds what has just been registered, and not what has just gone, when several search at once", async () => {
    const many = Array.from({ length: 900 }, (_none, index) => operation(`n${index}.run`));
    let catalog = catalogOf(many);
    const bench = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
    const before = findWhole(bench, "fresh run");
    catalog = catalogOf([...many.slice(1), operation("fresh.run")]);
    const after = findWhole(bench, "fresh run");
    const gone = findWhole(bench, "n0.run");
    expect(await Promise.all([before, after, gone])).toEqual([[], ["fresh.run"], []]);
  });

  it.each([
    ["q", { q: 1 }],
    ["q", { q: "x".repeat(257) }],
    ["q", { q: "😀".repeat(100_000) }],
    ["q", { q: Array.from({ length: 17 }, (_none, index) => `w${index}`).join(" ") }],
    ["q", { q: Array.from({ length: 17 }, (_none, index) => `W${index}x`).join("") }],
    ["q", { q: Array.from({ length: 6 }, (_none, index) => `one${index}Two${index}Three${index}`).join(" ") }],
    ["namespace", { namespace: null }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 501 }],
    ["limit", { limit: "5" }],
  ])("refuses %s when it does not fit: case %#", (path, args) => {
    const bench = GatewayBench.over([]);
    const attempt = (): unknown => bench.tool("search").input.decode(args);
    expect(attempt).toThrow(SurfaceError);
    expect(attempt).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", issues: [{ path, message: expect.any(String) }] }),
    );
  });

  it("takes what is just short enough when it is long", async () => {
    const bench = GatewayBench.over([operation("a.run")]);
    expect(await bench.find({ q: "😀".repeat(256) })).toEqual(["a.run"]);
    expect(await bench.find({ q: "x".repeat(256) })).toEqual([]);
    expect(await bench.find({ q: "A.Run ".repeat(40) })).toEqual(["a.run"]);
    expect(await bench.find({ q: Array.from({ length: 16 }, (_none, index) => `W${index}x`).join("") })).toEqual([]);
  });
});
