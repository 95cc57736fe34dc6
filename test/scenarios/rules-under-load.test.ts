import * as z from "zod";
import { describe, expect, it } from "vitest";
import {
  cellSource,
  defineSurface,
  mcp,
  type ServableApp,
  type ViewRule,
  type WritableSource,
} from "../../src/index.ts";
import { agentKinds, outcomeOf, type Agent } from "./support/clients.ts";
import { serveForTest } from "./support/serve.ts";
import { quiet, until } from "./support/until.ts";

const names = ["one", "two", "three", "four"] as const;

type Views = Readonly<Record<string, readonly string[]>>;

function toRules(views: Views): readonly ViewRule[] {
  return Object.entries(views).map(([surface, allow]) => ({
    id: surface,
    when: { surface },
    verdict: { kind: "tool_surface", allow: [...allow, "hold"] },
  }));
}

interface Held {
  readonly app: ServableApp;
  readonly rules: WritableSource<readonly ViewRule[]>;
  readonly held: { count: number };
  readonly release: () => void;
}

function createHeld(first: Views): Held {
  const rules = cellSource(toRules(first));
  const held = { count: 0 };
  const waiting: (() => void)[] = [];
  const tool = { input: z.object({ at: z.int() }), mutates: false, handler: ({ at }: { at: number }): number => at };
  const app = mcp(defineSurface("load", {}), { onFault: () => {} })
    .implement({})
    .tools({
      one: tool,
      two: tool,
      three: tool,
      four: tool,
      hold: {
        mutates: false,
        handler: async () => {
          held.count += 1;
          await new Promise<void>((resolve) => waiting.push(resolve));
          return "held";
        },
      },
    })
    .views(rules);
  const release = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { app, rules, held, release };
}

/** An agent, what it has been told, and what it goes on asking. */
class Busy {
  told = 0;
  /** Answers that were right by no rules that could have been in force. */
  readonly wrong: string[] = [];
  asked = 0;
  #isOver = false;
  readonly #agent: Agent;
  readonly #mayBe: () => readonly (readonly string[])[];

  /** @param mayBe - the lists that may be in force, of which there are two while they are replaced. */
  constructor(agent: Agent, mayBe: () => readonly (readonly string[])[]) {
    this.#agent = agent;
    this.#mayBe = mayBe;
  }

