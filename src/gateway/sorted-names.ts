import { named, type IndexedOperation } from "./indexed-operation.ts";
import { patchSorted, placeOf, type SortedPatch } from "../catalog/patch-sorted.ts";

type ToName = (operation: IndexedOperation) => string;

const toWireName: ToName = ({ wireName }) => wireName;
const toShortName: ToName = ({ shortName }) => shortName;
const toSegment: ToName = ({ name }) => name;

/** Returns the operations whose name begins with `text`: they stand together, before a name with a greater character. */
function startingWith(list: readonly IndexedOperation[], text: string, toName: ToName): readonly IndexedOperation[] {
  return list.slice(placeOf(list, text, toName), placeOf(list, `${text}\uffff`, toName));
}

/** The names of all operations in order, to find those that a text names, or begins to name. */
export class SortedNames {
  #byWireName: readonly IndexedOperation[] = [];
  #byShortName: readonly IndexedOperation[] = [];
  #bySegment: readonly IndexedOperation[] = [];

  /** Follows a change of the operations. */
  patch(change: SortedPatch<IndexedOperation>): void {
    this.#byWireName = patchSorted(this.#byWireName, change, toWireName);
    this.#byShortName = patchSorted(this.#byShortName, change, toShortName);
    this.#bySegment = patchSorted(this.#bySegment, change, toSegment);
  }

  /** Visits operations with the rank that `text` gives them. One that has several is visited with the best of them last. */
  eachNamed(text: string, visit: (slot: number, rank: number) => void): void {
    // A name on the wire has `_` for each dot of the id, and for nothing else that a text with dots may mean.
    const wireText = text.replaceAll(".", "_");
    const isMeant = ({ id }: IndexedOperation, from: number): boolean => wireText === text || id.startsWith(text, from);
    const whole = startingWith(this.#byWireName, wireText, toWireName).filter((one) => isMeant(one, 0));
    const short = startingWith(this.#byShortName, wireText, toShortName).filter((one) =>
      isMeant(one, one.id.length - one.shortName.length),
    );
    for (const { slot } of whole) visit(slot, named.prefix);
    for (const { slot } of short) visit(slot, named.prefix);
    for (const { slot, shortName } of short) if (shortName === wireText) visit(slot, named.name);
    for (const { slot, name } of startingWith(this.#bySegment, text, toSegment)) {
      if (name === text) visit(slot, named.name);
    }
    for (const { slot, wireName } of whole) if (wireName === wireText) visit(slot, named.id);
  }
}
