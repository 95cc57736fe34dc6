import { computed, signal } from "@preact/signals-core";
import { atom, computed as computedAtom, map, onMount } from "nanostores";
import { BehaviorSubject, concat, EMPTY, from, map as mapped, NEVER, Observable, of, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { fromSignal, type ObservableLike, type ValueObserver, cellSource } from "../../src/surface/source.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import type { CellImplementation } from "../../src/surface/implementation.ts";
import { noteRejections, openLive, settle, take, until, failure, explode } from "./support.ts";

const counter = defineSurface("counter", { value: cell({ schema: z.number() }) });

function openCell(value: CellImplementation<number>) {
  return openLive(counter, { value });
}

/** A count that is changed by its own library. */
interface Library {
  readonly implementation: CellImplementation<number>;
  readonly set: (value: number) => void;
}

const libraries: Readonly<Record<string, () => Library>> = {
  "our own cellSource()": () => {
    const source = cellSource(1);
    return { implementation: source, set: (value) => source.set(value) };
  },
  "an atom of nanostores": () => {
    const count = atom(1);
    return { implementation: count, set: (value) => count.set(value) };
  },
  "a computed atom of nanostores": () => {
    const halves = map({ left: 0, right: 1 });
    const sum = computedAtom(halves, ({ left, right }) => left + right);
    return { implementation: sum, set: (value) => halves.setKey("right", value) };
  },
  "a signal of Preact": () => {
    const count = signal(1);
    return { implementation: fromSignal(count), set: (value) => void (count.value = value) };
  },
  "a computed signal of Preact": () => {
    const half = signal(0.5);
    return {
      implementation: fromSignal(computed(() => half.value * 2)),
      set: (value) => void (half.value = value / 2),
    };
  },
  "a BehaviorSubject of RxJS": () => {
    const count = new BehaviorSubject(1);
    return { implementation: count, set: (value) => count.next(value) };
  },
  "a piped observable of RxJS": () => {
    const text = new BehaviorSubject("1");
    return { implementation: text.pipe(mapped(Number)), set: (value) => text.next(String(value)) };
  },
  "an async iterable": () => {
    let now = 1;
    let wake = (): void => {};
    const implementation = {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          yield now;
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
    };
    return { implementation, set: (value) => (wake(), void (now = value)) };
  },
};

describe.each(Object.entries(libraries))("a cell of %s", (_name, make) => {
  it("get() and watch() give the current value, and each change", async () => {
    const { implementation, set } = make();
    const { client, live, faults } = await openCell(implementation);
    expect(await client.value.get()).toBe(1);
    const values = client.value.watch()[Symbol.asyncIterator]();
    expect(await values.next()).toEqual({ done: false, value: 1 });
    const changed = values.next();
    set(2);
    expect(await changed).toEqual({ done: false, value: 2 });
    expect(await client.value.get()).toBe(2);
    expect(await client.value.reading()).toEqual({ value: 2 });
    await values.return?.();
    set(3);
    expect(await client.value.get()).toBe(3);
    await live.close();
    expect(faults).toEqual([]);
  });
});

describe("a cell of nanostores", () => {
  it("a store is mounted only while it is watched, not for a read", async () => {
    const count = atom(1);
    let mounted = 0;
    let left = 0;
    onMount(count, () => {
      mounted += 1;
      count.set(5);
      return () => (left += 1);
    });
    const { client, live } = await openCell(count);
    const values = client.value.watch()[Symbol.asyncIterator]();
    expect(await values.next()).toEqual({ done: false, value: 5 });
    expect(mounted).toBe(1);
    await live.close();
    // The store itself waits a second before it lets go.
    await until(() => left === 1);
  });
});

describe("a cell of a signal", () => {
  it("a read within a computation of its library adds no dependency", async () => {
    const count = signal(1);
    const source = fromSignal(count);
    let runs = 0;
    const watched = computed(() => {
      runs += 1;
      return source.get();
    });
    expect(watched.value).toBe(1);
    count.value = 2;
    expect(watched.value).toBe(1);
    expect(runs).toBe(1);
  });

  it("fromSignal() reads a signal without peek()", () => {
    expect(fromSignal({ value: 3, subscribe: () => () => {} }).get()).toBe(3);
  });

  it("get() masks an error of the computation", async () => {
    const failing = computed<number>(() => {
      throw new Error("secret");
    });
    const { client, faults } = await openCell(fromSignal(failing));
    await expect(client.value.get()).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(take(client.value.watch(), 1)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(faults.map(({ cause }) => cause)).toContainEqual(new Error("secret"));
  });

  it("implementSurface() names the adapter when it is given the signal itself", () => {
    expect(() => implementSurface(counter, { value: signal(1) as never })).toThrow("fromSignal(…)");
  });

  it.each([5, null, undefined, {}, { get: 1 }, { subscribe: 5 }, () => 1])(
    "implementSurface() refuses %o for a cell",
    (value) => {
      expect(() => implementSurface(counter, { value: value as never })).toThrow(failure("MISSING_HANDLER"));
    },
  );
});

describe("a cell of an observable", () => {
  it("readers share one subscription, and a first read waits for its first value", async () => {
    const subject = new Subject<number>();
    const { client } = await openCell(subject);
    const read = client.value.get();
    const values = client.value.watch()[Symbol.asyncIterator]();
    const first = values.next();
    await settle();
    expect(subject.observed).toBe(true);
    subject.next(1);
    expect(await read).toBe(1);
    expect(await first).toEqual({ done: false, value: 1 });
    await values.return?.();
    expect(subject.observed).toBe(false);
  });

  it("the last value that it emits at once is the value, for good when it completes", async () => {
    const { client, faults } = await openCell(from([1, 2, 3]));
    const values = client.value.watch()[Symbol.asyncIterator]();
    expect(await values.next()).toEqual({ done: false, value: 3 });
    expect(await client.value.reading()).toEqual({ value: 3 });
    await values.return?.();
    expect(await client.value.reading()).toEqual({ value: 3 });
    expect(faults).toEqual([]);
  });

  it("readers get ABSENT when it completes without a value", async () => {
    const { client } = await openCell(EMPTY);
    await expect(client.value.get()).rejects.toMatchObject({ code: "ABSENT" });
  });

  it("get() masks its failure, at once or later", async () => {
    const later = new Subject<number>();
    for (const failing of [throwError(() => new Error("secret")), later]) {
      const { client, faults } = await openCell(failing);
      const read = client.value.get().catch((cause: unknown) => cause);
      await settle();
      later.error(new Error("secret"));
      expect(await read).toMatchObject({ code: "INTERNAL" });
      expect(faults).toMatchObject([{ cause: { message: "secret" } }]);
    }
  });

  it("the value stands, stale, when it fails, until a new subscription emits", async () => {
    let subscribed = 0;
    const failsOnce = new Observable<number>((observer) => {
      subscribed += 1;
      observer.next(subscribed);
      if (subscribed === 1) setImmediate(() => observer.error(new Error("lost")));
    });
    const { client } = await openCell(failsOnce);
    const seen = await take(client.value.readings(), 3);
    expect(seen).toMatchObject([{ value: 1 }, { value: 1, stale: { reason: "lost" } }, { value: 2 }]);
    expect(seen[2]).toEqual({ value: 2 });
  });

  it("its last value comes before its failure when both come at once", async () => {
    const { client } = await openCell(
      concat(
        of(1),
        throwError(() => new Error("lost")),
      ),
    );
    const values = client.value.readings()[Symbol.asyncIterator]();
    expect((await values.next()).value).toMatchObject({ value: 1 });
    await values.return?.();
  });

  it("an observable behind Symbol.observable is subscribed to", async () => {
    for (const name of ["@@observable", Reflect.get(Symbol, "observable") ?? "@@observable"] as const) {
      const foreign = { [name as string]: () => concat(of(1), NEVER) };
      const { client } = await openCell(foreign as never);
      expect(await client.value.get()).toBe(1);
    }
  });

  const hostile: Readonly<Record<string, (observer: ValueObserver<number>) => unknown>> = {
    "throws from subscribe()": () => explode(),
    "gives nothing to unsubscribe by": () => undefined,
    "gives a promise to unsubscribe by": async () => ({ unsubscribe: () => {} }),
    "fails before subscribe() returns": (observer) => {
      observer.error(new Error("secret"));
      return { unsubscribe: explode };
    },
    "throws after it has failed": (observer) => {
      observer.error(new Error("secret"));
      return explode();
    },
  };

  it.each(Object.entries(hostile))("get() is masked when it %s", async (_what, subscribe) => {
    const rejections = noteRejections();
    const { client, faults, live } = await openCell({ subscribe } as ObservableLike<number>);
    const failed: unknown = await client.value.get().catch((cause: unknown) => cause);
    expect(failed).toMatchObject({ code: "INTERNAL" });
    expect(String(failed)).not.toContain("secret");
    expect(faults).toHaveLength(1);
    await live.close();
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it.each([
    ["throws", { unsubscribe: explode }],
    ["rejects", { unsubscribe: async () => explode() }],
    ["is a function that throws", explode],
  ])("the value arrives, and the fault is reported, when its unsubscribe() %s", async (_what, subscription) => {
    const rejections = noteRejections();
    const subscribe = (observer: ValueObserver<number>): unknown => {
      observer.next(1);
      return subscription;
    };
    const { client, faults, live } = await openCell({ subscribe } as ObservableLike<number>);
    expect(await client.value.get()).toBe(1);
    await settle();
    expect(faults).toHaveLength(1);
    await live.close();
    expect(rejections.end()).toEqual([]);
  });

  it("a value after its end, or after the last reader left, is dropped", async () => {
    let told: ValueObserver<number> | undefined;
    const subscribe = (observer: ValueObserver<number>): { unsubscribe(): void } => {
      told = observer;
      observer.next(1);
      return { unsubscribe: () => {} };
    };
    const { client, faults } = await openCell({ subscribe });
    expect(await client.value.get()).toBe(1);
    told?.next(2);
    told?.error(new Error("late"));
    const values = client.value.readings()[Symbol.asyncIterator]();
    expect((await values.next()).value).toEqual({ value: 1 });
    told?.complete();
    told?.next(3);
    await settle();
    expect(await client.value.reading()).toEqual({ value: 1 });
    expect(faults).toEqual([]);
    await values.return?.();
  });
});
