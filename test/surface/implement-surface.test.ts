import { describe, expect, it } from "vitest";
import * as z from "zod";
import { inProcess } from "../../src/links/in-process.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface, kChannel } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { openLive, settle, failure } from "./support.ts";
import { operationsOf } from "./uses-of.ts";

const all = defineSurface("all", {
  cell: cell({ schema: z.number() }),
  collection: collection({ key: z.string(), schema: z.number() }),
  stream: stream({ output: z.number() }),
  event: event({ output: z.number() }),
  procedure: procedure({}),
});

const handlers = {
  cell: cellSource(1),
  collection: cellSource<ReadonlyMap<string, number>>(new Map()),
  stream: async function* () {},
  event: async function* () {},
  procedure: () => {},
};

const kinds = ["cell", "collection", "stream", "event", "procedure"] as const;

describe("implementSurface()", () => {
  it("implementSurface() names both the member and the misspelling when a handler is misspelt", () => {
    const { cell: value, ...others } = handlers;
    expect(() => implementSurface(all, { ...others, cel: value } as never)).toThrow(
      expect.objectContaining({
        code: "MISSING_HANDLER",
        message: expect.stringMatching(/"cell" has no handler.*"cel"/),
      }),
    );
  });

  it.each(kinds)("implementSurface() refuses a %s without its handler, or with one that does not fit", async (kind) => {
    let started = 0;
    const counting = {
      ...handlers,
      stream: async function* () {
        yield (started += 1);
      },
      event: async function* () {
        yield (started += 1);
      },
    };
    const { [kind]: _left, ...others } = counting;
    const missing = failure("MISSING_HANDLER", `"${kind}"`);
    expect(() => implementSurface(all, others as never)).toThrow(missing);
    for (const misfit of [undefined, null, 5, "x", {}, { get: 1, subscribe: 2 }, { get: () => 1, subscribe: 2 }]) {
      expect(() => implementSurface(all, { ...counting, [kind]: misfit })).toThrow(missing);
    }
    await settle();
    // All or nothing: none of the others was started.
    expect(started).toBe(0);
  });

  it.each([undefined, null, "handlers", 5])("implementSurface() refuses %j for an object of handlers", (given) => {
    expect(() => implementSurface(all, given as never)).toThrow(failure("MISSING_HANDLER"));
  });

  it.each(["other", "toString", "constructor"])("implementSurface() refuses a handler for %j", (key) => {
    const unknown = failure("UNKNOWN_HANDLER", `"${key}"`);
    expect(() => implementSurface(all, { ...handlers, [key]: () => {} })).toThrow(unknown);
  });

  it("implementSurface() takes no inherited property for a handler", () => {
    const surface = defineSurface("s", { toString: procedure({}) });
    expect(() => implementSurface(surface, {})).toThrow(failure("MISSING_HANDLER"));
  });

  it("implementSurface() takes the methods and fields of a class, bound to the instance", async () => {
    const shop = defineSurface("shop", {
      stock: cell({ schema: z.number() }),
      sell: procedure({ input: z.number(), output: z.number() }),
      close: procedure({ output: z.string() }),
    });
    class Base {
      close() {
        return "closed";
      }
    }
    class Shop extends Base {
      readonly stock = cellSource(5);
      /** A field that is no member. */
      sold = 0;
      sell(count: number) {
        this.sold += count;
        this.stock.set(this.stock.get() - count);
        return this.sold;
      }
    }
    const live = implementSurface(shop, new Shop());
    const { client } = await inProcess(live).connect(shop);
    expect([await client.sell.call(2), await client.sell.call(1), await client.stock.get()]).toEqual([2, 3, 2]);
    expect(await client.close.call()).toBe("closed");
    await live.close();
  });

  it.each(["constructor", "toString", "hasOwnProperty"])(
    "implementSurface() takes no %s of an instance for a handler",
    (key) => {
      class Empty {
        other() {}
      }
      const odd = Object.defineProperty({}, key, { value: procedure({}), enumerable: true, configurable: true });
      const surface = defineSurface("odd", odd as never);
      expect(() => implementSurface(surface, new Empty() as never)).toThrow(failure("MISSING_HANDLER"));
    },
  );

  it("implementSurface() takes atoms that are functions with properties", async () => {
    const atom = Object.assign(() => 1, { get: () => 7, subscribe: () => () => {} });
    const { client } = await openLive(defineSurface("s", { v: cell({ schema: z.number() }) }), { v: atom });
    expect(await client.v.get()).toBe(7);
  });

  it("a channel refuses keys that are not members, inherited names, and members of another kind", async () => {
    const live = implementSurface(all, handlers);
    const channel = operationsOf(live[kChannel]);
    for (const key of ["nobody", "toString", "__proto__", "constructor"]) {
      await expect(channel.call(key, undefined, {})).rejects.toMatchObject({ code: "UNKNOWN_MEMBER" });
      await expect(channel.get(key, {})).rejects.toMatchObject({ code: "UNKNOWN_MEMBER" });
      expect(() => channel.watch(key, {})).toThrow(failure("UNKNOWN_MEMBER"));
    }
    await expect(channel.call("cell", undefined, {})).rejects.toMatchObject({
      code: "WRONG_KIND",
      message: 'Cannot use "cell" as a procedure: it is a cell',
    });
    expect(() => channel.open("cell", undefined, {})).toThrow('Cannot use "cell" as a stream or event: it is a cell');
    await live.close();
  });

  it("close() refuses every later operation on every member", async () => {
    const live = implementSurface(all, handlers);
    const channel = operationsOf(live[kChannel]);
    await live.close();
    const closed = failure("CLOSED");
    const uses = [
      channel.get("cell", {}),
      channel.keys("collection", {}),
      channel.item("collection", "a", {}),
      channel.latest("stream", undefined, {}),
      channel.wait("event", undefined, {}),
      channel.recent("event", undefined, {}),
      channel.call("procedure", undefined, {}),
    ];
    for (const outcome of await Promise.allSettled(uses)) expect(outcome).toMatchObject({ reason: closed });
    expect(() => channel.watch("cell", {})).toThrow(closed);
    expect(() => channel.watchKeys("collection", {})).toThrow(closed);
    expect(() => channel.watchItem("collection", "a", {})).toThrow(closed);
    expect(() => channel.open("stream", undefined, {})).toThrow(closed);
    await expect(inProcess(live).connect(all)).rejects.toThrow(closed);
  });

  it("close() aborts running handlers, waits for them, returns one promise, and reports no fault", async () => {
    let finished = 0;
    const wait = async (signal: AbortSignal): Promise<void> => {
      try {
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      } finally {
        await settle();
        finished += 1;
      }
    };
    const { live, client, faults } = await openLive(all, {
      ...handlers,
      stream: async function* (_input, { signal }) {
        await wait(signal);
        yield 1;
      },
      event: async function* (_input, { signal }) {
        await wait(signal);
        yield 1;
      },
      procedure: (_input, { signal }) => wait(signal),
    });
    const calls = Promise.allSettled([client.procedure.call(), client.procedure.call()]);
    const watch = client.cell.watch()[Symbol.asyncIterator]();
    await watch.next();
    const waiting = watch.next();
    await settle();
    const closing = live.close();
    expect(live.close()).toBe(closing);
    await closing;
    expect(finished).toBe(4);
    const cut = { reason: { code: "OUTCOME_UNKNOWN" } };
    expect(await calls).toMatchObject([cut, cut]);
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(faults).toEqual([]);
  });

  it("close() waits for a handler that ignores its signal, and for no longer", async () => {
    let release = (): void => {};
    const { live, client } = await openLive(all, {
      ...handlers,
      procedure: () => new Promise<void>((resolve) => (release = resolve)),
    });
    const call = client.procedure.call();
    await settle();
    let closed = false;
    const closing = live.close().then(() => (closed = true));
    await settle();
    expect(closed).toBe(false);
    release();
    await closing;
    expect(await call).toBeUndefined();
  });

  it("close() completes when a handler calls it without awaiting it", async () => {
    const opened = await openLive(all, {
      ...handlers,
      procedure: () => {
        void opened.live.close();
        return "closing";
      },
    });
    expect(await opened.client.procedure.call()).toBe("closing");
    await opened.live.close();
  });
});
