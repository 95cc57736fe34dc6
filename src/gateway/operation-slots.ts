import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import type { ListDiff } from "../catalog/list-changes.ts";
import { isBelow, namespaceOf } from "./operation-id.ts";
import { SortedNames, toNamedSlot, type NamedSlot } from "./sorted-names.ts";

/** The part of the operations that one request may find. */
export interface SearchScope {
  /** Decides about a guard, once for all operations that have the same. */
  readonly isGranted: (guard: EntryGuard) => boolean;
  readonly namespace: string;
}

/** The operations as they were when a request asked for them. Later changes do not reach it. */
export interface VisibleOperations {
  /** By slot. */
  readonly entries: readonly (ToolEntry | undefined)[];
  /** The slots of all operations, by id. */
  readonly order: Uint32Array;
  /** By slot: 1 if the request may find the operation. */
  readonly visible: Uint8Array;
  readonly names: SortedNames;
}

/** Gives equal things one small number, so that a request decides about each of them once. */
class Numbering<TThing> {
  readonly things: TThing[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(key: string, thing: TThing): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.things.length);
    return this.things.push(thing) - 1;
  }
}

function keyOfGuard({ scopes, requires }: EntryGuard): string {
  // Most have one scope and nothing else: then the key is no new text.
  return requires === undefined ? scopes.join(" ") : JSON.stringify([scopes, requires]);
}

/**
 * The operations of a catalog, each under a number, its slot. Slots only grow: the slot of an operation that has gone stays empty, so
 * that what is kept by slot elsewhere can be added to and need not be searched.
 */
export class OperationSlots {
  #entries: readonly (ToolEntry | undefined)[] = [];
  #order = new Uint32Array();
  readonly #ids: string[] = [];
  readonly #named: NamedSlot[] = [];
  readonly #names = new SortedNames();
  readonly #guards = new Numbering<EntryGuard>();
  readonly #guardOf: number[] = [];
  readonly #namespaces = new Numbering<string>();
  readonly #namespaceOf: number[] = [];

  /** Whether more than half of the slots are empty: then new slots take less than these. */
  get isSparse(): boolean {
    return this.#ids.length > 64 + 2 * this.#order.length;
  }

  /** Follows a change of the catalog. */
  patch({ gone, come }: ListDiff<ToolEntry>): void {
    const [entries, size] = [this.#entries.slice(), this.#named.length];
    const leaving = new Set<NamedSlot>();
    for (const { id } of gone) {
      const named = this.#named[this.#order[this.#placeOf(id)] ?? size];
      if (named === undefined) continue;
      entries[named.slot] = undefined;
      leaving.add(named);
    }
    const left = gone.length === 0 ? this.#order : this.#order.filter((slot) => entries[slot] !== undefined);
    this.#order = left;
    const sorted = come.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const order = new Uint32Array(left.length + sorted.length);
    let from = 0;
    for (const [index, entry] of sorted.entries()) {
      const at = this.#placeOf(entry.id);
      order.set(left.subarray(from, at), from + index);
      order[at + index] = entries.push(entry) - 1;
      from = at;
      this.#describe(entry);
    }
    order.set(left.subarray(from), from + sorted.length);
    this.#order = order;
    this.#entries = entries;
    this.#names.patch({ gone: leaving, come: this.#named.slice(size) });
  }

  /** Returns the operations as they are now, and which of them a request may find. */
  see({ isGranted, namespace }: SearchScope): VisibleOperations {
    const granted = this.#guards.things.map(isGranted);
    const within = this.#namespaces.things.map((one) => isBelow(one, namespace));
    const [entries, visible] = [this.#entries, new Uint8Array(this.#ids.length)];
    for (let slot = 0; slot < visible.length; slot += 1) {
      const isVisible =
        granted[this.#guardOf[slot] ?? -1] === true &&
        within[this.#namespaceOf[slot] ?? -1] === true &&
        entries[slot] !== undefined;
      if (isVisible) visible[slot] = 1;
    }
    return { entries, order: this.#order, visible, names: this.#names };
  }

  #describe(entry: ToolEntry): void {
    const namespace = namespaceOf(entry.id);
    this.#ids.push(entry.id);
    this.#named.push(toNamedSlot(entry, this.#named.length));
    this.#guardOf.push(this.#guards.numberOf(keyOfGuard(entry), entry));
    this.#namespaceOf.push(this.#namespaces.numberOf(namespace, namespace));
  }

  /** Returns the place in the order of the first operation that does not come before an id. */
  #placeOf(id: string): number {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#ids[this.#order[middle] ?? 0];
      if (other !== undefined && other < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
