import type { ToolEntry } from "../catalog/entry.ts";
import type { IndexedOperation } from "./indexed-operation.ts";

/** Decides whether a caller may see an operation. */
export type IsSeen = (entry: ToolEntry) => boolean;

const seen = 1;
const hidden = 2;

/** The operations that one search may find, by slot. Decides about each once, when the search first reads it. */
export class VisibleSlots {
  readonly #bySlot: readonly (IndexedOperation | undefined)[];
  readonly #isSeen: IsSeen;
  readonly #decided: Uint8Array;

  constructor(bySlot: readonly (IndexedOperation | undefined)[], isSeen: IsSeen) {
    this.#bySlot = bySlot;
    this.#isSeen = isSeen;
    this.#decided = new Uint8Array(bySlot.length);
  }

  get slotCount(): number {
    return this.#decided.length;
  }

  has(slot: number): boolean {
    const decided = this.#decided[slot];
    return decided === seen || (decided !== hidden && this.#decide(slot));
  }

  /** Returns the operation at a slot, unless it is hidden. */
  at(slot: number): ToolEntry | undefined {
    return this.has(slot) ? this.#bySlot[slot]?.entry : undefined;
  }

  /** Counts all visible operations: decides about each that is left. */
  count(): number {
    let count = 0;
    for (let slot = 0; slot < this.slotCount; slot += 1) if (this.has(slot)) count += 1;
    return count;
  }

  #decide(slot: number): boolean {
    const entry = this.#bySlot[slot]?.entry;
    const isVisible = entry !== undefined && this.#isSeen(entry);
    this.#decided[slot] = isVisible ? seen : hidden;
    return isVisible;
  }
}
