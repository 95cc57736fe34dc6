import { setTimeout as sleep } from "node:timers/promises";
import { cellSource, type CollectionChange, type KeyedSource, type WritableSource } from "../../src/index.ts";
import { Chance } from "../sim/chance.ts";
import type { BackendBug, FinalValue } from "./backend-protocol.ts";
import { now } from "./now.ts";
import { cellUris, itemUri, keysUri, lateKeys, type Stamp, unwatchedKeys, watchedKeys } from "./surface.ts";

/** How often something changes and rings while the backend is not quiet, in milliseconds. */
const stirMs = 4;

/** Items by key, each told of as it changes. */
class Items implements KeyedSource<string, Stamp> {
  readonly #items = new Map<string, Stamp>();
  readonly #listeners = new Set<(change: CollectionChange<string>) => void>();

  keys(): Iterable<string> {
    return this.#items.keys();
  }

  get(key: string): Stamp | undefined {
    return this.#items.get(key);
  }

  subscribe(fn: (change: CollectionChange<string>) => void): () => void {
    this.#listeners.add(fn);
    return () => void this.#listeners.delete(fn);
  }

  /** @param isTold - `false` changes it behind everybody's back. */
  set(key: string, value: Stamp, isTold: boolean): void {
    this.#items.set(key, value);
    if (isTold) for (const listener of this.#listeners) listener({ set: [key], removed: [] });
  }
}

/** What the backend holds. It knows of each resource when it has changed last. */
export class State {
  readonly items = new Items();
  readonly count: WritableSource<Stamp>;
  readonly status: WritableSource<Stamp>;
  readonly #gen: number;
  readonly #bug: BackendBug | undefined;
  readonly #chance = new Chance();
  readonly #changedAt = new Map<string, number>();
  readonly #bells = new Set<(rung: Stamp) => void>();
  #writes = 0;
  #rung = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(gen: number, bug: BackendBug | undefined) {
    this.#gen = gen;
    this.#bug = bug;
    this.#chance.reseed(gen, 0);
    this.count = cellSource(this.#next(cellUris.count));
    this.status = cellSource(this.#next(cellUris.status));
    for (const key of [...watchedKeys, ...unwatchedKeys]) this.#setItem(key);
  }

  /** Says who is asked, and how far it has come. */
  stamp(): Stamp {
    return { gen: this.#gen, n: this.#writes };
  }

  /** Does what a mutation does; tells the count that it leaves. */
  apply(key: string): Stamp {
    this.#setItem(key);
    const count = this.#next(cellUris.count);
    this.count.set(count);
    return count;
  }

  /** Rings, one after the other, as they come; counted from 0. */
  async *rings(signal: AbortSignal): AsyncGenerator<Stamp> {
    const heard: Stamp[] = [];
    let wake = (): void => {};
    const ring = (rung: Stamp): void => {
      heard.push(rung);
      wake();
    };
    this.#bells.add(ring);
    const onAbort = (): void => wake();
    signal.addEventListener("abort", onAbort, { once: true });
    while (!signal.aborted) {
      yield* heard.splice(0);
      if (!signal.aborted && heard.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
    this.#bells.delete(ring);
  }

  /** Changes and rings again and again, until {@link hush}. */
  stir(): void {
    this.#timer ??= setInterval(() => {
      this.#change();
      if (this.#chance.hits(0.5)) this.#ring();
    }, stirMs);
  }

  /** Changes nothing more by itself. */
  hush(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Changes a part of everything a few times, at moments of no regularity, and is quiet; tells what is there then. */
  async settle(seed: number): Promise<readonly FinalValue[]> {
    this.hush();
    const chance = this.#chance;
    chance.reseed(seed, this.#gen);
    // What is left alone has the values that this backend was born with.
    const touched = watchedKeys.filter(() => chance.hits(0.7));
    for (let round = 0; round < 3; round += 1) {
      for (const key of touched) if (round === 2 || chance.hits(0.5)) this.#setItem(key, round < 2);
      this.status.set(this.#next(cellUris.status));
      await sleep(chance.below(40));
    }
    for (const key of lateKeys) if (chance.hits(0.8)) this.#setItem(key);
    return this.#final();
  }

  #ring(): void {
    const rung = { gen: this.#gen, n: this.#rung };
    this.#rung += 1;
    for (const bell of this.#bells) bell(rung);
  }

  #change(): void {
    const key = this.#chance.pick([...watchedKeys, ...unwatchedKeys]);
    if (key !== undefined) this.#setItem(key);
    if (this.#chance.hits(0.1)) this.status.set(this.#next(cellUris.status));
  }

  #setItem(key: string, isHonest = true): void {
    if (this.items.get(key) === undefined) this.#changedAt.set(keysUri, now());
    const isTold = isHonest || this.#bug !== "forgets a change";
    this.items.set(key, this.#next(itemUri(key)), isTold || key !== "w7");
  }

  #next(uri: string): Stamp {
    this.#changedAt.set(uri, now());
    this.#writes += 1;
    return this.stamp();
  }

  #final(): readonly FinalValue[] {
    const text = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
    const values: [string, string | null][] = [
      [keysUri, text([...this.items.keys()])],
      [cellUris.count, text(this.count.get())],
      [cellUris.status, text(this.status.get())],
      ...[...watchedKeys, ...lateKeys, ...unwatchedKeys].map((key): [string, string | null] => [
        itemUri(key),
        text(this.items.get(key)),
      ]),
    ];
    return values.map(([uri, found]) => ({ uri, text: found, changedAt: this.#changedAt.get(uri) ?? null }));
  }
}
