import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import { cell, collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { settle } from "../../surface/support.ts";

const pollMs = 1000;

const desk = defineSurface("desk", {
  open: mcpResource(cell({ schema: z.number() })),
  rows: mcpResource(collection({ key: z.string(), schema: z.number() })),
});

/** Time that stands still until it is moved on. */
function stopTime() {
  if (!vi.isFakeTimers()) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
  }
  return async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      vi.advanceTimersByTime(100);
      await settle(2);
    }
  };
}

type Way = "polled" | "polled later" | "told" | "told later";

/** A number that is read in one way, as a cell, as an item and in the keys of a collection. */
class Backing {
  value = 1;
  sets = 0;
  #reads = 0;
  readonly #way: Way;
  readonly #listeners = new Set<(change: never) => void>();

  constructor(way: Way) {
    this.#way = way;
  }

  set(value: number): void {
    this.value = value;
    this.sets += 1;
    for (const listener of this.#listeners) listener({ set: ["a"], removed: [] } as never);
  }

  #read<TValue>(make: () => TValue): TValue {
    if (!this.#way.endsWith("later")) return make();
    const later = async (): Promise<TValue> => {
      this.#reads += 1;
      const took = this.#reads % 3;
      await settle(took % 2);
      const value = make();
      await settle(1 + took);
      return value;
    };
    // A source may answer later; its types say so for each of its functions.
    return later() as TValue;
  }

  get live() {
    const subscribe = (listener: (change: never) => void) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    };
    const how = this.#way.startsWith("told") ? { subscribe } : { pollMs };
    return implementSurface(desk, {
      open: { get: () => this.#read(() => this.value), ...how },
      rows: {
        keys: () => this.#read(() => ["a", `n${this.value}`]),
        get: () => this.#read(() => this.value),
        ...how,
      },
    });
  }
}

type Client = ReturnType<typeof clientOf>;

const clientOf = (backing: Backing) => createTestClient(mcp(desk).bridge(inProcess(backing.live)).pull());

/** The parts of a source, and how each is read and watched. */
const parts = {
  cell: {
    read: async (client: Client) => client.read("open"),
    watch: (client: Client, changed: () => void) => client.watch("open", changed),
  },
  item: {
    read: async (client: Client) => client.read("rows", { key: "a" }),
    watch: (client: Client, changed: () => void) => client.watch("rows", changed, { key: "a" }),
  },
  keys: {
    read: async (client: Client) => Number(JSON.stringify(await client.read("rows")).at(-3)),
    watch: (client: Client, changed: () => void) => client.watch("rows", changed),
  },
} as const;

type PartName = keyof typeof parts;

/** One agent: it reads when it likes, and after each notice. */
class Reader {
  held: number | undefined;
  told = 0;
  isWatching = false;
  #reads = 0;
  readonly #backing: Backing;
  readonly #client: Client;
  readonly #part: (typeof parts)[PartName];

  constructor(backing: Backing, client: Client, part: PartName) {
    this.#backing = backing;
    this.#client = client;
    this.#part = parts[part];
  }

  async read(): Promise<void> {
    this.#reads += 1;
    const turn = this.#reads;
    const value = Number(await this.#part.read(this.#client));
    if (turn === this.#reads) this.held = value;
  }

  async watch(): Promise<void> {
    if (this.isWatching) return;
    this.isWatching = true;
    const { sets, value } = this.#backing;
    const reads = this.#reads;
    const { held } = this;
    await this.#part.watch(this.#client, () => {
      this.told += 1;
      void this.read();
    });
    // A change while it joined, or before, is not told of: it reads again to know.
    if (reads === this.#reads && (held !== value || sets !== this.#backing.sets)) this.held = undefined;
  }
}

const turns = fc.constantFrom(0, 1, 3, 8);
const by = fc.integer({ min: 0, max: 1 });

// Two values, so that one comes back often.
const actions = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("flip" as const), turns }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("read" as const, "watch" as const), by, turns }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(100, 900, 1100) }) },
  ),
  { minLength: 4, maxLength: 20 },
);

type Action = typeof actions extends fc.Arbitrary<readonly (infer TAction)[]> ? TAction : never;

/** Does what was drawn; the reads and joins go on meanwhile. */
async function run(drawn: readonly Action[], backing: Backing, readers: readonly Reader[]): Promise<void> {
  const pass = stopTime();
  for (const action of drawn) {
    if (action.do === "pass") await pass(action.ms);
    else if (action.do === "flip") backing.set(3 - backing.value);
    else void readers[action.by]?.[action.do]();
    if (action.do !== "pass") await settle(action.turns);
  }
  await pass(4000);
}

describe("a watcher that joins others, of a source that is polled", () => {
  it.each(["cell", "item", "keys"] as const)(
    "is told of a value that comes back before the next poll: %s",
    async (name) => {
      const pass = stopTime();
      const backing = new Backing("polled");
      const client = clientOf(backing);
      const [first, second] = [0, 1].map(() => new Reader(backing, client, name)) as [Reader, Reader];
      backing.set(1);
      await first.watch();
      backing.set(2);
      await pass(1200);
      expect(first.told).toBe(1);
      backing.set(1);
      await second.read();
      await second.watch();
      expect(second.held).toBe(1);
      backing.set(2);
      await pass(3500);
      expect([second.told, second.held, first.held]).toEqual([1, 2, 2]);
      await pass(5000);
      expect([first.told, second.told]).toEqual([2, 1]);
      await client.close();
    },
  );

  it("is told of a value that came back, if it read before anything was watched", async () => {
    const pass = stopTime();
    const backing = new Backing("polled later");
    const client = clientOf(backing);
    const [first, second] = [0, 1].map(() => new Reader(backing, client, "cell")) as [Reader, Reader];
    backing.set(1);
    await second.read();
    backing.set(2);
    await first.watch();
    backing.set(1);
    await second.watch();
    backing.set(2);
    await pass(1500);
    expect([second.told, second.held]).toEqual([1, 2]);
    await client.close();
  });

  it.each([true, false])("finds by wait_for_change what it has not read; others watch: %s", async (hasOther) => {
    const pass = stopTime();
    const backing = new Backing("polled");
    const client = clientOf(backing);
    backing.set(1);
    if (hasOther) await client.watch("open", () => {});
    backing.set(2);
    await pass(1200);
    backing.set(1);
    const uris = ["surface://desk/open"];
    const wait = async (args: object) => {
      const waiting = client.tools.wait_for_change({ uris, ...args });
      await pass(2500);
      return (await waiting).value as { status: string; cursor: string };
    };
    const begun = client.tools.wait_for_change({ uris, timeout_ms: 0 });
    await pass(600);
    const { cursor } = (await begun).value as { cursor: string };
    expect(await client.read("open")).toBe(1);
    backing.set(2);
    expect(await wait({ since: cursor, timeout_ms: 2000 })).toMatchObject({ status: "changed" });
    await client.close();
  });
});

describe("a client that reads and watches", () => {
  it.each(["polled", "polled later", "told", "told later"] as const)(
    "has the newest value after quiet: %s",
    async (way) => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom("cell", "item", "keys"), actions, async (name, drawn) => {
          const backing = new Backing(way);
          const client = clientOf(backing);
          const readers = [0, 1].map(() => new Reader(backing, client, name));
          await run(drawn, backing, readers);
          const behind = readers.filter(
            ({ isWatching, held }) => isWatching && held !== undefined && held !== backing.value,
          );
          await client.close();
          expect(behind.map(({ held }) => held)).toEqual([]);
        }),
        { numRuns: 60 },
      );
    },
  );
});
