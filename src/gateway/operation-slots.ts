import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { placeOf } from "../catalog/list-changes.ts";
import { isBelow, nameOf, namespaceOf } from "./operation-id.ts";

/** The part of the operations that one request may find. */
export interface SearchScope {
  /** Decides about a guard, once for all operations that have the same. */
  readonly isGranted: (guard: EntryGuard) => boolean;
  readonly namespace: string;
}

/** An operation of the index. */
export interface IndexedOperation {
  readonly slot: number;
  readonly entry: ToolEntry;
  /** The id in lower case, as the other names. */
  readonly id: string;
  /** The name on the wire. */
  readonly wireName: string;
  /** The name on the wire without the first segment, which may be the prefix of a mount. The whole name if there is only one. */
  readonly shortName: string;
  /** The last segment of the id. */
  readonly segment: string;
}

/** The ranks of an operation that a query names, the best first. Operations found by words come after these. */
export const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

type ToName = (operation: IndexedOperation) => string;

const toId: ToName = ({ entry }) => entry.id;
const toWireName: ToName = ({ wireName }) => wireName;
const toShortName: ToName = ({ shortName }) => shortName;

/** More operations than this are removed in one pass. */
const few = 16;

/** Operations in the order of a name. Changed in place: to copy lists of 100,000 for each slice takes longer than the slice. */
class SortedOperations {
  readonly #toName: ToName;
  #operations: IndexedOperation[] = [];

  constructor(toName: ToName) {
    this.#toName = toName;
  }

  get all(): readonly IndexedOperation[] {
    return this.#operations;
  }

  add(come: readonly IndexedOperation[]): void {
    const toName = this.#toName;
    const sorted = come.toSorted((one, other) => (toName(one) < toName(other) ? -1 : 1));
    const [first] = sorted;
    if (first === undefined) return;
    // Operations mostly come in the order of their names: then nothing stands behind the first new one.
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
    if (gone.size > few) this.#operations = this.#operations.filter((operation) => !gone.has(operation));
    else
      for (const operation of gone)
        this.#operations.splice(this.#operations.indexOf(operation, this.#place(operation)), 1);
  }

  /** Returns the operations whose name begins with `text`: they stand together, before a name with a greater character. */
  startingWith(text: string): readonly IndexedOperation[] {
    const [list, toName] = [this.#operations, this.#toName];
    return list.slice(placeOf(list, text, toName), placeOf(list, `${text}\uffff`, toName));
  }

  #place(operation: IndexedOperation): number {
    return placeOf(this.#operations, this.#toName(operation), this.#toName);
  }
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
  if (requires !== undefined) return JSON.stringify([scopes, requires]);
  // Most guards are one scope: then the key is no new text.
  return scopes.length === 1 ? `${scopes[0]}` : scopes.join(" ");
}

/** The guard of an empty slot. No request is granted it. */
const gone = -1;

/**
 * Operations by id, by name and under a number, the slot. Slots only grow: the slot of an operation that has gone stays empty, so
 * that lists of slots elsewhere are only added to.
 */
export class OperationSlots {
  readonly #byId = new SortedOperations(toId);
  readonly #byWireName = new SortedOperations(toWireName);
  readonly #byShortName = new SortedOperations(toShortName);
  readonly #bySegment = new Map<string, IndexedOperation[]>();
  readonly #guards = new Numbering<EntryGuard>();
  /** By slot. */
  readonly #guardOf: number[] = [];
  readonly #namespaces = new Numbering<string>();
  /** By slot. */
  readonly #namespaceOf: number[] = [];

  /** All operations, by id. */
  get byId(): readonly IndexedOperation[] {
    return this.#byId.all;
  }

  /** Whether more than half of the slots are empty: then new slots take less than these. */
  get isSparse(): boolean {
    return this.#guardOf.length > 64 + 2 * this.byId.length;
  }

  /** Adds operations, none of which has the id of another. */
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

  /** Returns an array by slot: 1 if a request may find the operation. */
  see({ isGranted, namespace }: SearchScope): Uint8Array {
    const granted = this.#guards.things.map(isGranted);
    const within = this.#namespaces.things.map((one) => isBelow(one, namespace));
    const visible = new Uint8Array(this.#guardOf.length);
    for (let slot = 0; slot < visible.length; slot += 1) {
      if (granted[this.#guardOf[slot] ?? gone] === true && within[this.#namespaceOf[slot] ?? gone] === true) {
        visible[slot] = 1;
      }
    }
    return visible;
  }

  /** Lowers the ranks of the visible operations that `text` names or begins to name. Both arrays are by slot. */
  rankNamed(ranks: Uint8Array, visible: Uint8Array, text: string): void {
    // A name on the wire has `_` for each dot of the id, and for nothing else that a text with dots may mean.
    const wireText = text.replaceAll(".", "_");
    const isMeant = (id: string, from: number): boolean => wireText === text || id.startsWith(text, from);
    const take = (slot: number, rank: number): void => {
      if (visible[slot] === 1 && rank < (ranks[slot] ?? 0)) ranks[slot] = rank;
    };
    for (const { slot, id, wireName } of this.#byWireName.startingWith(wireText)) {
      if (isMeant(id, 0)) take(slot, wireName === wireText ? named.id : named.prefix);
    }
    for (const { slot, id, shortName } of this.#byShortName.startingWith(wireText)) {
      if (isMeant(id, id.length - shortName.length)) take(slot, shortName === wireText ? named.name : named.prefix);
    }
    for (const { slot } of this.#bySegment.get(text) ?? []) take(slot, named.name);
  }

  #take(entry: ToolEntry): IndexedOperation {
    const namespace = namespaceOf(entry.id);
    this.#namespaceOf.push(this.#namespaces.numberOf(namespace, namespace));
    const slot = this.#guardOf.push(this.#guards.numberOf(keyOfGuard(entry), entry)) - 1;
    const [id, wireName] = [entry.id.toLowerCase(), entry.name.toLowerCase()];
    // In a name on the wire, each character stands where it stands in the id.
    const shortName = wireName.slice(id.indexOf(".") + 1);
    const operation = { slot, entry, id, wireName, shortName, segment: nameOf(id) };
    const namesakes = this.#bySegment.get(operation.segment);
    if (namesakes === undefined) this.#bySegment.set(operation.segment, [operation]);
    else namesakes.push(operation);
    return operation;
  }
}
