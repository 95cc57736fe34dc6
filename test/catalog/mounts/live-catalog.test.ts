import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createInvoker } from "../../../src/call/create-invoker.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import type { MountedOperation, MountSource } from "../../../src/catalog/mounts/mount.ts";
import { operationRegistry } from "../../../src/catalog/mounts/operation-registry.ts";
import { createLiveCatalog } from "../../../src/catalog/mounts/live-catalog.ts";
import { Refusal } from "../../../src/errors.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { messagesOf, mount, registryOf } from "./mount-support.ts";
import { catalogOf } from "../support.ts";

function namesOf({ live }: ReturnType<typeof mount>): readonly string[] {
  return live.current.tools.map(({ name }) => name);
}

/** A source that lists what it is told to. */
function listing(list: () => unknown): MountSource & { tell(): void; readonly stopped: () => number } {
  let told: () => void = () => {};
  let stops = 0;
  return {
    // For sources that cast.
    list: list as () => readonly MountedOperation[],
    subscribe(changed) {
      told = changed;
      return () => void (stops += 1);
    },
    invoke: (name) => name,
    tell: () => told(),
    stopped: () => stops,
  };
}

describe("createLiveCatalog()", () => {
  it("createLiveCatalog() is the base itself and cannot change when nothing is mounted", () => {
    const { live, base } = mount({});
    expect([live.current, live.canChange]).toEqual([base, false]);
    live.subscribe(() => {})();
    live.close();
  });

  it("createLiveCatalog() shows what is registered at the very next look, and the same object until then", () => {
    const registry = registryOf("git.branch");
    const mounted = mount({ hub: registry });
    const before = mounted.live.current;
    expect(namesOf(mounted)).toEqual(["hub_git_branch", "own"]);
    expect(mounted.live.current).toBe(before);
    const remove = registry.register({ name: "git.log" }, () => "log");
    expect(namesOf(mounted)).toEqual(["hub_git_branch", "hub_git_log", "own"]);
    expect(mounted.live.current.toolOf("hub.git.branch")).toBe(before.toolOf("hub.git.branch"));
    remove();
    expect(namesOf(mounted)).toEqual(["hub_git_branch", "own"]);
    expect([mounted.live.canChange, mounted.faults]).toEqual([true, []]);
  });

  it("createLiveCatalog() says of an operation what it says of itself when it is listed", () => {
    const registry = operationRegistry();
    registry.register(
      {
        ...{ name: "read", type: "query", version: "2", title: "T", description: "D", tags: ["x"], timeoutMs: 5 },
        ...{ inputSchema: { type: "string" }, outputSchema: z.object({ n: z.number() }), scopes: ["extra"] },
        ...{
          errorSchemas: { BUSY: { type: "integer" } },
          visibility: "internal",
          canCall: ["hub.*"],
          callScopes: ["a"],
        },
        ...{ scopesAny: ["one", "two"] },
      },
      () => ({ n: 1 }),
    );
    registry.register({ name: "write", openWorld: true }, () => 1);
    registry.register({ name: "feed", type: "subscription" }, () => 1);
    const { live } = mount({ hub: registry });
    expect(live.current.toolOf("hub.read")).toMatchObject({
      ...{ id: "hub.read", name: "hub_read", origin: 'operation "hub.read"', title: "T", description: "D" },
      ...{ version: "2", tags: ["x"], timeoutMs: 5, isInternal: true, canCall: ["hub.*"], callScopes: ["a"] },
      hints: { readOnlyHint: true, destructiveHint: false },
      scopes: ["probe:read", "extra"],
      requires: { scopes: ["extra"], scopesAny: ["one", "two"] },
      input: { root: "value", json: { type: "object", properties: { value: { type: "string" } } } },
      output: { rich: "may", json: { type: "object", properties: { n: { type: "number" } } } },
      errors: { BUSY: { type: "integer" } },
    });
    expect(live.current.toolOf("hub.write")).toMatchObject({
      hints: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      scopes: ["probe:write"],
      isInternal: false,
    });
    registry.register({ name: "look", type: "query" }, () => 1);
    expect(live.current.toolOf("hub.write")?.callScopes).toEqual(["probe:read", "probe:write"]);
    expect(live.current.toolOf("hub.look")?.callScopes).toEqual(["probe:read"]);
    expect(live.current.toolOf("hub.feed")).toBeUndefined();
    expect(live.current.scopes.all).toEqual(["extra", "one", "probe:read", "probe:write", "two"]);
  });

  it("createLiveCatalog() leaves out what cannot be a tool, reports each once, and shows the others", () => {
    const good = { name: "good" };
    const bad: readonly unknown[] = [
      ...[null, "text", { name: 1 }, { name: "a b" }, { name: "x".repeat(64) }, { name: "typo", scope: ["a"] }],
      ...[
        { name: "s", inputSchema: { unevaluatedItems: false } },
        { name: "d", type: "query", destructive: true },
      ],
      ...[{ name: "r", resource: { type: "repo", action: "read", argument: "none" } }, { name: "good" }],
    ];
    let list: readonly unknown[] = [good, ...bad];
    const source = listing(() => list);
    const mounted = mount({ hub: source });
    expect(namesOf(mounted)).toEqual(["hub_good", "own"]);
    expect(mounted.faults.length).toBe(bad.length);
    expect(messagesOf(mounted).join("\n")).toContain('"scope" is not an option; did you mean "scopes"?');
    list = [good, ...bad, { name: "more" }];
    source.tell();
    expect(namesOf(mounted)).toEqual(["hub_good", "hub_more", "own"]);
    expect(mounted.faults.length).toBe(bad.length);
  });

  it("createLiveCatalog() leaves out, by name, operations whose schemas are too large together, and holds no others", () => {
    const description = "x".repeat(500_000);
    const properties = { a: { type: "string", description } };
    // Counted twice, as it is given and as it is shown: 12 of them fit into the limit of a source.
    const all = Array.from({ length: 14 }, (_none, at) => ({
      name: `o${at}`,
      inputSchema: { type: "object", properties },
    }));
    let list: readonly unknown[] = all.slice(0, 13);
    const source = listing(() => list);
    const mounted = mount({
      hub: source,
      more: listing(() => all.slice(0, 3)),
      third: listing(() => all.slice(0, 2)),
    });
    const { live } = mounted;
    expect(live.current.tool("hub_o11")).toBeDefined();
    expect(live.current.tool("hub_o12")).toBeUndefined();
    expect(live.current.tool("third_o0")).toBeDefined();
    expect(messagesOf(mounted)).toEqual([
      expect.stringMatching(/operation "hub.o12".* schemas of mount "hub" are more than 12582912 characters/),
      expect.stringMatching(/operation "third.o1".* schemas of all mounts are more than 16777216 characters/),
    ]);
    expect(live.schemas.use).toMatchObject({ limit: 16_777_216, refused: 2 });
    list = [...all.slice(1, 13), all[13]];
    source.tell();
    expect(live.current.tool("hub_o13")).toBeDefined();
    expect(live.current.tool("hub_o0")).toBeUndefined();
    list = [...all, ...all];
    source.tell();
    expect(live.current.tools.filter(({ name }) => name.startsWith("hub_"))).toHaveLength(12);
    list = [];
    source.tell();
    expect(live.current.tools.some(({ name }) => name.startsWith("hub_"))).toBe(false);
    expect(live.schemas.use.used).toBeLessThan(4_100_000);
    live.close();
    expect(live.schemas.use.used).toBe(0);
  });

  it("createLiveCatalog() holds callers to what was looked at when an operation says another thing each time", () => {
    let reads = 0;
    const operation = {
      name: "a",
      get scopes() {
        reads += 1;
        return reads === 1 ? ["admin"] : undefined;
      },
    };
    const { live } = mount({ hub: listing(() => [operation]) });
    expect([live.current.toolOf("hub.a")?.requires?.scopes, reads]).toEqual([["admin"], 1]);
  });

  it("createLiveCatalog() shows the one of two that is left when the other of its name goes", () => {
    const [first, second] = [{ name: "a.b" }, { name: "a_b" }];
    let list = [first, second];
    const source = listing(() => list);
    const mounted = mount({ hub: source });
    expect(mounted.live.current.tool("hub_a_b")?.id).toBe("hub.a.b");
    expect(messagesOf(mounted)).toEqual([
      'Cannot name operation "hub.a_b": its wire name "hub_a_b" is taken by operation "hub.a.b"; it is left out',
    ]);
    list = [second];
    source.tell();
    expect(mounted.live.current.tool("hub_a_b")?.id).toBe("hub.a_b");
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
    ["gives no list", () => ({ length: 1 })],
    ["gives a promise", () => Promise.reject(new Error("late"))],
  ])("createLiveCatalog() keeps what was listed last when a source %s, and reports it", (...row) => {
    const [, fails] = row;
    let list: () => unknown = () => [{ name: "a" }];
    const source = listing(() => list());
    const mounted = mount({ hub: source, other: registryOf("b") });
    const before = mounted.live.current;
    list = fails;
    source.tell();
    expect(mounted.live.current).toBe(before);
    expect(mounted.faults[0]).toMatchObject({ where: 'mount "hub"' });
    list = () => [];
    source.tell();
    expect(namesOf(mounted)).toEqual(["other_b", "own"]);
  });

  it("createLiveCatalog() leaves out what would take a name of the app or of another mount, and reports it once", () => {
    const mounted = mount({ a: registryOf("b_c"), a_b: registryOf("c") });
    expect(namesOf(mounted)).toEqual(["a_b_c", "own"]);
    expect(messagesOf(mounted)[0]).toContain('is taken by operation "a.b_c"');
    expect(mounted.live.current.toolOf("a_b.c")).toBeUndefined();
  });

  it("createLiveCatalog() tells each listener of each change, whatever another does, until it stops or is closed", () => {
    const source = listing(() => []);
    const { live, faults } = mount({ hub: source });
    const told: string[] = [];
    live.subscribe(() => {
      throw new Error("listener");
    });
    const stop = live.subscribe(() => told.push("a"));
    live.subscribe(() => told.push("b"));
    source.tell();
    stop();
    source.tell();
    live.close();
    live.close();
    source.tell();
    expect([told, faults.length, source.stopped()]).toEqual([["a", "b", "b"], 2, 1]);
  });

  it("createLiveCatalog() works with what a source says while it is asked, and with one that cannot be heard", () => {
    const loud: MountSource & { tell(): void } = listing(() => {
      loud.tell();
      return [{ name: "a" }];
    });
    const deaf: MountSource = {
      list: () => [{ name: "b" }],
      subscribe() {
        throw new Error("no");
      },
      invoke: () => 1,
    };
    const mounted = mount({ loud, deaf });
    mounted.live.subscribe(() => void mounted.live.current);
    loud.tell();
    expect(namesOf(mounted)).toEqual(["deaf_b", "loud_a", "own"]);
    expect(mounted.faults.length).toBe(1);
  });

  it("createLiveCatalog() finds at the next look what has changed while it was made", () => {
    const operations: object[] = [{ name: "good" }];
    const source = listing(() => [...operations]);
    const faults: string[] = [];
    const base = catalogOf({}, {});
    const report = ({ where }: Fault): void => {
      faults.push(where);
      operations.splice(1, 1, { name: "repaired" });
      source.tell();
    };
    const live = createLiveCatalog({ base, mounts: new Map([["hub", source]]), report });
    live.subscribe(() => void live.current);
    expect(live.current.tools.map(({ name }) => name)).toEqual(["hub_good"]);
    operations.push({ name: "bad", inputSchema: { type: "nonsense" } });
    source.tell();
    expect(live.current.tools.map(({ name }) => name)).toEqual(["hub_good", "hub_repaired"]);
    expect(faults).toEqual(['mount "hub"']);
  });

  it("createLiveCatalog() asks a source once more that changes while it is asked", () => {
    let operations = [{ name: "a" }];
    const source: MountSource & { tell(): void } = listing(() => {
      const before = operations;
      if (operations.length === 1) {
        operations = [...operations, { name: "b" }];
        source.tell();
      }
      return before;
    });
    expect(namesOf(mount({ hub: source }))).toEqual(["hub_a", "hub_b", "own"]);
  });

  it("createLiveCatalog() makes one catalog of ten thousand operations that are registered one by one", () => {
    const registry = operationRegistry();
    const { live } = mount({ hub: registry });
    const inputSchema = { type: "object", properties: { a: { type: "string" } } };
    let looks = 0;
    live.subscribe(() => void (looks += 1));
    const began = performance.now();
    for (let index = 0; index < 10_000; index++) registry.register({ name: `op${index}`, inputSchema }, () => index);
    expect(live.current.tools.length).toBe(10_001);
    expect(looks).toBe(10_000);
    // A bound on what hangs: a catalog a registration would take minutes.
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it("run() refuses as what does not exist when its operation was replaced or taken away on the way", () => {
    const registry = registryOf("a", "b");
    const { live } = mount({ hub: registry });
    const [a, b] = [live.current.toolOf("hub.a"), live.current.toolOf("hub.b")];
    registry.register({ name: "a", inputSchema: z.string() }, () => "other", { replace: true });
    registry.unregister("b");
    for (const entry of [a, b]) {
      expect(() => entry?.run(undefined, new CallContext({}))).toThrow(
        expect.objectContaining({ code: "OPERATION_NOT_FOUND" }),
      );
    }
  });

  it.each<[string, object, unknown]>([
    ["the same again", {}, { kind: "answer", text: '{"value":"a 1"}' }],
    [
      "another input",
      { inputSchema: z.object({ n: z.coerce.string() }) },
      { kind: "answer", text: '{"value":"a \\"1\\""}' },
    ],
    [
      "an input that the arguments do not fit",
      { inputSchema: z.object({ n: z.string() }) },
      { kind: "refused", code: "VALIDATION_ERROR", issues: [{ path: "n" }] },
    ],
    ["more rights", { scopes: ["admin"] }, { kind: "refused", code: "OPERATION_NOT_FOUND" }],
    ["that only tools may call it", { visibility: "internal" }, { kind: "refused", code: "OPERATION_NOT_FOUND" }],
    ["that it only reads", { type: "query" }, { kind: "refused", code: "OPERATION_NOT_FOUND" }],
    ["another name", { name: "b" }, { kind: "refused", code: "OPERATION_NOT_FOUND" }],
  ])("a call that is being checked is what its source says of it then, when that is %s", async (...row) => {
    const [, more, outcome] = row;
    let checks: () => void = () => {};
    const isBegun = new Promise<void>((begun) => (checks = begun));
    let finish: () => void = () => {};
    const gate = new Promise<void>((fits) => (finish = fits));
    const slow = z.object({ n: z.number() }).refine(async () => (checks(), gate.then(() => true)));
    let now: object = { name: "a", inputSchema: slow };
    const source: ReturnType<typeof listing> = {
      ...listing(() => [{ ...now }]),
      // As its schema made it.
      invoke: (name, input) => `${name} ${JSON.stringify((input as { readonly n: unknown }).n)}`,
    };
    const { live } = mount({ hub: source });
    const entry = live.current.toolOf("hub.a");
    const invoker = createInvoker({ report: () => {} });
    if (entry === undefined) throw new TypeError("it is listed");
    const answer = invoker.call(entry, { n: 1 }, new CallContext({}));
    await isBegun;
    now = { ...now, ...more };
    source.tell();
    finish();
    expect(await answer).toMatchObject(outcome as object);
    invoker.close();
  });

  it("run() finishes what is under way when its operation is taken away", async () => {
    const registry = operationRegistry();
    let finish: (answer: string) => void = () => {};
    registry.register({ name: "slow" }, () => new Promise((resolve) => (finish = resolve)));
    const { live } = mount({ hub: registry });
    const running = live.current.toolOf("hub.slow")?.run(undefined, new CallContext({}));
    registry.unregister("slow");
    expect(live.current.toolOf("hub.slow")).toBeUndefined();
    finish("done");
    expect(await running).toBe("done");
  });

  it("run() withholds details of a declared code that do not fit, and passes on every other refusal", async () => {
    const registry = operationRegistry();
    const details: unknown[] = [1, "secret"];
    registry.register({ name: "a", errorSchemas: { BUSY: { type: "integer" } } }, () => {
      throw new Refusal("BUSY", "it is busy", details.shift());
    });
    registry.register({ name: "b" }, () => {
      throw new Refusal("OTHER", "no", { any: true });
    });
    const { live, faults } = mount({ hub: registry });
    const fails = async (id: string): Promise<unknown> => {
      try {
        return await live.current.toolOf(id)?.run(undefined, new CallContext({}));
      } catch (cause) {
        return cause;
      }
    };
    expect(await fails("hub.a")).toMatchObject({ code: "BUSY", details: 1 });
    expect(await fails("hub.a")).toMatchObject({ code: "BUSY", details: undefined });
    expect(await fails("hub.b")).toMatchObject({ code: "OTHER", details: { any: true } });
    expect(faults.length).toBe(1);
  });

  it.each([
    ["a schema", z.object({ run: z.number() })],
    ["a schema that is asynchronous", z.object({ run: z.number() }).refine(() => Promise.resolve(true))],
  ])(
    "run() sends of the details of a declared code what its schema made of them when that is %s",
    async (_what, BUSY) => {
      const registry = operationRegistry();
      registry.register({ name: "a", errorSchemas: { BUSY } }, () => {
        throw new Refusal("BUSY", "it is busy", { run: 7, token: "secret" });
      });
      const { live } = mount({ hub: registry });
      const run = async (): Promise<unknown> => live.current.toolOf("hub.a")?.run(undefined, new CallContext({}));
      await expect(run()).rejects.toEqual(expect.objectContaining({ code: "BUSY", details: { run: 7 } }));
    },
  );

  it("a call within a call that finds nothing is a fault of the operation when that declares the code of it", async () => {
    const registry = operationRegistry();
    const errorSchemas = { OPERATION_NOT_FOUND: z.object({ run: z.number() }) };
    registry.register({ name: "a", canCall: ["*"], errorSchemas }, (_input, { call }) => call("hub.gone"));
    const mounted = mount({ hub: registry });
    const entry = mounted.live.current.toolOf("hub.a");
    if (entry === undefined) throw new Error("there is no operation");
    const invoker = createInvoker({ report: (fault) => void mounted.faults.push(fault), find: () => undefined });
    expect(await invoker.call(entry, {}, new CallContext({}))).toMatchObject({ kind: "refused", code: "INTERNAL" });
    expect(messagesOf(mounted)).toEqual([
      'Cannot call "hub.gone" from operation "hub.a": there is no tool of this id or name',
    ]);
    invoker.close();
  });

  it("run() gives a handler what it may take apart when it is called", async () => {
    const registry = operationRegistry();
    registry.register({ name: "a" }, async (input, { progress, log, call, caller, signal }) => {
      progress({ progress: 1 });
      log("info", "said");
      const code = await call("hub.b").catch((cause: unknown) => (cause instanceof Refusal ? cause.code : cause));
      return { input, code, anonymous: caller.isAnonymous, aborted: signal.aborted };
    });
    const { live } = mount({ hub: registry });
    const seen: unknown[] = [];
    const call = new CallContext({ sink: (report) => seen.push(report), log: (line) => seen.push(line) });
    expect(await live.current.toolOf("hub.a")?.run(undefined, call)).toEqual({
      ...{ input: undefined, code: "OPERATION_NOT_FOUND", anonymous: true, aborted: false },
    });
    expect(seen).toEqual([{ progress: 1 }, { level: "info", data: "said" }]);
  });
});
