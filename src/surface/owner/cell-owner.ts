import { checkOutput } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import type { AsyncSource } from "../source.ts";
import type { OwnerDeps } from "./owner.ts";
import { PartReader, type SourcePart } from "./source-reader.ts";

/** Owns the source of a cell: reads it, validates its values, and lets clients watch it. */
export class CellOwner {
  readonly kind = "cell";
  readonly #reader: PartReader;
  /** The only part of a cell. */
  readonly #whole: SourcePart;

  constructor({ schema }: MemberOfKind<"cell">, source: AsyncSource<unknown>, deps: OwnerDeps) {
    const subscribe = source.subscribe && ((_: SourcePart, changed: () => void) => source.subscribe?.(() => changed()));
    this.#reader = new PartReader(deps, { kind: this.kind, subscribe, pollMs: source.pollMs });
    const { check } = this.#reader;
    this.#whole = {
      id: () => "",
      raw: (use) => source.get(use),
      schema,
      check: (raw) => checkOutput(schema, raw, check),
    };
  }

  /**
   * Returns the value, or a promise of it. It is validated on each read, because a source may change an object in place.
   *
   * @throws SurfaceError `INVALID_OUTPUT`, or `INTERNAL` when the source throws.
   */
  get(use: UseOptions): unknown {
    return this.#reader.read(this.#whole, use);
  }

  /** Returns the value, then each change, until the signal fires or the surface closes. */
  watch(use: UseOptions): AsyncIterable<unknown> {
    return this.#reader.watch(() => this.#whole, use);
  }
}
