import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { kDefinition } from "../../src/builder/app-definition.ts";
import { mcp } from "../../src/builder/mcp.ts";
import type { MountSource } from "../../src/catalog/mounts/mount.ts";
import { Refusal } from "../../src/errors.ts";
import { cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { thrownBy } from "../catalog/support.ts";
import { deadLink } from "./support.ts";

const surface = defineSurface("owning", { state: cell({ schema: z.number() }) });
const faults: Fault[] = [];
const open: { close(): Promise<void> }[] = [];

const unlinked = mcp(surface, { onFault: (fault) => void faults.push(fault) });
const app = unlinked.bridge(deadLink());

function tested<TClient extends { close(): Promise<void> }>(client: TClient): TClient {
  open.push(client);
  return client;
}

afterEach(async () => {
  faults.length = 0;
  for (const one of open.splice(0)) await one.close();
});

/** Counts what is made and what is put away again, and hands out numbers. */
function counting() {
  const told: string[] = [];
  let made = 0;
  const factory = () => {
    made += 1;
    const number = made;
    told.push(`made ${number}`);
    return {
      number,
      async [Symbol.asyncDispose]() {
        await Promise.resolve();
        told.push(`ended ${number}`);
      },
    };
  };
  return { told, factory };
}

function thrown(message: string): never {
  throw new Error(message);
}

/** A stage as one who casts sees it. */
interface AnyStage {
  context(factory: unknown): AnyStage;
  tools(more: object): AnyStage;
  prompts(more: object): AnyStage;
  resources(more: object): AnyStage;
}
// Every stage is one class: what its type hides is there.
const anyStage = (stage: unknown): AnyStage => stage as AnyStage;

describe("context()", () => {
  it.each(["waited for", "left alone", "slower than its call"])(
    "a lazy value is disposed of when it is %s",
    async (how) => {
      const { told, factory } = counting();
      let letGo = (): void => {};
      const gate = how === "slower than its call" ? new Promise<void>((resolve) => (letGo = resolve)) : undefined;
      const later = async () => {
        await gate;
        return factory();
      };
      const client = tested(
        createTestClient(
          app.context(later).tools({
            use: {
              handler: async (_args, { context }) => (how === "waited for" ? (await context).number : typeof context),
            },
          }),
        ),
      );
      expect(await client.tools.use()).toMatchObject({ structured: { value: how === "waited for" ? 1 : "object" } });
      letGo();
      await expect.poll(() => told).toEqual(["made 1", "ended 1"]);
      expect(faults).toEqual([]);
    },
  );

  it("a lazy value that fails to dispose is reported, and one that is never created has no effect", async () => {
    const torn = async () => ({ [Symbol.dispose]: () => thrown("torn") });
    const never = async () => thrown("never");
    for (const factory of [torn, never]) {
      const tools = {
        use: { handler: (_args: unknown, { context }: { readonly context: unknown }) => typeof context },
      };
      const client = tested(createTestClient(app.context(factory).tools(tools)));
      expect(await client.tools.use()).toMatchObject({ structured: { value: "object" } });
    }
    await expect.poll(() => faults.map(({ cause }) => String(cause))).toEqual(["Error: torn"]);
  });

  it("each call has its own value, created at first use and disposed of before its answer", async () => {
    const { told, factory } = counting();
    const client = tested(
      createTestClient(
        app.context(factory).tools({
          use: { handler: async (_args, own) => [own.context.number, (await Promise.resolve(own)).context.number] },
          leave: { handler: () => 1 },
        }),
      ),
    );
    expect(await client.tools.leave()).toMatchObject({ structured: { value: 1 } });
    expect(told).toEqual([]);
    expect(await client.tools.use()).toMatchObject({ structured: { value: [1, 1] } });
    expect(told).toEqual(["made 1", "ended 1"]);
    const both = await Promise.all([client.tools.use(), client.tools.use()]);
    expect(both).toMatchObject([{ structured: { value: [2, 2] } }, { structured: { value: [3, 3] } }]);
    expect(told.filter((word) => word.startsWith("ended")).toSorted()).toEqual(["ended 1", "ended 2", "ended 3"]);
  });

  it("prompts, resources, completers and mounted operations have it too, each put away with its call", async () => {
    const { told, factory } = counting();
    const source: MountSource = {
      list: () => [{ name: "look", type: "query" }],
      subscribe: () => () => {},
      invoke: (_name, _input, { context }) => context,
    };
    const client = tested(
      createTestClient(
        app
          .context(factory)
          .prompts({
            ask: {
              input: z.object({ word: z.string() }),
              complete: { word: (_begun, { context }) => [`c${context.number}`] },
              handler: (_args, { context }) => `p${context.number}`,
            },
          })
          .resources({ page: { read: (_none, { context }) => context.number } })
          .mount("hub", source),
      ),
    );
    expect(await client.complete({ prompt: "ask", argument: "word" })).toMatchObject({ values: ["c1"] });
    expect(JSON.stringify(await client.request("prompts/get", { name: "ask", arguments: { word: "a" } }))).toContain(
      "p2",
    );
    expect(await client.read("page")).toBe(3);
    expect(await client.tools["hub_look"]?.()).toMatchObject({ structured: { number: 4 } });
    expect(told.filter((word) => word.startsWith("ended"))).toEqual(["ended 1", "ended 2", "ended 3", "ended 4"]);
  });

  it("the change notifier of a resource keeps its value until the last watcher leaves", async () => {
    const { told, factory } = counting();
    const client = tested(
      createTestClient(
        app.context(factory).resources({
          page: {
            read: () => 1,
            async *watch(_none, { context, signal }) {
              yield context.number;
              await new Promise((resolve) => signal.addEventListener("abort", resolve));
            },
          },
        }),
      ),
    );
    const stop = await client.watch("page", () => {});
    await expect.poll(() => told).toEqual(["made 1"]);
    stop();
    await client.close();
    await expect.poll(() => told).toEqual(["made 1", "ended 1"]);
  });

  it("has topics, values and jobs in memory by default, of which nothing outlives the call", async () => {
    const client = tested(
      createTestClient(
        app.tools({
          count: {
            handler(_args, { context: { kv, jobs } }) {
              const before = kv.get("n") ?? 0;
              kv.set("n", 1);
              return [before, kv.get("n"), jobs.enqueue("a", 1), jobs.waiting];
            },
          },
        }),
      ),
    );
    for (let round = 0; round < 2; round += 1) {
      expect(await client.tools.count()).toMatchObject({ structured: { value: [0, 1, true, 1] } });
    }
  });

  it("receives the caller and the signal, and nothing else of the call", async () => {
    let given: object = {};
    const client = tested(
      createTestClient(
        app
          .context((call) => {
            given = call;
            return call.caller.id;
          })
          .tools({ who: { handler: (_args, { context }) => context ?? "nobody" } }),
        { caller: { isAnonymous: false, id: "ada", scopes: ["owning:write"] } },
      ),
    );
    expect(await client.tools.who()).toMatchObject({ structured: { value: "ada" } });
    expect(Object.keys(given).toSorted()).toEqual(["caller", "signal"]);
  });

  it("may create a promise, whose rejection ends nothing while no code reads it", async () => {
    const client = tested(
      createTestClient(
        app
          .context(() => Promise.reject(new Error("secret")))
          .tools({ touch: { handler: (_args, { context }) => void context } }),
      ),
    );
    expect((await client.tools.touch()).isError).not.toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(faults).toEqual([]);
  });

  it("a factory that throws is masked as its handler would be, and its refusal is passed on", async () => {
    const client = tested(
      createTestClient(
        app
          .context(({ caller }) => {
            if (caller.id === "eve") throw new Refusal("NOT_YOU", "not for you");
            throw new Error("secret of the factory");
          })
          .tools({ use: { handler: (_args, { context }) => context } }),
      ),
    );
    const masked = JSON.stringify(await client.tools.use());
    expect(masked).toContain("INTERNAL");
    expect(masked).not.toContain("secret");
    expect(faults.map(({ cause }) => String(cause))).toEqual(["Error: secret of the factory"]);
    const eve = { caller: { isAnonymous: false, id: "eve", scopes: ["owning:write"] } };
    expect(JSON.stringify(await client.tools.use(undefined, eve))).toContain("NOT_YOU");
  });

  it("a failing disposer is reported, and changes no answer", async () => {
    const client = tested(
      createTestClient(
        app
          .context(() => ({
            [Symbol.dispose]() {
              throw new Error("will not go");
            },
          }))
          .tools({
            use: { handler: (_args, { context }) => typeof context },
            fail: {
              handler(_args, { context }) {
                throw new Refusal("NO", `no ${typeof context}`);
              },
            },
          }),
      ),
    );
    expect(await client.tools.use()).toMatchObject({ structured: { value: "object" } });
    expect(JSON.stringify(await client.tools.fail())).toContain("NO");
    expect(faults.map(({ cause }) => String(cause))).toEqual(["Error: will not go", "Error: will not go"]);
  });

  it("a handler that has ended cannot create the value, so that none stays undisposed", async () => {
    const { told, factory } = counting();
    let kept: { readonly context: unknown } | undefined;
    const client = tested(
      createTestClient(
        app.context(factory).tools({
          keep: {
            handler(_args, own) {
              kept = own;
            },
          },
        }),
      ),
    );
    await client.tools.keep();
    expect(thrownBy(() => kept?.context)).toMatchObject({ code: "CLOSED" });
    expect(told).toEqual([]);
  });

  it("is set in either stage, and once", () => {
    const factory = () => 1;
    expect(unlinked.context(factory).bridge(deadLink())[kDefinition].context).toBe(factory);
    expect(app.context(factory)[kDefinition].context).toBe(factory);
    expect(app[kDefinition].context).toBeUndefined();
  });

  it.each<[string, () => unknown, string]>([
    ["what is no function", () => anyStage(app).context({}), "its argument must be a function"],
    ["a second one", () => anyStage(app.context(() => 1)).context(() => 1), "it was called already"],
    [
      "one after tools",
      () =>
        anyStage(app)
          .tools({ a: { handler: () => 1 } })
          .context(() => 1),
      "before tools()",
    ],
    [
      "one after prompts",
      () =>
        anyStage(app)
          .prompts({ a: { handler: () => "" } })
          .context(() => 1),
      "before tools()",
    ],
    [
      "one after resources",
      () =>
        anyStage(app)
          .resources({ a: { read: () => 1 } })
          .context(() => 1),
      "before tools()",
    ],
  ])("context() refuses %s", (_what, attempt, words) => {
    expect(thrownBy(attempt)).toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining(words) });
  });
});
