import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import type { Source } from "../source.ts";
import { runMasked, subscribeMasked } from "./author-code.ts";
import { CheckedOnce } from "./checked-once.ts";
import { LatestIterator } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";

/** Owns a cell's source: reads it, validates what it reads, and lets it be watched. */
export class CellOwner {
  readonly kind = "cell";
  readonly #member: MemberOfKind<"cell">;
  readonly #source: Source<unknown>;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;

  constructor(member: MemberOfKind<"cell">, source: Source<unknown>, setting: OwnerSetting) {
    this.#member = member;
    this.#source = source;
    this.#setting = setting;
    this.#check = { where: `cell "${setting.key}"`, report: setting.report };
  }

  /**
   * The value now, validated on each read: a source may hold an object that it changes in place.
   *
   * @throws SurfaceError `INVALID_OUTPUT`, or `INTERNAL` when the source throws.
   */
  get(): unknown {
    return this.#validate(this.#raw());
  }

  /** The value now, then each change, until `use.signal` fires or the surface closes. */
  watch(use: UseOptions): AsyncIterable<unknown> {
    const checked = new CheckedOnce((raw) => this.#validate(raw));
    const read = (): unknown => checked.of(this.#raw());
    const listen = (changed: () => void): (() => void) =>
      subscribeMasked(this.#check, () => this.#source.subscribe(() => changed()));
    const open = (): LatestIterator<unknown> => new LatestIterator({ read, listen });
    return new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
  }

  #raw(): unknown {
    return runMasked(this.#check, () => this.#source.get());
  }

  #validate(raw: unknown): unknown {
    return checkOutput(this.#member.schema, raw, this.#check);
  }
}
