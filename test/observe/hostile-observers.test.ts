import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import type { Observation, Observer, ObserverOption } from "../../src/index.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { kInspected } from "../../src/mcp/inspected-app.ts";
import { observeRequest } from "../../src/mcp/observed-request.ts";
import type { ResolvedView } from "../../src/mcp/resolved-view.ts";
import { ObservedChannel } from "../../src/observe/observed-channel.ts";
import { Observers } from "../../src/observe/observers.ts";
import { anonymous } from "../../src/surface/caller.ts";
import { createObservedApp } from "./observed-app.ts";

const networkTransports = transports.filter(({ name }) => !name.startsWith("the test client"));

interface Answered {
  readonly texts: readonly string[];
  readonly faults: readonly string[];
  readonly records: readonly Observation[];
}

/** Calls tools with an observer, and returns the answers and faults. */
async function callWith(
  transport: (typeof transports)[number],
  observe: ObserverOption,
  names: readonly string[] = ["inner", "outer"],
): Promise<Answered> {
  const { app, records, faults } = createObservedApp();
  app.observe(observe);
  const open = await transport.open(app, undefined);
  const texts: string[] = [];
  for (const name of names) {
    texts.push((await open.ask("tools/call", { name, arguments: name === "inner" ? { deep: 2 } : {} })).text);
  }
  await open.close();
  return { texts, faults: faults.map(String), records };
}

const never = (): Promise<void> => new Promise(() => {});
const quiet = (): void => {};

const hostile: Readonly<Record<string, () => ObserverOption>> = {
  "throws in record()": () => () => {
    throw new Error("observer");
  },
  "rejects in record()": () => async () => {
    throw new Error("observer");
  },
  "throws in around() before it runs the handler": () => ({
    record: quiet,
    around() {
      throw new Error("observer");
    },
  }),
  "rejects in around()": () => ({
    record: quiet,
    async around(_start, run) {
      await run();
      throw new Error("observer");
    },
  }),
  "throws in around() after it ran the handler": () => ({
    record: quiet,
    around(_start, run) {
      run();
      throw new Error("observer");
    },
  }),
};

const harmless: Readonly<Record<string, () => ObserverOption>> = {
  "never settles in record()": () => never,
  "runs nothing in around()": () => ({ record: quiet, around: quiet }),
  "runs the handler twice in around()": () => ({
    record: quiet,
    around(_start, run) {
      run();
      run();
    },
  }),
  "changes records": () => (record) => {
    for (const key of Object.keys(record)) Reflect.set(record, key, "changed");
    if ("caller" in record) Reflect.set(Object(record.caller), "id", "changed");
  },
};

describe.each(networkTransports)("over $name, an observer", (transport) => {
  it.each(Object.keys({ ...hostile, ...harmless }))("changes no answer and no record when it %s", async (what) => {
    const plain = await callWith(transport, quiet);
    const observed = await callWith(transport, { ...hostile, ...harmless }[what]?.() ?? quiet);
    const strip = (records: readonly Observation[]): readonly unknown[] =>
      records.map((record) => [record.type, Reflect.get(record, "outcome"), Reflect.get(record, "caller")]);
    expect(observed.texts).toEqual(plain.texts);
    expect(strip(observed.records)).toEqual(strip(plain.records));
  });

  it.each(Object.keys(hostile))("is reported once when it %s each time", async (what) => {
    expect((await callWith(transport, hostile[what]?.() ?? quiet)).faults).toEqual(["Error: observer"]);
  });

  it("runs handlers within its context, nested ones within that of their call, when it has around()", async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const observer: Observer = {
      record: quiet,
      around(start, run) {
        const outer = context.getStore() ?? "";
        context.run(`${outer}/${start.operation?.id ?? ""}`, () => {
          seen.push(context.getStore());
          run();
        });
      },
    };
    await callWith(transport, observer, ["outer"]);
    expect(seen.slice(-2)).toEqual(["/outer", "/outer/inner"]);
  });

  it.each([
    [
      "throws",
      (): void => {
        throw new Error("full");
      },
    ],
    [
      "rejects",
      async (): Promise<void> => {
        throw new Error("full");
      },
    ],
  ])("keeps handlers from running when before() %s", async (_what, refuse) => {
    const observer: Observer = {
      record: quiet,
      before: (start) => (start.operation?.mutates === true ? refuse() : undefined),
    };
    const { texts, records, faults } = await callWith(transport, observer, ["inner", "no", "outer"]);
    expect(texts[0]).toContain('"deep":2');
    for (const text of texts.slice(1)) expect(text).toContain("cannot be recorded");
    const ends = records.filter((record) => record.type === "request-end" && record.method === "tools/call");
    expect(ends.map((end) => [Reflect.get(end, "outcome"), Reflect.get(end, "refusedAt")])).toEqual([
      ["ok", undefined],
      ["refused", "record"],
      ["refused", "record"],
    ]);
    expect(faults).toEqual(["Error: full"]);
  });

  it("refuses a nested call alone when before() admits only its parent", async () => {
    const observer: Observer = {
      record: quiet,
      async before(start) {
        if (start.type === "call-start") throw new Error("full");
      },
    };
    const { texts, records } = await callWith(transport, observer, ["outer"]);
    expect(texts[0]).toContain("UNAVAILABLE");
    expect(records.filter(({ type }) => type === "call-end")).toMatchObject([
      { outcome: "refused", refusedAt: "record", operation: { id: "inner" } },
    ]);
  });
});

