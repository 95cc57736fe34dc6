import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcpInvoker } from "../../../src/builder/mcp-invoker.ts";
import { invoker, invokers } from "../../../src/from/invoker/invoker.ts";
import type { ToolInvoker, ToolSpec } from "../../../src/from/invoker/tool-invoker.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";

const closing: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const each of closing.splice(0).toReversed()) await each.close();
});

function clientOf(invokerOf: ToolInvoker, faults: Fault[] = []) {
  const client = createTestClient(mcpInvoker(invokerOf, { name: "x", onFault: (fault) => void faults.push(fault) }));
  closing.push(client);
  return client;
}

/** An invoker whose list() is what a test says by now. It answers what it was given. */
function listing(list: () => unknown): ToolInvoker & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    // As invokers do that cast.
    list: list as ToolInvoker["list"],
    invoke: (name, args) => {
      calls.push(name);
      return {
        given: args["at"] instanceof Date ? args["at"].toISOString() : typeof args["at"],
        note: args["note"] ?? "none",
      };
    },
  };
}

/** One that says when it has changed. */
function telling(list: (tell: () => void) => unknown): ToolInvoker {
  const told = new Set<() => void>();
  const tell = (): void => {
    for (const changed of told) changed();
  };
  return {
    ...listing(() => list(tell)),
    subscribe: (changed) => {
      told.add(changed);
      return () => void told.delete(changed);
    },
  };
}

function messagesOf(faults: readonly Fault[]): string {
  return faults.map(({ cause }) => String(cause)).join();
}

