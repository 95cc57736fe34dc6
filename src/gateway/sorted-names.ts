import { named, type IndexedOperation } from "./indexed-operation.ts";

interface NamedSlot {
  readonly name: string;
  readonly slot: number;
}

function sortByName(names: readonly NamedSlot[]): readonly NamedSlot[] {
  return names.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the index of the first name that does not come before `text`. */
function placeOf(names: readonly NamedSlot[], text: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((names[middle]?.name ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the names that begin with `text`: they stand together, before all that a greater character follows. */
function startingWith(names: readonly NamedSlot[], text: string): readonly NamedSlot[] {
  return names.slice(placeOf(names, text), placeOf(names, `${text}\uffff`));
}

/** The names of all operations in order, to find those that a text names, or begins to name. */
export class SortedNames {
  readonly #names: readonly NamedSlot[];
  /** The names without their first segment, which may be the prefix of a mount. */
  readonly #short: readonly NamedSlot[];
  /** The slots by the last segment of the id. */
  readonly #bySegment = new Map<string, number[]>();

  constructor(operations: readonly IndexedOperation[]) {
    this.#names = sortByName(operations.map(({ slot, wireName: name }) => ({ slot, name })));
    this.#short = sortByName(
      operations.flatMap(({ slot, shortName: name }) => (name === undefined ? [] : [{ slot, name }])),
    );
    for (const { slot, name } of operations) {
      const slots = this.#bySegment.get(name);
      if (slots === undefined) this.#bySegment.set(name, [slot]);
      else slots.push(slot);
    }
  }

  /** Visits operations with the rank that `text` gives them. One that has several is visited with the best of them last. */
  eachNamed(text: string, visit: (slot: number, rank: number) => void): void {
    const wireText = text.replaceAll(".", "_");
    const names = startingWith(this.#names, wireText);
    const short = startingWith(this.#short, wireText);
    for (const { slot } of names) visit(slot, named.prefix);
    for (const { slot } of short) visit(slot, named.prefix);
    for (const { slot, name } of short) if (name === wireText) visit(slot, named.name);
    for (const slot of this.#bySegment.get(text) ?? []) visit(slot, named.name);
    for (const { slot, name } of names) if (name === wireText) visit(slot, named.id);
  }
}
