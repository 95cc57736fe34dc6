import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import type { Source } from "../source.ts";
import { runMasked, subscribeMasked } from "./author-code.ts";
import { CheckedOnce } from "./checked-once.ts";
import { LatestIterator } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";

/** Owns a cell's source: reads it, validates each value once, and lets it be watched. */
export class CellOwner {
  readonly kind = "cell";
  readonly #source: Source<unknown>;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  readonly #checked: CheckedOnce;

  constructor(member: MemberOfKind<"cell">, source: Source<unknown>, setting: OwnerSetting) {
    this.#source = source;
    this.#setting = setting;
    this.#check = { where: `cell "${setting.key}"`, report: setting.report };
    this.#checked = new CheckedOnce((raw) => checkOutput(member.schema, raw, this.#check));
  }

  /**
   * The validated value now. An `Object.is`-equal value is not validated again.
   *
   * @throws SurfaceError `INVALID_OUTPUT`, or `INTERNAL` when the source throws.
   */
  get(): unknown {
    return this.#checked.of(runMasked(this.#check, () => this.#source.get()));
  }

  /** The value now, then each change, until `use.signal` fires or the surface closes. */
  watch(use: UseOptions): AsyncIterable<unknown> {
    const read = (): unknown => this.get();
    const listen = (changed: () => void): (() => void) =>
      subscribeMasked(this.#check, () => this.#source.subscribe(() => changed()));
    const open = (): LatestIterator<unknown> => new LatestIterator({ read, listen });
    return new OwnedIterator({ open, scope: this.#setting.scope, signal: use.signal });
  }
}
