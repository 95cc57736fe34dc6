import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { placeOf } from "../catalog/list-changes.ts";
import { nameOf, namespaceOf } from "./operation.ts";

/** The operations that one request may find. */
export interface SearchScope {
  /** Called once for all operations with the same guard. */
  readonly isGranted: (guard: EntryGuard) => boolean;
  readonly namespace: string;
}

/** An operation of the index. */
export interface IndexedOperation {
  readonly slot: number;
  readonly entry: ToolEntry;
  /** The id in lower case, as the other names. */
  readonly id: string;
  readonly wireName: string;
  /** The wire name without its first segment, which may be the prefix of a mount. The whole name if there is only one. */
  readonly shortName: string;
  /** The last segment of the id. */
  readonly segment: string;
}

/** The ranks of an operation that a query names, best first. Operations found by words rank after these. */
export const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

type ToName = (operation: IndexedOperation) => string;

const toId: ToName = ({ entry }) => entry.id;
const toWireName: ToName = ({ wireName }) => wireName;
const toShortName: ToName = ({ shortName }) => shortName;

/** More operations than this are removed in one pass. */
const few = 16;

/** The operations whose name is a text, from `from`, or begins with it, from `longerFrom`. */
interface NameRange {
  readonly from: number;
  readonly longerFrom: number;
  /** The end of both. */
  readonly to: number;
}

/** Operations sorted by a name. Changes in place, because to copy a list of 100,000 for each slice takes longer than the slice. */
class SortedOperations {
  readonly #toName: ToName;
  #operations: IndexedOperation[] = [];
  #slots: Uint32Array | undefined;

  constructor(toName: ToName) {
    this.#toName = toName;
  }

  get all(): readonly IndexedOperation[] {
    return this.#operations;
  }

