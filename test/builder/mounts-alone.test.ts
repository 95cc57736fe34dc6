import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { appOfMount } from "../../src/builder/app-of-mount.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { MountedOperation, MountSource } from "../../src/catalog/mounts/mount.ts";
import { operationRegistry, type OperationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import type { Fault } from "../../src/surface/fault.ts";
import type { JsonValue } from "../../src/schema/json.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { hostileSchemas } from "../attack/foreign-operations.ts";
import { expectRefusal } from "../tags/support.ts";

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
});

function hero(): OperationRegistry {
  return operationRegistry([
    [{ name: "heal", type: "query" }, () => "healed"],
    [{ name: "weapon.swing", inputSchema: z.object({ at: z.string() }) }, ({ at }: { at: string }) => ({ hit: at })],
  ]);
}

/** A client of an app, closed behind the test. */
function opened<TClient extends { close(): Promise<void> }>(client: TClient): TClient {
  closing.push(client);
  return client;
}

/** Milliseconds that the event loop may be busy with one value: generous, for loaded machines. */
const patienceMs = 20_000;

/** Runs a job and returns the milliseconds until a timer of 50 ms fired beside it. */
async function timerBeside(job: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  const fired = sleep(50).then(() => performance.now() - start);
  await job();
  return fired;
}

/** Reads `tools/list` page by page. Returns the length of each page and the names of all tools. */
async function readPages(client: ReturnType<typeof createTestClient>): Promise<[lengths: number[], names: string[]]> {
  const [lengths, names]: [number[], string[]] = [[], []];
  for (let cursor: JsonValue | undefined; names.length < 1000;) {
    const page = await client.request("tools/list", cursor === undefined ? {} : { cursor });
    lengths.push(JSON.stringify(page).length);
    names.push(...(JSON.stringify(page["tools"]).match(/(?<="name":")[^"]+/g) ?? []));
    cursor = page["nextCursor"];
    if (cursor === undefined) break;
  }
  return [lengths, names];
}

const overlapping = { type: "object", properties: { v: { type: "string", pattern: `^(?:${"x|".repeat(400)}x)*$` } } };
/** A pattern that takes hundreds of steps a character on a linear engine. */
const manySteps: MountedOperation = { name: "many-steps", inputSchema: overlapping };
/** The same for the answer, which is "ran" where no length is given. */
const manyStepsOut: MountedOperation = { name: "many-steps-out", outputSchema: overlapping };

describe("an app of a source whose schemas are hostile", () => {
  function open(): {
    readonly client: ReturnType<typeof createTestClient>;
    readonly faults: readonly Fault[];
    readonly causes: () => string[];
  } {
    const faults: Fault[] = [];
    const wide = Array.from({ length: 12 }, (_none, at) => ({
      name: `wide-${at}`,
      inputSchema: { type: "object", properties: { a: { type: "string", description: "x".repeat(200_000) } } },
    }));
    const hostile = hostileSchemas.map(({ name, inputSchema }) => ({ name, inputSchema }));
    const operations: readonly MountedOperation[] = [...hostile, manySteps, manyStepsOut, ...wide, { name: "honest" }];
    const invoke: MountSource["invoke"] = (name) => (name === manyStepsOut.name ? { v: "x".repeat(200_000) } : "ran");
    const source: MountSource = { list: () => operations, subscribe: () => () => {}, invoke };
    const app = appOfMount("hub", source, { onFault: (fault) => void faults.push(fault) });
    return {
      client: opened(createTestClient(app)),
      faults,
      causes: () => faults.map(({ cause, where }) => `${where}: ${String(cause)}`),
    };
  }

  it.each(hostileSchemas.filter(({ name }) => /quantifiers|alternatives|blanks|branching/.test(name)))(
    "refuses the value for $name and stays responsive",
    async ({ name, args }) => {
      const { client } = open();
      await client.toolNames();
      const call = (): Promise<unknown> => client.request("tools/call", { name, arguments: { ...args } });
      let answer: unknown;
      expect(await timerBeside(async () => (answer = await call()))).toBeLessThan(patienceMs);
      expect(answer).toMatchObject({ isError: true });
      expect(JSON.stringify(answer)).toContain("VALIDATION_ERROR");
      expect((await client.tools["honest"]?.())?.text).toContain("ran");
    },
  );

  it.each([
    [manySteps.name, /VALIDATION_ERROR.*v: too long to check against its pattern/s, []],
    [manyStepsOut.name, /INVALID_OUTPUT.*did not match its own schema/s, ["v: too long to check against its pattern"]],
  ])("refuses a value that takes too many steps for %s and stays responsive", async (...[name, words, logged]) => {
    const { client, faults } = open();
    await client.toolNames();
    const args = name === manySteps.name ? { v: "x".repeat(200_000) } : {};
    const call = (): Promise<unknown> => client.request("tools/call", { name, arguments: args });
    let answer: unknown;
    expect(await timerBeside(async () => (answer = await call()))).toBeLessThan(patienceMs);
    expect(answer).toMatchObject({ isError: true });
    expect(JSON.stringify(answer)).toMatch(words);
    const issues = faults.flatMap(({ where, cause }) =>
      where.includes(name) && cause instanceof SurfaceError ? cause.issues : [],
    );
    expect(issues.map(({ path, message }) => `${path}: ${message}`)).toEqual(logged);
    expect((await client.tools["honest"]?.())?.text).toContain("ran");
  });

  it("leaves out an operation that is too large with its references inlined, by name, and cuts pages by bytes", async () => {
    const { client, causes } = open();
    const [lengths, names] = await readPages(client);
    expect(names).toEqual(expect.arrayContaining(["honest", "wide-0", "wide-11", "branching", "doubling"]));
    expect(names).not.toContain("wide-references");
    expect(causes()).toEqual([
      expect.stringMatching(/operation "wide-references".*more than 524288 characters.*it is left out/),
    ]);
    expect(lengths.length).toBeGreaterThan(1);
    for (const length of lengths) expect(length).toBeLessThan(1_300_000);
  });
});

