import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { SurfaceError } from "../../src/errors.ts";
import { inProcess } from "../../src/links/in-process.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { createClient } from "../../src/surface/create-client.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { listeners, settle, WatchedSource, explode } from "./support.ts";
import { operationsOf } from "./uses-of.ts";

const input = z.object({ id: z.number() });
const surface = defineSurface("chaos", {
  value: cell({ schema: z.number() }),
  items: collection({ key: z.string(), schema: z.number() }),
  frames: stream({ input, output: z.number() }),
  rang: event({ input, output: z.number() }),
  run: procedure({ input, output: z.number(), progress: z.number() }),
});

const codes = new Set(["none", "INTERNAL", "INVALID_OUTPUT", "VALIDATION_ERROR", "ABORTED", "CLOSED", "ABSENT"]);

/** Author code that fails at its N-th call. */
class Author {
  calls = 0;
  running = 0;
  readonly value = new WatchedSource(0);
  readonly items = new WatchedSource<ReadonlyMap<string, number>>(new Map([["a", 1]]));
  readonly #failAt: number;

  constructor(failAt: number) {
    this.#failAt = failAt;
    this.value.onGet = () => this.step();
    this.value.onSubscribe = () => this.step();
    this.items.onGet = () => this.step();
  }

  step(): number {
    this.calls += 1;
    // oxlint-disable-next-line only-throw-error -- whatever an author's code throws
    if (this.calls === this.#failAt) throw this.#failAt % 2 === 0 ? undefined : new Error("secret");
    return this.calls;
  }

  async *listen(id: number): AsyncGenerator<number> {
    this.running += 1;
    try {
      for (let count = 0; count < id; count += 1) {
        yield this.step();
        if (count % 2 === 0) await settle(1);
      }
    } finally {
      this.running -= 1;
      this.step();
    }
  }

  async *work(id: number): AsyncGenerator<number, number> {
    this.running += 1;
    try {
      for (let count = 0; count < id; count += 1) yield this.step();
      await settle(1);
      return this.step();
    } finally {
      this.running -= 1;
    }
  }
}

function openChaos(failAt: number) {
  const author = new Author(failAt);
  const live = implementSurface(
    surface,
    {
      value: author.value,
      items: author.items,
      frames: ({ id }) => author.listen(id),
      rang: ({ id }) => author.listen(id),
      run: ({ id }) => (id % 2 === 0 ? author.work(id) : author.step()),
    },
    { onFault: () => explode() },
  );
  const lazy = new ReconnectingSurface({ link: inProcess(live), surface: surface });
  return { author, live, lazy, client: createClient(surface, lazy.channel) };
}

type Chaos = ReturnType<typeof openChaos>;

async function drain(values: AsyncIterable<unknown>, count: number): Promise<void> {
  let left = count;
  for await (const value of values) {
    left -= value === undefined ? 0 : 1;
    if (left <= 0) return;
  }
}

function codeOf(outcome: unknown): string {
  if (!(outcome instanceof Error)) return "none";
  return outcome instanceof SurfaceError ? outcome.code : outcome.message;
}

/** Runs one operation, by its number. */
function use(
  { client, lazy: { channel } }: Chaos,
  { what, id }: { what: number; id: number },
  signal: AbortSignal,
): Promise<unknown> {
  const uses = [
    () => client.value.get({ signal }),
    () => drain(client.value.watch({ signal }), id + 1),
    () => client.items.get("a", { signal }),
    () => client.items.keys({ signal }),
    () => drain(client.items.watch("a", { signal }), id),
    () => drain(client.items.watchKeys({ signal }), id),
    () => drain(client.frames.open({ id }, { signal }), id),
    () => client.frames.latest({ id }, { signal }),
    () => client.rang.wait({ id }, { signal, timeoutMs: id }),
    () => client.rang.recent({ id }, { signal }),
    () => client.run.call({ id }, { signal, onProgress: () => (id === 3 ? explode() : undefined) }),
    () => client.run.call({ id: "x" as never }, { signal }),
    () => drain(operationsOf(channel).watchLatest("frames", { id }, { signal }), id),
    () => drain(operationsOf(channel).watchRecent("rang", { id }, { signal }), id),
  ];
  return uses[what % uses.length]?.() ?? Promise.resolve();
}

describe("a live surface under chaos", () => {
  it("settles every use with a known code, ends every handler, leaves no listener and no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (cause: unknown): void => void unhandled.push(cause);
    process.on("unhandledRejection", note);
    process.on("uncaughtException", note);
    const step = fc.record({
      what: fc.nat(13),
      id: fc.nat(6),
      abort: fc.boolean(),
      turn: fc.boolean(),
      write: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 0, max: 40 }),
        async (steps, failAt) => {
          const chaos = openChaos(failAt);
          const { author, live, lazy } = chaos;
          const shared = new AbortController();
          const outcomes: Promise<unknown>[] = [];
          for (const { abort, turn, write, ...what } of steps) {
            const own = new AbortController();
            outcomes.push(use(chaos, what, abort ? own.signal : shared.signal).catch((cause: unknown) => cause));
            if (turn) await settle(1);
            if (write) author.value.set(author.calls);
            if (abort) own.abort();
          }
          shared.abort();
          await Promise.all([lazy.close(), live.close()]);
          for (const outcome of await Promise.all(outcomes)) {
            expect(codes).toContain(codeOf(outcome));
            expect(String(outcome)).not.toContain("secret");
          }
          await settle();
          expect([author.running, author.value.active, author.items.active, listeners(shared.signal)]).toEqual([
            0, 0, 0, 0,
          ]);
        },
      ),
      { numRuns: 200 },
    );
    await settle(10);
    process.off("unhandledRejection", note);
    process.off("uncaughtException", note);
    expect(unhandled).toEqual([]);
  }, 60_000);

  it("holds with every call of the author's code failing in turn", async () => {
    const plan = [0, 1, 2, 4, 6, 7, 8, 10, 10, 9, 12, 13].map((what, index) => ({ what, id: index % 5 }));
    for (let failAt = 1; failAt < 60; failAt += 1) {
      const chaos = openChaos(failAt);
      const { author, live, lazy } = chaos;
      const { signal } = new AbortController();
      const outcomes = plan.map((what) => use(chaos, what, signal).catch((cause: unknown) => cause));
      await settle(4);
      await Promise.all([lazy.close(), live.close()]);
      for (const outcome of await Promise.all(outcomes)) {
        expect(codes).toContain(codeOf(outcome));
      }
      expect([author.running, author.value.active, author.items.active, listeners(signal)]).toEqual([0, 0, 0, 0]);
    }
  });
});
