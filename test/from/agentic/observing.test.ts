import { describe, expect, it } from "vitest";
import { agenticService } from "../../../src/from/agentic/agentic-service.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import type { AgenticService, Observe } from "../../../src/from/agentic/service-shape.ts";
import { context } from "../../catalog/mounts/mount-support.ts";
import { act, settled, show, stage, state, type Actions, type States } from "./support.ts";

/** What a caller who casts may hand over as an observable. */
function observing<TValue>(observe: (notify: (value: TValue) => void) => unknown): Observe<TValue> {
  return observe as Observe<TValue>;
}

function withActions(actions: Observe<Actions>): AgenticService {
  return { ...stage({ states: { hp: state(1) } }).service, actions };
}

describe("an observed service", () => {
  it("A21 is observed once however many apps, sources and sessions there are, and no longer than the last", async () => {
    const { service, actions, states } = stage({ actions: { heal: act() }, states: { hp: state(1) } });
    const source = agenticService(service, { states: "resource" });
    expect(actions.opened).toBe(0);
    const first = source.subscribe(() => {});
    const second = source.subscribe(() => {});
    const other = agenticService(service, { states: "tool" }).subscribe(() => {});
    const watching = source.watch?.("state/hp", () => {}, { caller: anonymous });
    expect([actions.opened, states.opened]).toEqual([1, 1]);
    first();
    first();
    second();
    other();
    expect([actions.ended, states.ended]).toEqual([0, 0]);
    watching?.();
    expect([actions.ended, states.ended]).toEqual([1, 1]);
    expect(source.list()).toEqual([]);
    source.subscribe(() => {});
    expect([actions.opened, states.opened]).toEqual([2, 2]);
    expect(source.list()).toHaveLength(1);
  });

  it.each(["leaves", "leaves and comes back"])(
    "A21 is let go of when the last %s while links are looked at",
    async (how) => {
      let leave = (): void => {};
      const cat = stage({ actions: { pet: act() } });
      const child: AgenticService = {
        ...cat.service,
        actions: (notify) => {
          leave();
          return cat.service.actions(notify);
        },
      };
      const { service, actions, links } = stage({ actions: { heal: act() }, links: {} });
      const source = agenticService(service, { links: true });
      const stop = source.subscribe(() => {});
      let stopAgain = (): void => {};
      leave = () => {
        leave = () => {};
        stop();
        if (how !== "leaves") stopAgain = source.subscribe(() => {});
      };
      links.tell({ cat: child });
      await settled();
      await settled();
      const isUsed = how !== "leaves";
      expect(source.list().map(({ name }) => name)).toEqual(isUsed ? ["heal", "cat.pet"] : []);
      expect(cat.ran).toEqual([]);
      if (isUsed) await source.invoke("cat.pet", undefined, context);
      expect(cat.ran.length).toBe(isUsed ? 1 : 0);
      const open = [actions, links, cat.actions].map(({ opened, ended }) => opened - ended);
      expect(open).toEqual(isUsed ? [1, 1, 1] : [0, 0, 0]);
      stopAgain();
      expect([actions, links, cat.actions].map(({ opened, ended }) => opened - ended)).toEqual([0, 0, 0]);
    },
  );

  it("A21 notifies no listener after the end, also for an announcement before it", async () => {
    const told: (() => void)[] = [];
    let notify: (value: Actions) => void = () => {};
    const service = withActions((tell) => {
      notify = tell;
      tell({});
      return () => {};
    });
    const source = agenticService(service, { states: "resource" });
    const stop = source.subscribe(() => told.push(() => {}));
    notify({ heal: act() });
    stop();
    await settled();
    notify({ flee: act() });
    await settled();
    expect(told).toEqual([]);
    expect(source.list()).toEqual([]);
  });

  it("A21 notifies the other listeners when one throws, and reports its error", async () => {
    const { service, actions } = stage({ actions: {} });
    const shown = show(service);
    shown.source.subscribe(() => {
      throw new Error("mine");
    });
    let told = 0;
    shown.source.subscribe(() => (told += 1));
    actions.tell({ heal: act() });
    await settled();
    expect([shown.changes(), told]).toEqual([1, 1]);
    expect(shown.messages()).toEqual(["mine"]);
  });

  it("belongs to its service when its method is that of a class", () => {
    class Counter implements AgenticService {
      readonly serviceName: string;
      constructor(name: string) {
        this.serviceName = name;
      }
      states(notify: (value: States) => void): () => void {
        notify({});
        return () => {};
      }
      actions(notify: (value: Actions) => void): () => void {
        notify({ [`count_${this.serviceName}`]: act() });
        return () => {};
      }
      execute(): void {}
    }
    expect(show([new Counter("a"), new Counter("b")]).names()).toEqual(["a.count_a", "b.count_b"]);
  });

  it("has no actions when observing throws, which is reported once and not repeated", async () => {
    let opened = 0;
    let late: (value: Actions) => void = () => {};
    const service = withActions((notify) => {
      opened += 1;
      late = notify;
      notify({ heal: act() });
      throw new Error("no actions today");
    });
    const shown = show(service, { states: "resource" });
    expect(shown.names()).toEqual([]);
    expect(shown.paths()).toEqual(["state/hp"]);
    late({ heal: act() });
    await settled();
    expect(shown.names()).toEqual([]);
    const other = show(service);
    expect(opened).toBe(1);
    expect([shown.messages(), other.messages()]).toEqual([["no actions today"], ["no actions today"]]);
  });

  it.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["a promise that rejects", () => Promise.reject(new Error("later"))],
  ])("is listed when observing returns %s, with a report", async (_what, stop) => {
    const shown = show(
      withActions(
        observing<Actions>((notify) => {
          notify({ heal: act() });
          return stop();
        }),
      ),
    );
    await settled();
    expect(shown.names()).toEqual(["heal"]);
    expect(shown.messages()[0]).toBe("Cannot observe a service: the observable must return a function that stops it");
    shown.stop();
  });

  it.each([undefined, null, 7, "heal"])(
    "keeps the last announcement, with one report, after the announcement %j",
    async (value) => {
      const { service, actions } = stage({ actions: { heal: act() } });
      const shown = show(service);
      // What a caller who casts may tell.
      for (let at = 0; at < 3; at += 1) actions.tell(value as unknown as Actions);
      await settled();
      expect(shown.names()).toEqual(["heal"]);
      expect(shown.changes()).toBe(0);
      expect(shown.messages()).toEqual([expect.stringContaining("the value must be an object")]);
    },
  );

  it("ends its other observations when one fails to end, with a report", () => {
    const { states } = stage();
    const service: AgenticService = {
      ...withActions(() => () => {
        throw new Error("cannot end");
      }),
      states: states.observe,
    };
    const shown = show(service, { states: "resource" });
    shown.stop();
    expect(shown.messages()).toEqual(["cannot end"]);
    expect(states.ended).toBe(1);
  });

  it("ends when the link to it goes during its first announcement", () => {
    const { service, actions, links } = stage({ actions: { heal: act() }, links: {} });
    const child = stage({ actions: {} });
    let ended = 0;
    const leaving: AgenticService = {
      ...child.service,
      actions: (notify) => {
        // The link that led here goes while this is observed.
        links.tell({});
        notify({ never: act() });
        return () => (ended += 1);
      },
    };
    const shown = show(service, { links: true });
    links.tell({ child: leaving });
    shown.names();
    expect(actions.ended).toBe(0);
    return settled().then(() => {
      expect(shown.names()).toEqual(["heal"]);
      expect(ended).toBe(1);
    });
  });

  it("lets other work run when each look at it announces something new", async () => {
    let made = 0;
    const links: AgenticService["links"] = (notify) => {
      notify({});
      return () => {};
    };
    let tell: (value: Readonly<Record<string, AgenticService>>) => void = () => {};
    const fresh = (): AgenticService => ({
      ...stage().service,
      links,
      actions: (notify) => {
        notify({ [`a${(made += 1)}`]: act() });
        // Seen by the link that led here.
        tell({ n: fresh() });
        return () => {};
      },
    });
    const root: AgenticService = {
      ...stage({ actions: {} }).service,
      links: (notify) => {
        tell = notify;
        notify({ n: fresh() });
        return () => {};
      },
    };
    const shown = show(root, { links: true });
    await settled();
    await settled();
    expect(made).toBeLessThan(20);
    shown.stop();
    const at = made;
    await settled();
    expect(made).toBe(at);
  });

  const hostile = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error("trap");
      },
    },
  );
  const getter = Object.defineProperty({}, "description", {
    get() {
      throw new Error("secret");
    },
  });
  it.each<[string, { readonly given: unknown; readonly names: readonly string[]; readonly why: string }]>([
    ["one is null", { given: { a: null, b: act() }, names: ["b"], why: "an action must be an object" }],
    ["one is a text", { given: { a: "b", b: act() }, names: ["b"], why: "an action must be an object" }],
    ["one throws when it is looked at", { given: { a: getter, b: act() }, names: ["b"], why: "it cannot be read" }],
    ["the map throws when it is looked at", { given: hostile, names: [], why: "trap" }],
    ["parameters are no list", { given: { a: { parameters: 1 } }, names: [], why: '"parameters" must be a list' }],
    ["a parameter is none", { given: { a: { parameters: [null] } }, names: [], why: "a schema must be an object" }],
    [
      "there is a hole in the list",
      { given: { a: { parameters: Array(2) } }, names: [], why: "a schema must be an object" },
    ],
    [
      "one takes several parameters and cannot be run",
      {
        given: { a: { parameters: [{}, {}] } },
        names: [],
        why: "it has several parameters, so its execute() must be a function",
      },
    ],
    [
      "a schema has a reference",
      { given: { a: { schema: { $ref: "#" } } }, names: [], why: '"$ref" is not supported' },
    ],
  ])("is listed without an uncallable action, with one report, when %s", async (_what, { given, names, why }) => {
    const { service, actions } = stage({ actions: {} });
    const shown = show(service);
    // What a caller who casts may tell.
    for (let at = 0; at < 3; at += 1) {
      actions.tell(given as Actions);
      expect(shown.names()).toEqual(names);
    }
    expect(shown.messages()).toEqual([expect.stringContaining(why)]);
    expect(shown.messages().join(" ")).not.toContain("secret");
    actions.tell({});
    shown.names();
    actions.tell(given as Actions);
    shown.names();
    expect(shown.faults).toHaveLength(2);
  });

  it("is listed under names that nothing else has when keys are hostile", async () => {
    const keys = ["__proto__", "constructor", "", "a.b", "a_x2e_b", "ü", "x".repeat(300), "tool\nname"];
    const actions = Object.fromEntries(keys.map((key) => [key, act()]));
    const staged = stage({ actions });
    const shown = show(staged.service);
    expect(new Set(shown.names()).size).toBe(keys.length);
    for (const name of shown.names()) await shown.invoke(name);
    expect(staged.ran.map(([key]) => key)).toEqual(Object.keys(actions));
    expect(({} as Record<string, unknown>)["description"]).toBeUndefined();
  });

  it.each(["", "..", "\ud800"])("is listed without a state whose key %j fits no URI", (key) => {
    const shown = show(stage({ states: { [key]: state(1), hp: state(2) } }).service, { states: "resource" });
    expect(shown.paths()).toEqual(["state/hp"]);
    expect(shown.messages()).toEqual([
      expect.stringMatching(/^Cannot show state ".*": Cannot name a state: .*; it is left out$/),
    ]);
  });

  it("is listed without a link that leads to no service", () => {
    const links = { a: null, b: {}, c: { actions: 1 }, d: stage({ actions: { ok: act() } }).service };
    // What a caller who casts may tell.
    const shown = show(stage({ actions: {}, links: links as unknown as Record<string, AgenticService> }).service, {
      links: true,
    });
    expect(shown.names()).toEqual(["d.ok"]);
    expect(shown.messages()).toHaveLength(3);
  });

  it.each<[string, object, string]>([
    ["has an option that is none", { state: "tool" }, '"state" is not an option'],
    ["has a mode that is none", { states: "all" }, '"states" must be'],
    ["has links that are no flag", { links: "yes" }, '"links" must be true or false'],
    ["says more by what is no function", { describe: {} }, '"describe" must be a function'],
    ["says of states what nobody is held to", { describeState: () => ({}) }, 'set "states" to "resource"'],
    [
      "keeps back what one tool answers",
      { states: "tool", describeState: () => ({}) },
      '"describeState" describes resources',
    ],
  ])("is refused to be shown when the call %s", (_what, options, message) => {
    expect(() => agenticService(stage().service, options)).toThrow(message);
  });
});