describe("an app of one source", () => {
  it("lists and runs the operations of its source under their own names", async () => {
    const client = opened(createTestClient(appOfMount("hero", hero())));
    expect(await client.toolNames()).toEqual(["heal", "weapon_swing"]);
    const answer = await client.tools["weapon_swing"]?.({ at: "orc" });
    expect(answer).toMatchObject({ isError: false, structured: { hit: "orc" } });
  });

  it("finds an operation when it is registered later", async () => {
    const source = hero();
    const client = opened(createTestClient(appOfMount("hero", source)));
    await client.toolNames();
    source.register({ name: "flee" }, () => 1);
    expect(await client.toolNames()).toEqual(["flee", "heal", "weapon_swing"]);
  });

  it("prefers a hand-written tool of the same name, and reports both", async () => {
    const faults: Fault[] = [];
    const app = appOfMount("hero", hero(), { onFault: (fault) => void faults.push(fault) })
      .tools({ heal: { handler: () => "mine" }, rest: { handler: () => 1 } })
      .prompts({ tell: { handler: () => "a tale" } });
    const client = opened(createTestClient(app));
    expect(await client.toolNames()).toEqual(["heal", "rest", "weapon_swing"]);
    expect((await client.tools["heal"]?.())?.text).toContain("mine");
    expect(faults.map(({ cause }) => String(cause))).toEqual([
      'SurfaceError: Cannot name operation "heal": its wire name "heal" is taken by tool "heal"; it is left out',
    ]);
  });

  it("narrows mounted operations by the patterns of views", () => {
    const app = appOfMount("hero", hero()).views({ calm: { allow: ["heal"] } });
    expect(app.replay({ surface: "calm" }).visible_tools).toEqual(["heal"]);
    expect(app.replay().visible_tools).toEqual(["heal", "weapon_swing"]);
  });

  it("takes any name of a server, when scopes and URIs could not hold it", () => {
    const runtime = (name: string) => {
      const opening = appOfMount(name, hero()).open();
      closing.push(opening);
      return { name: opening.info.name, read: opening.scopes?.read };
    };
    expect(runtime("@my/hero 2")).toEqual({ name: "@my/hero 2", read: "my-hero-2:read" });
    expect(runtime("7")).toEqual({ name: "7", read: "app:read" });
    expect(runtime("x".repeat(100)).name).toBe("x".repeat(100));
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "list(), subscribe() and invoke()"],
    [
      "one whose watch is no method",
      { list: () => [], subscribe: () => () => {}, invoke: () => 1, watch: 1 },
      "a method watch()",
    ],
  ])("is refused when its source is %s", (_what, source, problem) => {
    // As callers who cast do.
    expectRefusal(() => appOfMount("hero", source as MountSource), "INVALID_OPTION", problem);
  });

  it("is refused when it has resources that cannot be read", () => {
    const source: MountSource = { list: () => [], subscribe: () => () => {}, invoke: () => 1, resources: () => [] };
    expectRefusal(() => appOfMount("hero", source), "INVALID_OPTION", "a method read()");
    expectRefusal(() => appOfMount("", source), "INVALID_OPTION", "its name must be a text");
  });
});
