import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import type { AsyncSource } from "../source.ts";
import type { OwnerDeps } from "./owner.ts";
import { PartReader, type SourcePart } from "./source-reader.ts";

/** Owns the source of a cell: reads it, validates its values, and lets clients watch it. */
export class CellOwner {
  readonly kind = "cell";
  readonly #reader: PartReader;
  readonly #whole: SourcePart;

  constructor({ schema }: MemberOfKind<"cell">, source: AsyncSource<unknown>, deps: OwnerDeps) {
    const subscribe = source.subscribe && ((_: SourcePart, changed: () => void) => source.subscribe?.(() => changed()));
    this.#reader = new PartReader(deps, { kind: this.kind, subscribe, pollMs: source.pollMs });
    this.#whole = { id: () => "", raw: (use) => source.get(use), schema };
  }

  /** Returns the value, or a promise of it, validated on each read: a source may change an object in place. @throws the masked error. */
  get(use: UseOptions): unknown {
    return this.#reader.read(this.#whole, use);
  }

  watch(use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(() => this.#whole, use);
  }
}
