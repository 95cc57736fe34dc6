import type { ToolEntry } from "../catalog/entry.ts";
import { patchSorted, placeOf, type SortedPatch } from "../catalog/list-changes.ts";
import { nameOf } from "./operation-id.ts";

/** The names of an operation, in lower case. */
export interface NamedSlot {
  readonly slot: number;
  readonly id: string;
  /** The name on the wire. */
  readonly wireName: string;
  /** The name on the wire without the first segment, which may be the prefix of a mount. The whole name if there is only one. */
  readonly shortName: string;
  /** The last segment of the id. */
  readonly name: string;
}

/** The ranks of an operation that a query names, the best first. Operations found by words come after these. */
export const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

/** Returns the names of an operation. */
export function toNamedSlot({ id, name }: ToolEntry, slot: number): NamedSlot {
  const wireName = name.toLowerCase();
  // In a name on the wire, each character stands where it stands in the id.
  const shortName = wireName.slice(id.indexOf(".") + 1);
  return { slot, id: id.toLowerCase(), wireName, shortName, name: nameOf(id).toLowerCase() };
}

type ToName = (operation: NamedSlot) => string;

const toWireName: ToName = ({ wireName }) => wireName;
const toShortName: ToName = ({ shortName }) => shortName;
const toSegment: ToName = ({ name }) => name;

/** Returns the operations whose name begins with `text`: they stand together, before a name with a greater character. */
function startingWith(list: readonly NamedSlot[], text: string, toName: ToName): readonly NamedSlot[] {
  return list.slice(placeOf(list, text, toName), placeOf(list, `${text}\uffff`, toName));
}

/** The names of all operations in order, to find those that a text names, or begins to name. */
export class SortedNames {
  #byWireName: readonly NamedSlot[] = [];
  #byShortName: readonly NamedSlot[] = [];
  #bySegment: readonly NamedSlot[] = [];

  /** Follows a change of the operations. */
  patch(change: SortedPatch<NamedSlot>): void {
    this.#byWireName = patchSorted(this.#byWireName, change, toWireName);
    this.#byShortName = patchSorted(this.#byShortName, change, toShortName);
    this.#bySegment = patchSorted(this.#bySegment, change, toSegment);
  }

  /** Lowers the ranks of the visible operations that `text` names or begins to name. Both arrays are by slot. */
  rank(ranks: Uint8Array, visible: Uint8Array, text: string): void {
    // A name on the wire has `_` for each dot of the id, and for nothing else that a text with dots may mean.
    const wireText = text.replaceAll(".", "_");
    const isMeant = (id: string, from: number): boolean => wireText === text || id.startsWith(text, from);
    const take = (slot: number, rank: number): void => {
      if (visible[slot] === 1 && rank < (ranks[slot] ?? 0)) ranks[slot] = rank;
    };
    for (const { slot, id, wireName } of startingWith(this.#byWireName, wireText, toWireName)) {
      if (isMeant(id, 0)) take(slot, wireName === wireText ? named.id : named.prefix);
    }
    for (const { slot, id, shortName } of startingWith(this.#byShortName, wireText, toShortName)) {
      if (isMeant(id, id.length - shortName.length)) take(slot, shortName === wireText ? named.name : named.prefix);
    }
    for (const { slot, name } of startingWith(this.#bySegment, text, toSegment)) {
      if (name === text) take(slot, named.name);
    }
  }
}