  async ask(): Promise<void> {
    for (let at = 0; !this.#isOver; at += 1) {
      const before = this.#mayBe();
      const listed = await this.#agent.tools();
      const lists = [...before, ...this.#mayBe()].map((list) => [...list, "hold"].toSorted().join());
      if (!lists.includes(listed.join())) this.wrong.push(`listed ${listed.join()}, not ${lists.join(" or ")}`);
      const name = names[at % names.length] ?? "one";
      const could = this.#mayBe();
      const outcome = await outcomeOf(this.#agent.call(name, { at }));
      const isAnswered = outcome.includes(`"value":${at}`);
      if (!isAnswered && !outcome.includes("there is no such tool")) this.wrong.push(`${name}: ${outcome}`);
      const all = [...could, ...this.#mayBe()];
      if (!all.some((list) => list.includes(name) === isAnswered)) this.wrong.push(`${name} was ${outcome}`);
      this.asked += 2;
    }
  }

  end(): void {
    this.#isOver = true;
  }
}

/** What each view shows before, and after each time that the rules are replaced. */
const turns: readonly Views[] = [
  { a: ["one", "two"], b: ["three"], c: ["one", "four"] },
  { a: ["one"], b: ["three"], c: ["one", "four"] },
  { a: ["one"], b: ["three", "four"], c: ["two"] },
  { a: ["one"], b: ["three", "four"], c: ["two"] },
  { a: ["four"], b: [], c: ["two"] },
];

/** Agents of every sort by every view, and what each of them has to be told. */
class Crew {
  readonly busy: Busy[] = [];
  readonly agents: Agent[] = [];
  /** How often each was to be told by now. */
  readonly expected: number[] = [];
  readonly #views: string[] = [];
  readonly #rules: Held["rules"];
  #now: Views;

  constructor(rules: Held["rules"], first: Views) {
    this.#rules = rules;
    this.#now = first;
  }

  async join(agent: Agent, view: string): Promise<void> {
    const busy = new Busy(agent, () => [this.#now[view] ?? []]);
    await agent.onTools(() => (busy.told += 1));
    this.agents.push(agent);
    this.busy.push(busy);
    this.expected.push(0);
    this.#views.push(view);
  }

  /** Replaces the rules, and waits until all have asked some more and who has to be told has been. */
  async replace(next: Views): Promise<void> {
    const askedBefore = this.busy.map(({ asked }) => asked);
    for (const [at, view] of this.#views.entries()) {
      const isOther = this.#now[view]?.join() !== next[view]?.join();
      this.expected[at] = (this.expected[at] ?? 0) + (isOther ? 1 : 0);
    }
    this.#now = next;
    this.#rules.set(toRules(next));
    await until(() => this.busy.every(({ told }, at) => told === this.expected[at]));
    await until(() => this.busy.every(({ asked }, at) => asked > (askedBefore[at] ?? 0) + 4));
    await quiet();
  }
}

describe("rules that are replaced while agents of both SDKs and eras are at work", () => {
  it("are announced where a list differs, let running calls end, and leave no earlier answer", async () => {
    const [first = {}, ...later] = turns;
    const { app, rules, held, release } = createHeld(first);
    const { enter } = await serveForTest(app);
    const crew = new Crew(rules, first);
    for (const kind of agentKinds) {
      for (const view of ["a", "b", "c"]) await crew.join(await enter(kind, `?surface=${view}`), view);
    }
    await quiet();
    const holding = crew.agents.map((agent) => agent.call("hold"));
    await until(() => held.count === holding.length);
    const asking = crew.busy.map((busy) => busy.ask());
    for (const next of later) await crew.replace(next);
    for (const busy of crew.busy) busy.end();
    await Promise.all(asking);
    expect(crew.busy.map(({ told }) => told)).toEqual(crew.expected);
    expect(crew.busy.flatMap(({ wrong }) => wrong)).toEqual([]);
    release();
    for (const answer of await Promise.all(holding))
      expect(answer).toMatchObject({ structuredContent: { value: "held" } });
    expect(held.count).toBe(holding.length);
  }, 60_000);

  it("apply to the next request of every session, for any rules before and after", async () => {
    const { app, rules } = createHeld({ default: ["one"] });
    const { enter } = await serveForTest(app);
    const agents = await Promise.all(agentKinds.map((kind) => enter(kind)));
    for (let at = 0; at < 15; at += 1) {
      const shown = names.filter((_name, nth) => ((at * 7 + 3) >> nth) % 2 === 1);
      rules.set(toRules({ default: shown }));
      for (const agent of agents) {
        expect(await agent.tools()).toEqual([...shown, "hold"].toSorted());
        const outcomes = await Promise.all(names.map((name) => outcomeOf(agent.call(name, { at }))));
        expect(names.filter((_name, nth) => outcomes[nth]?.includes(`"value":${at}`))).toEqual(shown);
      }
    }
  }, 60_000);

  it("end admitted sessions' access, and restore it, without losing a session", async () => {
    const { app, rules, held, release } = createHeld({ default: ["one"] });
    const { enter, serving } = await serveForTest(app);
    const agents = await Promise.all(agentKinds.map((kind) => enter(kind)));
    const sessions = serving.stats().sessions;
    const holding = agents.map((agent) => agent.call("hold"));
    await until(() => held.count === agents.length);
    rules.set([{ verdict: { kind: "deny", reason: "for a moment" } }]);
    for (const agent of agents) {
      expect(await outcomeOf(agent.tools())).toContain("tool surface denied: for a moment");
      expect(await outcomeOf(agent.call("one", { at: 1 }))).toContain("tool surface denied: for a moment");
    }
    rules.set(toRules({ default: ["two"] }));
    for (const agent of agents) expect(await agent.tools()).toEqual(["hold", "two"]);
    release();
    for (const answer of await Promise.all(holding))
      expect(answer).toMatchObject({ structuredContent: { value: "held" } });
    expect(serving.stats().sessions).toBe(sessions);
  });
});