/** Lets everything go on that waits for no timer. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("the list of an invoker without change notifications", () => {
  it("is awaited when it becomes asynchronous later, and its rejection is reported", async () => {
    let isLater = false;
    const faults: Fault[] = [];
    const bench = listing(() => (isLater ? Promise.reject(new TypeError("it is down")) : [{ name: "a" }]));
    const client = clientOf(bench, faults);
    expect(await client.toolNames()).toEqual(["a"]);
    isLater = true;
    expect(await client.tools["a"]?.()).toMatchObject({ isError: false });
    await expect.poll(() => messagesOf(faults)).toBe("TypeError: it is down");
    expect(await client.tools["a"]?.()).toMatchObject({ isError: false });
    expect(faults.length).toBe(1);
  });

  it.each<[string, () => (isNew: boolean) => ToolSpec]>([
    ["anew", () => (isNew) => ({ name: "a", annotations: { readOnlyHint: !isNew } })],
    [
      "by the same object",
      () => {
        const spec = { name: "a", annotations: { readOnlyHint: true } };
        return (isNew) => Object.assign(spec, { annotations: { readOnlyHint: !isNew } });
      },
    ],
  ])("does not let a read-only caller change anything after a hint changed, announced by %s", async (_how, make) => {
    let isNew = false;
    const spec = make();
    const bench = listing(() => [spec(isNew)]);
    const client = clientOf(bench);
    const reader = { caller: { id: "reader", isAnonymous: false, scopes: ["x:read"] } };
    await client.request("tools/call", { name: "a" }, reader);
    expect(bench.calls).toEqual(["a"]);
    isNew = true;
    const answer = await client.request("tools/call", { name: "a" }, reader).catch(String);
    expect(JSON.stringify(answer)).toMatch(/OPERATION_NOT_FOUND|no such tool/);
    await expect(client.request("tools/call", { name: "a" }, reader)).rejects.toThrow("x:write");
    expect(bench.calls).toEqual(["a"]);
  });

  it("validates answers by the current output schema", async () => {
    let isNew = false;
    const bench = listing(() => [
      { name: "a", outputSchema: z.object({ given: z.string(), ...(isNew ? { note: z.string() } : {}) }) },
    ]);
    const client = clientOf(bench);
    expect(await client.tools["a"]?.()).toMatchObject({ structured: { given: "undefined" } });
    isNew = true;
    expect(await client.tools["a"]?.()).toMatchObject({ structured: { note: "none" } });
  });

  it("validates the original arguments when a transforming schema has changed", async () => {
    let isNew = false;
    const at = () => z.iso.date().transform((text) => new Date(text));
    const bench = listing(() => [
      { name: "a", inputSchema: isNew ? z.object({ at: at(), note: z.string().optional() }) : z.object({ at: at() }) },
    ]);
    const client = clientOf(bench);
    const given = { at: "2026-01-01" };
    // Made anew for each list, which is no change.
    expect(await client.tools["a"]?.(given)).toMatchObject({ structured: { given: new Date(given.at).toISOString() } });
    isNew = true;
    expect(await client.tools["a"]?.({ ...given, note: "hi" })).toMatchObject({ structured: { note: "hi" } });
  });

  it("is read once for concurrent calls, and only the called tools of it", () => {
    const read: string[] = [];
    let lists = 0;
    const spec = (name: string): object => ({
      name,
      get description() {
        read.push(name);
        return "";
      },
    });
    const bench = listing(() => {
      lists += 1;
      return [spec("a"), spec("b"), spec("c")];
    });
    const source = invoker(bench);
    [lists, read.length] = [0, 0];
    source.look?.("b");
    source.look?.("b");
    expect([lists, new Set(read)]).toEqual([1, new Set(["b"])]);
  });

  it("is read again when it failed while the app was created", async () => {
    let isUp = false;
    const source = invokers(
      [
        listing(() => {
          if (!isUp) throw new TypeError("not yet");
          return [{ name: "a" }];
        }),
      ],
      { onFault: () => {} },
    );
    expect(source.list()).toEqual([]);
    isUp = true;
    expect(source.list().map(({ name }) => name)).toEqual(["a"]);
  });
});

describe("the list of an invoker with change notifications", () => {
  it.each<[string, (tell: () => void) => unknown]>([
    [
      "before it answers later",
      (tell) => {
        tell();
        return Promise.resolve([{ name: "a" }]);
      },
    ],
    [
      "while it is waited for",
      async (tell) => {
        await Promise.resolve();
        tell();
        return [{ name: "a" }];
      },
    ],
  ])("is read once more and then after a delay when each read announces a change, %s", async (_when, list) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let lists = 0;
    const source = invoker(
      telling((tell) => {
        lists += 1;
        return list(tell);
      }),
    );
    const stop = source.subscribe(() => {});
    source.refresh();
    await turns();
    const before = lists;
    expect(before).toBeLessThanOrEqual(3);
    expect(source.list().map(({ name }) => name)).toEqual(["a"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lists).toBeGreaterThan(before);
    expect(lists).toBeLessThanOrEqual(before + 7);
    stop();
    const left = lists;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(lists).toBe(left);
  });

  it("is complete when it changes again during a second read", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const waiting: ((listed: unknown) => void)[] = [];
    let tellAll = (): void => {};
    const source = invoker(
      telling((tell) => {
        tellAll = tell;
        return new Promise((resolve) => waiting.push(resolve));
      }),
    );
    source.subscribe(() => {});
    for (const name of ["a", "b", "c"]) {
      tellAll();
      waiting.at(-1)?.([{ name }]);
      await turns();
    }
    vi.advanceTimersByTime(60_000);
    waiting.at(-1)?.([{ name: "d" }]);
    await turns();
    expect(source.list().map(({ name }) => name)).toEqual(["d"]);
  });

  it("is read again after a delay when it has changed and does not answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const waiting: ((listed: unknown) => void)[] = [];
    const source = invoker(listing(() => new Promise((resolve) => waiting.push(resolve))));
    source.refresh();
    expect(waiting.length).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(waiting.length).toBe(2);
    waiting[1]?.([{ name: "new" }]);
    await turns();
    // What was asked for before is older, whenever it comes.
    waiting[0]?.([{ name: "old" }]);
    await turns();
    expect(source.list().map(({ name }) => name)).toEqual(["new"]);
  });

  it("is used when its change notification cannot be written as JSON", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["itself"] = cyclic;
    let [description, tellAll] = ["old", (): void => {}];
    const client = clientOf(
      telling((tell) => {
        tellAll = tell;
        return [{ name: "a", description, registry: cyclic }];
      }),
    );
    expect(await client.listTools()).toMatchObject([{ description: "old" }]);
    description = "new";
    tellAll();
    expect(await client.listTools()).toMatchObject([{ description: "new" }]);
  });

  it("is taken when a JSON Schema was changed where it is", async () => {
    const inputSchema = { type: "object", properties: { at: { type: "number" } }, required: ["at"] };
    let tellAll = (): void => {};
    const client = clientOf(
      telling((tell) => {
        tellAll = tell;
        return [{ name: "a", inputSchema }];
      }),
    );
    expect(await client.tools["a"]?.({ at: 1 })).toMatchObject({ isError: false });
    inputSchema.properties.at.type = "string";
    expect(await client.tools["a"]?.({ at: 1 })).toMatchObject({ isError: false });
    tellAll();
    expect(await client.tools["a"]?.({ at: 1 })).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("bad input: a tool that cannot be read", () => {
  const fail = (): never => {
    throw new TypeError("no");
  };
  it.each<[string, unknown]>([
    ["its name throws", Object.defineProperty({}, "name", { get: fail })],
    ["its title throws", { name: "b", annotations: Object.defineProperty({}, "title", { get: fail }) }],
    [
      "its schema is a circle",
      {
        name: "b",
        inputSchema: Object.assign(Object.create(null), {
          get allOf() {
            return [this];
          },
        }),
      },
    ],
    ["it is a list of tools", [{ name: "b" }]],
    [
      "its schema has no JSON form",
      { name: "b", inputSchema: { "~standard": { version: 1, vendor: "none", validate: () => ({ value: 1 }) } } },
    ],
  ])("is left out and reported once, and the others work, when %s", async (_what, odd) => {
    const faults: Fault[] = [];
    let tellAll = (): void => {};
    const client = clientOf(
      telling((tell) => {
        tellAll = tell;
        return [{ name: "a" }, odd, { name: "c" }];
      }),
      faults,
    );
    expect(await client.toolNames()).toEqual(["a", "c"]);
    tellAll();
    expect(await client.toolNames()).toEqual(["a", "c"]);
    expect(await client.tools["c"]?.()).toMatchObject({ isError: false });
    expect(faults.length).toBe(1);
  });
});
