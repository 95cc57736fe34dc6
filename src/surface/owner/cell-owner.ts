import type { UseOptions } from "../client.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import type { MemberOfKind } from "../member.ts";
import type { Source } from "../source.ts";
import { LatestIterator } from "./latest-iterator.ts";
import type { OwnerSetting } from "./owner.ts";

/** Owns a cell's source: reads it, validates each value once, and lets it be watched. */
export class CellOwner {
  readonly kind = "cell";
  readonly #member: MemberOfKind<"cell">;
  readonly #source: Source<unknown>;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;
  #known: { readonly raw: unknown; readonly value: unknown } | undefined;

  constructor(member: MemberOfKind<"cell">, source: Source<unknown>, setting: OwnerSetting) {
    this.#member = member;
    this.#source = source;
    this.#setting = setting;
    this.#check = { where: `cell "${setting.key}"`, report: setting.report };
  }

  /** The validated value now. An `Object.is`-equal value is not validated again. */
  get(): unknown {
    const raw = this.#source.get();
    if (this.#known !== undefined && Object.is(this.#known.raw, raw)) return this.#known.value;
    const value = checkOutput(this.#member.schema, raw, this.#check);
    this.#known = { raw, value };
    // A failed asynchronous check must not stick: the next read tries again.
    if (value instanceof Promise) value.catch(() => (this.#known = undefined));
    return value;
  }

  watch(use: UseOptions): AsyncIterable<unknown> {
    return new LatestIterator({
      read: () => this.get(),
      listen: (changed) => this.#source.subscribe(changed),
      scope: this.#setting.scope,
      use,
    });
  }
}