describe("an observer that is removed", () => {
  it("hears no end of the request during which it was removed, and the others hear it once", async () => {
    const { app, records } = createObservedApp();
    const seen: string[] = [];
    const stop = app.observe((record) => {
      seen.push(record.type);
      if (record.type === "call-start") stop();
    });
    const [transport] = networkTransports;
    const open = await transport?.open(app, undefined);
    await open?.ask("tools/call", { name: "outer" });
    await open?.close();
    expect(seen.slice(-2)).toEqual(["request-start", "call-start"]);
    expect(records.filter(({ type }) => type === "call-end")).toHaveLength(1);
  });
});

describe("ObservedWork", () => {
  it("has one end when it ends twice", () => {
    const records: Observation[] = [];
    const observers = new Observers();
    observers.add((record) => void records.push(record));
    const frame = { kind: "request", id: 1, method: "ping", params: undefined } as const;
    // A ping names no operation, so its view is not read.
    const request = { frame, method: {}, era: "legacy", version: undefined, view: {} as ResolvedView } as const;
    const channel = new ObservedChannel(observers, "test");
    const work = observeRequest(observers, { ...request, caller: anonymous, call: undefined }, channel);
    work?.answered({ kind: "result", body: "", meta: "", cacheable: false, introduces: false });
    work?.dropped("cancelled");
    expect(records).toMatchObject([{ type: "request-start" }, { type: "request-end", outcome: "ok" }]);
  });
});

describe("a reader inside the package", () => {
  const broken = (): never => {
    throw new Error("reader");
  };

  it.each(networkTransports)("that throws changes no answer over $name, and is reported once", async (transport) => {
    const { app, faults, records } = createObservedApp();
    const read: Observation[] = [];
    app[kInspected]?.parts.observers.add((record) => void read.push(record), broken);
    const opened = await transport.open(app, undefined);
    const { text } = await opened.ask("tools/call", { name: "inner", arguments: { deep: 2 } });
    await opened.close();
    expect(text).toContain('"deep":2');
    expect(faults.map(String)).toEqual(["Error: reader"]);
    expect(records.map(({ type }) => type)).toContain("request-end");
    // It has read the request itself.
    expect(read.map(({ type }) => type)).not.toContain("request-start");
    expect(read.map(({ type }) => type)).not.toContain("request-end");
  });
});

describe("app.observe()", () => {
  it.each([[undefined], [null], [{}], ["log"], [{ record: 1 }]])("refuses %s, which is no observer", (observer) => {
    const { app } = createObservedApp();
    expect(() => app.observe(observer as never)).toThrow(
      "Cannot observe an app: the observer must be a function, or an object with the method record()",
    );
  });
});