  /** The slots in the order of `all`. A walk through these is several times as fast as one through the operations. */
  get slots(): Uint32Array {
    return (this.#slots ??= Uint32Array.from(this.#operations, ({ slot }) => slot));
  }

  add(come: readonly IndexedOperation[]): void {
    const toName = this.#toName;
    const sorted = come.toSorted((one, other) => (toName(one) < toName(other) ? -1 : 1));
    const [first] = sorted;
    if (first === undefined) return;
    this.#slots = undefined;
    // Operations mostly come in the order of their names: then `behind` is empty.
    const behind = this.#operations.splice(placeOf(this.#operations, toName(first), toName));
    let from = 0;
    for (const operation of sorted) {
      const at = placeOf(behind, toName(operation), toName);
      for (const before of behind.slice(from, at)) this.#operations.push(before);
      this.#operations.push(operation);
      from = at;
    }
    for (const after of behind.slice(from)) this.#operations.push(after);
  }

  remove(gone: ReadonlySet<IndexedOperation>): void {
    if (gone.size > 0) this.#slots = undefined;
    if (gone.size > few) this.#operations = this.#operations.filter((operation) => !gone.has(operation));
    else
      for (const operation of gone)
        this.#operations.splice(this.#operations.indexOf(operation, this.#place(operation)), 1);
  }

  /** Returns whether the operation at an index passes a test of its id and of the name that the list is sorted by. */
  isAt(index: number, test: (id: string, name: string) => boolean): boolean {
    const operation = this.#operations[index];
    return operation !== undefined && test(operation.id, this.#toName(operation));
  }

  /** Returns where the names that begin with `text` start and end. They are neighbours, and those that equal `text` come first. */
  rangeOf(text: string): NameRange {
    const [list, toName] = [this.#operations, this.#toName];
    return {
      from: placeOf(list, text, toName),
      longerFrom: placeOf(list, `${text}\0`, toName),
      to: placeOf(list, `${text}\uffff`, toName),
    };
  }

  #place(operation: IndexedOperation): number {
    return placeOf(this.#operations, this.#toName(operation), this.#toName);
  }
}

/** Numbers things, equal ones alike, so that a request decides about each of them once. */
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
  if (requires !== undefined) return JSON.stringify([scopes, requires]);
  // Most guards are one scope: then no new text is created.
  return scopes.length === 1 ? `${scopes[0]}` : scopes.join(" ");
}

/** The guard of an empty slot, which no caller passes. */
const gone = -1;

/** Returns whether a namespace is `above` or below it. Every namespace is below the empty one. */
function isBelow(namespace: string, above: string): boolean {
  return above === "" || namespace === above || namespace.startsWith(`${above}.`);
}

/**
 * Operations by id, by name and by slot, a number. The slot of a removed operation stays empty, so that lists of slots elsewhere only
 * grow.
 */
export class OperationSlots {
  readonly #byId = new SortedOperations(toId);
  readonly #byWireName = new SortedOperations(toWireName);
  readonly #byShortName = new SortedOperations(toShortName);
  readonly #bySegment = new Map<string, IndexedOperation[]>();
  readonly #guards = new Numbering<EntryGuard>();
  readonly #namespaces = new Numbering<string>();
  // Both by slot.
  readonly #guardOf: number[] = [];
  readonly #namespaceOf: number[] = [];

  /** All operations, by id. */
  get byId(): readonly IndexedOperation[] {
    return this.#byId.all;
  }

  /** The slots of all operations, by id. */
  get slotsById(): Uint32Array {
    return this.#byId.slots;
  }

  /** Returns whether more than half of the slots are empty, so that new slots would take less memory. */
  get isSparse(): boolean {
    return this.#guardOf.length > 64 + 2 * this.byId.length;
  }

  /** Adds operations with new ids. */
  add(entries: readonly ToolEntry[]): readonly IndexedOperation[] {
    const operations = entries.map((entry) => this.#take(entry));
    for (const list of [this.#byId, this.#byWireName, this.#byShortName]) list.add(operations);
    return operations;
  }

  /** Removes operations that were added. */
  remove(entries: readonly ToolEntry[]): void {
    const leaving = new Set(entries.flatMap(({ id }) => this.byId[placeOf(this.byId, id, toId)] ?? []));
    for (const list of [this.#byId, this.#byWireName, this.#byShortName]) list.remove(leaving);
    for (const { slot, segment } of leaving) {
      this.#guardOf[slot] = gone;
      const left = this.#bySegment.get(segment)?.filter((other) => other.slot !== slot) ?? [];
      this.#bySegment.set(segment, left);
    }
  }

  /** Returns an array by slot: 1 for an operation that the request may find. */
  see({ isGranted, namespace }: SearchScope): Uint8Array {
    const granted = this.#guards.things.map(isGranted);
    const within = this.#namespaces.things.map((one) => isBelow(one, namespace));
    const [guardOf, namespaceOfSlot] = [this.#guardOf, this.#namespaceOf];
    const visible = new Uint8Array(guardOf.length);
    for (let slot = 0; slot < visible.length; slot += 1) {
      const guard = guardOf[slot] ?? gone;
      if (guard !== gone && granted[guard] === true && within[namespaceOfSlot[slot] ?? 0] === true) visible[slot] = 1;
    }
    return visible;
  }

  /** Lowers the ranks of visible operations whose name is `text` or begins with it. Both arrays are by slot. */
  rankNamed(ranks: Uint8Array, visible: Uint8Array, text: string): void {
    // A wire name has `_` for each dot of the id. Other characters of the id cannot stand for a dot of the text.
    const wireText = text.replaceAll(".", "_");
    const isMeant = (id: string, name: string): boolean => id.startsWith(text, id.length - name.length);
    const take = (slot: number, rank: number): void => {
      if (visible[slot] === 1 && rank < (ranks[slot] ?? 0)) ranks[slot] = rank;
    };
    const takeRange = (list: SortedOperations, whole: number): void => {
      const { from, longerFrom, to } = list.rangeOf(wireText);
      for (let at = from; at < to; at += 1) {
        if (wireText === text || list.isAt(at, isMeant))
          take(list.slots[at] ?? gone, at < longerFrom ? whole : named.prefix);
      }
    };
    takeRange(this.#byWireName, named.id);
    takeRange(this.#byShortName, named.name);
    for (const { slot } of this.#bySegment.get(text) ?? []) take(slot, named.name);
  }

  #take(entry: ToolEntry): IndexedOperation {
    const namespace = namespaceOf(entry.id);
    this.#namespaceOf.push(this.#namespaces.numberOf(namespace, namespace));
    const slot = this.#guardOf.push(this.#guards.numberOf(keyOfGuard(entry), entry)) - 1;
    const [id, wireName] = [entry.id.toLowerCase(), entry.name.toLowerCase()];
    // The characters of a wire name are at the same positions as those of the id.
    const shortName = wireName.slice(id.indexOf(".") + 1);
    const operation = { slot, entry, id, wireName, shortName, segment: nameOf(id) };
    const namesakes = this.#bySegment.get(operation.segment);
    if (namesakes === undefined) this.#bySegment.set(operation.segment, [operation]);
    else namesakes.push(operation);
    return operation;
  }
}
